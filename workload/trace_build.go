package workload

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"cacheroute/workload/trace"
)

// maxTraceRows bounds the numbers of rows and of segments, which are 32 bits.
const maxTraceRows = math.MaxInt32

// builtRow is a row while the trace is built.
type builtRow struct {
	traceRow
	stated, session uint64 // names of the key of the file, and of the session or the row itself
	think, e2e      int64  // microseconds
	inSession       bool
	known           bool // the file says what the prompt shares
}

// traceBuilder collects the rows of a trace as a tree of blocks.
type traceBuilder struct {
	header Header
	opt    TraceOptions
	rows   []builtRow
	tree   *tree
	chains []uint64
	stated bool              // some row has a key
	names  map[uint64]string // keys and sessions of the file, by their hashes
	seen   observation
}

func newTraceBuilder(h *trace.Header, opt TraceOptions) *traceBuilder {
	return &traceBuilder{header: Header{Header: h}, opt: opt, tree: newTree(), names: map[uint64]string{}}
}

// add takes a row; its memory stays the caller's.
func (b *traceBuilder) add(r *trace.Row) error {
	if len(b.rows) == maxTraceRows {
		return fmt.Errorf("%s: more than %d requests, which is the most that a replay holds", b.header.Path, maxTraceRows)
	}
	b.chains = b.header.Chains(r, b.chains[:0])
	leaf, left := uint32(0), r.Input
	for _, chain := range b.chains {
		n := min(left, b.header.BlockTokens)
		leaf = b.tree.node(chain, leaf, n)
		left -= n
	}
	b.stated = b.stated || r.Key != ""
	row := builtRow{
		traceRow: traceRow{at: r.At, input: r.Input, output: r.Output, leaf: leaf},
		stated:   trace.KeyRule{Kind: trace.KeyField}.Hash(r, nil),
		session:  trace.KeyRule{Kind: trace.KeySession}.Hash(r, nil),
		think:    r.Think, e2e: r.E2E, inSession: r.Session != "", known: r.Known,
	}
	b.seen.add(r)
	b.name(row.stated, r.Key)
	b.name(row.session, r.Session)
	if len(b.rows) == cap(b.rows) { // twice as many, as smaller steps leave more behind
		b.rows = slices.Grow(b.rows, max(1<<10, len(b.rows)))
	}
	b.rows = append(b.rows, row)
	return nil
}

// name remembers what the file calls a key, if it does.
func (b *traceBuilder) name(hash uint64, name string) {
	if _, ok := b.names[hash]; !ok && name != "" {
		b.names[hash] = strings.Clone(name)
	}
}

// finish sorts, checks and derives.
func (b *traceBuilder) finish() (*Trace, error) {
	h := &b.header
	b.sortRows()
	if b.opt.SpreadTies {
		b.spread()
	}
	first := b.rows[0].at
	for i := range b.rows {
		b.rows[i].at -= first
	}
	span := float64(b.rows[len(b.rows)-1].at) / 1e6
	h.SpanS, h.QPS = span, float64(len(b.rows)-1)/span
	if span == 0 {
		return nil, fmt.Errorf("%s: all %d requests arrive at one instant, wanted a span of time", h.Path, len(b.rows))
	}
	if !b.opt.Force {
		if err := trace.Plausible(h.Header, h.QPS, span); err != nil {
			return nil, err
		}
	}
	t := &Trace{closed: b.opt.Closed}
	if err := b.assignKeys(t); err != nil {
		return nil, err
	}
	b.model()
	if b.tree.n > maxNodes {
		return nil, fmt.Errorf("%s: %d different blocks, wanted at most %d", h.Path, b.tree.n, uint32(maxNodes))
	}
	b.tree.slots = nil // no block is looked up any more
	if t.closed {
		if err := b.link(t); err != nil {
			return nil, err
		}
	}
	for i, hash := range t.hashes {
		if name, ok := b.names[hash]; ok {
			if t.names == nil {
				t.names = make([]string, len(t.hashes))
			}
			t.names[i] = name
		}
	}
	t.rows = make([]traceRow, len(b.rows))
	for i := range b.rows {
		t.rows[i] = b.rows[i].traceRow
	}
	b.rows, b.names = nil, nil
	if err := t.segment(b.tree); err != nil {
		return nil, fmt.Errorf("%s: %w", h.Path, err)
	}
	t.describe(h, b.tree)
	h.Observed = b.seen.result()
	if !h.PromptsKnown() && b.opt.Prompt == nil {
		h.IdealHit = math.NaN()
	}
	t.header = *h
	return t, nil
}

// describe derives what the header says of the whole.
func (t *Trace) describe(h *Header, blocks *tree) {
	h.Figures = t.figures()
	h.Figures.QPS = h.QPS
	cached, prompt := blocks.idealHit(t.rows, trace.HitBlock)
	h.IdealHit = float64(cached) / float64(prompt)
	h.RevisitS = t.revisit()
	h.Closed = t.closed
	h.Requests = t.identity()
}

// sortRows sorts by arrival, ties in order of the file, counts inversions and
// finds the resolution of the recording: the smallest gap between distinct
// instants, but for the lowest 0.1 %, which may be flukes.
func (b *traceBuilder) sortRows() {
	h := &b.header
	for i := 1; i < len(b.rows); i++ {
		if b.rows[i].at < b.rows[i-1].at {
			h.Inversions++
		}
	}
	if h.Inversions > 0 {
		slices.SortStableFunc(b.rows, func(x, y builtRow) int { return cmp.Compare(x.at, y.at) })
	}
	h.T0US = b.rows[0].at
	gaps := make([]int64, 0, len(b.rows))
	for i := 1; i < len(b.rows); i++ {
		if gap := b.rows[i].at - b.rows[i-1].at; gap > 0 {
			gaps = append(gaps, gap)
		}
	}
	h.DistinctTimes = len(gaps) + 1
	if len(gaps) > 0 {
		slices.Sort(gaps)
		h.ResolutionUS = gaps[len(gaps)/1000]
	}
}

// segment cuts each prompt into as few segments as there are streams of blocks.
// A prompt that ends inside a stream holds the first part of it. What lies
// behind the last block is the row's own.
func (t *Trace) segment(blocks *tree) error {
	head := blocks.heads()
	count := len(t.rows) // at most a stretch of its own for each
	for _, row := range t.rows {
		for n := row.leaf; n != 0; n = blocks.at(head[n]).parent {
			count++
		}
	}
	if count > math.MaxUint32 {
		return fmt.Errorf("%d stretches of prompts, wanted at most %d", count, uint32(math.MaxUint32))
	}
	t.prompt = make([]Segment, 0, count)
	var path []uint32
	var r Request
	for i := range t.rows {
		row := &t.rows[i]
		path = path[:0]
		for n := row.leaf; n != 0; n = blocks.at(head[n]).parent {
			path = append(path, n)
		}
		r.Reset()
		for _, n := range slices.Backward(path) {
			before := blocks.at(blocks.at(head[n]).parent).end
			r.Append(uint64(head[n]), Prefix, blocks.at(n).end-before)
		}
		r.Append(0, Prefix, row.input-r.PromptTokens)
		row.from = uint32(len(t.prompt))
		t.prompt = append(t.prompt, r.Prompt...)
		row.to = uint32(len(t.prompt))
	}
	return nil
}
