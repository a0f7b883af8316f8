package workload

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"cacheroute/sim/clock"
)

// Bounds that an honest trace keeps: a wrong unit of time breaks them first.
const (
	maxTraceQPS  = 10000
	maxTraceDays = 400
)

// record is one row as a format reads it.
type record struct {
	at            int64    // microseconds, from any origin
	input, output int32    // tokens
	ids           []uint64 // recorded blocks; all but the last are whole
}

// traceReader collects the rows of a trace as a tree of blocks.
type traceReader struct {
	header Header
	opt    TraceOptions
	rows   []traceRow
	nodes  []traceNode
	index  map[blockKey]uint32
}

type blockKey struct {
	id     uint64
	parent uint32
	tokens int32
}

func newTraceReader(path, format string, opt TraceOptions) *traceReader {
	return &traceReader{
		header: Header{Path: path, Format: format, Dropped: map[string]int{}, Seed: opt.Seed},
		opt:    opt,
		nodes:  make([]traceNode, 1),
		index:  map[blockKey]uint32{},
	}
}

// blockTokens is the size of a recorded block.
func (t *traceReader) blockTokens(usual int) int32 {
	if t.opt.BlockTokens > 0 {
		return int32(t.opt.BlockTokens)
	}
	return int32(usual)
}

// keep takes a row; the record's memory stays the caller's.
func (t *traceReader) keep(r *record) {
	leaf, left := uint32(0), r.input
	for _, id := range r.ids {
		n := min(left, t.header.BlockTokens)
		leaf = t.node(blockKey{id: id, parent: leaf, tokens: n})
		left -= n
	}
	if r.output == 0 {
		t.header.Failed++
	}
	t.header.RowsKept++
	t.rows = append(t.rows, traceRow{at: r.at, input: r.input, output: r.output, leaf: leaf})
}

// drop counts a row that is not kept.
func (t *traceReader) drop(reason string) { t.header.Dropped[reason]++ }

func (t *traceReader) node(k blockKey) uint32 {
	if n, ok := t.index[k]; ok {
		return n
	}
	p := &t.nodes[k.parent]
	n := uint32(len(t.nodes))
	// 0 is a legal id and no legal name of tokens.
	name := fold(k.id^0x3c6ef372fe94f82b, 0x8ebc6af09c88c6e3) ^ uint64(k.tokens) | 1<<63
	t.nodes = append(t.nodes, traceNode{
		hash: Chained(p.hash, p.end, name), end: p.end + k.tokens, depth: p.depth + 1, parent: k.parent})
	t.index[k] = n
	return n
}

// finish sorts, checks and derives; depth is that of the key rule.
func (t *traceReader) finish(depth int) (*Trace, error) {
	h := &t.header
	dropped := 0
	for _, n := range h.Dropped {
		dropped += n
	}
	if h.RowsRead != h.RowsKept+dropped {
		panic(fmt.Sprintf("workload: %d rows read, %d kept, %d dropped", h.RowsRead, h.RowsKept, dropped))
	}
	if h.RowsKept == 0 {
		return nil, fmt.Errorf("%s: read %d rows and kept none", h.Path, h.RowsRead)
	}
	t.index = nil
	t.sortRows()
	if t.opt.SpreadTies {
		t.spread()
	}
	first := t.rows[0].at
	for i := range t.rows {
		t.rows[i].at -= first
	}
	span := float64(t.rows[len(t.rows)-1].at) / 1e6
	h.SpanS, h.QPS = span, float64(len(t.rows)-1)/span
	if span == 0 {
		return nil, fmt.Errorf("%s: all %d requests arrive at one instant, wanted a span of time", h.Path, len(t.rows))
	}
	if !t.opt.Force && (h.QPS > maxTraceQPS || span > maxTraceDays*86400) {
		return nil, fmt.Errorf("%s: read %.4g requests/s over %.4g s, wanted at most %d/s and %d days: is the unit %s right?",
			h.Path, h.QPS, span, maxTraceQPS, maxTraceDays, h.Unit)
	}
	trace := &Trace{rows: t.rows, nodes: t.nodes}
	trace.segment()
	h.KeyRule = trace.assignKeys(depth)
	h.Figures = trace.figures()
	h.Figures.QPS = h.QPS
	cached, prompt := trace.IdealHit(16)
	h.IdealHit = float64(cached) / float64(prompt)
	trace.header = *h
	return trace, nil
}

// sortRows sorts by arrival, ties in order of the file, counts inversions and
// finds the resolution of the recording: the smallest gap between distinct
// instants, but for the lowest 0.1 %, which may be flukes.
func (t *traceReader) sortRows() {
	h := &t.header
	for i := 1; i < len(t.rows); i++ {
		if t.rows[i].at < t.rows[i-1].at {
			h.Inversions++
		}
	}
	slices.SortStableFunc(t.rows, func(a, b traceRow) int { return cmp.Compare(a.at, b.at) })
	h.T0US = t.rows[0].at
	var gaps []int64
	for i := 1; i < len(t.rows); i++ {
		if gap := t.rows[i].at - t.rows[i-1].at; gap > 0 {
			gaps = append(gaps, gap)
		}
	}
	h.DistinctTimes = len(gaps) + 1
	if len(gaps) > 0 {
		slices.Sort(gaps)
		h.ResolutionUS = gaps[len(gaps)/1000]
	}
}

// spread moves the requests of one recorded instant to uniform places before
// the next tick, in order of the file.
func (t *traceReader) spread() {
	t.header.Spread = true
	rng := clock.Streams{Seed: t.opt.Seed}.Rand("trace/spread")
	var places []int64
	for from := 0; from < len(t.rows); {
		to, width := from+1, t.header.ResolutionUS
		for to < len(t.rows) && t.rows[to].at == t.rows[from].at {
			to++
		}
		if to < len(t.rows) {
			width = min(width, t.rows[to].at-t.rows[from].at)
		}
		places = drawSorted(places[:0], to-from, max(1, width), rng)
		for i, p := range places {
			t.rows[from+i].at += p
		}
		from = to
	}
}

func drawSorted(places []int64, n int, width int64, rng *rand.Rand) []int64 {
	for range n {
		places = append(places, rng.Int64N(width))
	}
	slices.Sort(places)
	return places
}

// segment cuts each prompt into as few segments as there are: blocks that no
// row ever tells apart from their predecessor, because it has no other
// successor, continue one stream of tokens. A prompt that ends inside a stream
// holds the first part of it.
func (t *Trace) segment() {
	successors := make([]uint32, len(t.nodes))
	for i := 1; i < len(t.nodes); i++ {
		successors[t.nodes[i].parent]++
	}
	head := make([]uint32, len(t.nodes)) // first block of the stream of a block
	for i := 1; i < len(t.nodes); i++ {
		head[i] = uint32(i)
		if p := t.nodes[i].parent; p != 0 && successors[p] == 1 {
			head[i] = head[p]
		}
	}
	var path []uint32
	var r Request
	for i := range t.rows {
		row := &t.rows[i]
		path = path[:0]
		for n := row.leaf; n != 0; n = t.nodes[head[n]].parent {
			path = append(path, n)
		}
		r.Reset()
		for _, n := range slices.Backward(path) {
			before := t.nodes[t.nodes[head[n]].parent].end
			r.Append(uint64(head[n]), Prefix, t.nodes[n].end-before)
		}
		row.from = uint32(len(t.prompt))
		t.prompt = append(t.prompt, r.Prompt...)
		row.to = uint32(len(t.prompt))
	}
	t.prompt = slices.Clip(t.prompt)
}

// figures describes the recording, after spreading.
func (t *Trace) figures() Figures {
	var f Figures
	f.popularity(t.counts)
	var input, output, sum, squares float64
	for i, row := range t.rows {
		input += float64(row.input)
		output += float64(max(1, row.output))
		if i > 0 {
			gap := float64(row.at - t.rows[i-1].at)
			sum += gap
			squares += float64(gap * gap)
		}
	}
	n := float64(len(t.rows))
	f.PromptTokens, f.OutputTokens = input/n, output/n
	mean := sum / (n - 1)
	f.GapCV = math.Sqrt(max(0, squares/(n-1)/mean/mean-1))
	return f
}

// IdealHit is what an infinite cache of blocks of the given size would serve if
// every request saw all earlier ones: whole blocks that the prompt shares with
// an earlier prompt from its start, without the block of the last token, which
// an engine always computes. It returns cached and all prompt tokens.
func (t *Trace) IdealHit(block int) (cached, prompt int64) {
	if block < 1 {
		panic(fmt.Sprintf("workload: block of %d tokens", block))
	}
	seen := make([]bool, len(t.nodes))
	for _, row := range t.rows {
		n := row.leaf
		for ; n != 0 && !seen[n]; n = t.nodes[n].parent {
			seen[n] = true
		}
		whole := min(int(t.nodes[n].end)/block, (int(row.input)-1)/block)
		cached += int64(whole * block)
		prompt += int64(row.input)
	}
	return cached, prompt
}
