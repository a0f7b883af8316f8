package workload

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"

	"cacheroute/sim/clock"
	"cacheroute/workload/trace"
)

// TraceOptions says how to read a trace for replay.
type TraceOptions struct {
	trace.Options
	SpreadTies bool         // spread arrivals uniformly inside the resolution of the recording
	Closed     bool         // a turn of a session waits for the answer before it
	Prompt     *PromptModel // of prompts of which the trace says nothing; nil: they share nothing that is known
}

// Trace is a recorded workload in normal form, sorted by arrival. It is
// immutable and safe for concurrent use. Of a request it keeps 32 bytes, and 24
// for each stretch of prompt that it shares in a way of its own; a closed loop
// adds up to 16.
type Trace struct {
	header Header
	rows   []traceRow
	prompt []Segment // of all rows
	hashes []uint64  // by key
	names  []string  // by key, as the file has them; nil or "": it has none
	counts []float64 // requests by key

	closed bool
	follow []int32 // closed: by row, the next turn of its session; -1: none
	think  []int64 // closed: by row, microseconds from the answer before; absent: not known
	roots  []int32 // closed: rows that wait for none
}

// traceRow is one request.
type traceRow struct {
	at            int64 // microseconds since the first arrival
	input, output int32 // tokens
	leaf          uint32
	key           int32
	from, to      uint32 // its segments in Trace.prompt
}

// Header returns what was read, dropped and derived.
func (t *Trace) Header() Header { return t.header }

// QPS is the recorded mean rate, (n-1)/span: the reciprocal of the mean gap.
func (t *Trace) QPS() float64 { return t.header.QPS }

// HitsKnown tells whether the trace, or the user, says what prompts share.
func (t *Trace) HitsKnown() bool { return !math.IsNaN(t.header.IdealHit) }

// Keys implements Workload.
func (t *Trace) Keys() int { return len(t.hashes) }

// KeyHashes implements Workload.
func (t *Trace) KeyHashes() []uint64 { return t.hashes }

// KeyCounts is how many requests of each key arrive from one time to before
// another, in seconds after the first arrival at the recorded speed.
func (t *Trace) KeyCounts(from, to float64) []float64 {
	counts := make([]float64, len(t.hashes))
	for _, row := range t.rows[t.firstAt(from):max(t.firstAt(from), t.firstAt(to))] {
		counts[row.key]++
	}
	return counts
}

// firstAt is the first row that arrives at or after a time in seconds.
func (t *Trace) firstAt(seconds float64) int {
	i, _ := slices.BinarySearchFunc(t.rows, seconds, func(row traceRow, seconds float64) int {
		if float64(row.at) < seconds*1e6 {
			return -1
		}
		return 1
	})
	return i
}

// Rates implements Workload: an oracle's rates, from the counts of the whole
// trace.
func (t *Trace) Rates(qps float64) ([]float64, error) {
	if err := checkLoad(qps); err != nil {
		return nil, err
	}
	rates := make([]float64, len(t.counts))
	for i, n := range t.counts {
		rates[i] = n / float64(len(t.rows)) * qps
	}
	return rates, nil
}

// Asked implements Workload with the figures of the recording.
func (t *Trace) Asked(qps float64) Figures {
	f := t.header.Figures
	f.QPS = qps
	if t.closed {
		f.QPS, f.GapCV = math.NaN(), math.NaN() // depend on the answers
	}
	return f
}

// Open implements Workload: it replays the trace once at the speed that makes
// its mean rate qps. The streams are not used.
func (t *Trace) Open(qps float64, _ clock.Streams) (Source, error) {
	if err := checkLoad(qps); err != nil {
		return nil, err
	}
	// One microsecond of the trace is factor = mantissa / 2^shift picoseconds,
	// exactly; products are then cut to integers, so that order is kept.
	factor := float64(clock.Microsecond) * (t.header.QPS / qps)
	fraction, exponent := math.Frexp(factor)
	r := &replay{trace: t, mantissa: uint64(fraction * (1 << 53)), shift: 53 - exponent}
	span := float64(t.rows[len(t.rows)-1].at) * factor
	if !(span < math.MaxInt64/2) || r.shift < 0 || r.shift > 63 {
		return nil, fmt.Errorf("offered load: %v requests/s replays %.3g s as %.3g s, which no clock holds",
			qps, t.header.SpanS, span/float64(clock.Second))
	}
	if t.closed {
		return &closedReplay{replay: r}, nil
	}
	return r, nil
}

// replay is the source of one cell.
type replay struct {
	trace    *Trace
	next     int
	mantissa uint64
	shift    int
}

// Next implements Source.
func (s *replay) Next(r *Request) bool {
	if s.next == len(s.trace.rows) {
		return false
	}
	s.fill(r, s.next, s.scale(s.trace.rows[s.next].at))
	return true
}

// scale is a time of the trace at the speed of the replay.
func (s *replay) scale(us int64) clock.Time {
	hi, lo := bits.Mul64(uint64(us), s.mantissa)
	return clock.Time(hi<<(64-s.shift) | lo>>s.shift)
}

// fill makes r the next request, which is a row. The prompt is shared by all
// cells: it has no spare capacity, so that appending to it copies it.
func (s *replay) fill(r *Request, i int, at clock.Time) {
	row := &s.trace.rows[i]
	*r = Request{
		Index:        int64(s.next),
		At:           at,
		Key:          row.key,
		Prompt:       s.trace.prompt[row.from:row.to:row.to],
		PromptTokens: row.input,
	}
	r.SetOutput(0, max(1, row.output))
	s.next++
}

// ReadTrace reads a trace file, plain or compressed with gzip or zstd, into
// memory.
func ReadTrace(path string, opt TraceOptions) (*Trace, error) {
	t, _, err := readTree(path, opt)
	return t, err
}

// readTree also returns the blocks of which the prompts were made.
func readTree(path string, opt TraceOptions) (*Trace, *tree, error) {
	if err := opt.Prompt.Check(); err != nil {
		return nil, nil, err
	}
	r, err := trace.Open(context.Background(), path, opt.Options)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	b := newTraceBuilder(r.Header(), opt)
	var row trace.Row
	for {
		err := r.Next(&row)
		if err == io.EOF {
			t, err := b.finish()
			return t, b.tree, err
		}
		if err == nil {
			err = b.add(&row)
		}
		if err != nil {
			return nil, nil, err
		}
	}
}
