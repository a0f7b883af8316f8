package workload

import (
	"fmt"
	"io"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"cacheroute/sim/clock"
)

// TraceFormats is the table of trace formats that are read. A format is
// recognised by the first line of a file or forced by its name.
var TraceFormats = map[string]func() TraceFormat{
	"mooncake": func() TraceFormat { return &mooncake{} },
}

// TraceFormat reads one file format into rows.
type TraceFormat interface {
	// About is one line for a list.
	About() string
	// Detect reports whether a file that begins with this line has the format.
	Detect(line []byte) bool
	// read gives all rows of the file to t and states the facts of the format
	// in t.header.
	read(in *lines, t *traceReader) error
}

// TraceOptions says how to read a trace.
type TraceOptions struct {
	Format      string // name in TraceFormats; "": from the content
	Key         string // rule for the routing key: "prefix:<depth>", "none"; "" or "auto": see keyRule
	BlockTokens int    // tokens of a recorded block; 0: the usual number of the format
	SpreadTies  bool   // spread arrivals uniformly inside the resolution of the recording
	Seed        uint64 // of the spreading
	Force       bool   // accept an implausible rate or span
}

// Trace is a recorded workload in normal form, sorted by arrival. It is
// immutable and safe for concurrent use.
type Trace struct {
	header Header
	rows   []traceRow
	nodes  []traceNode
	prompt []Segment // of all rows
	hashes []uint64  // by key
	counts []float64 // requests by key
}

// traceRow is one request.
type traceRow struct {
	at            int64 // microseconds since the first arrival
	input, output int32 // tokens
	leaf          uint32
	key           int32
	from, to      uint32 // its segments in Trace.prompt
}

// traceNode is a recorded block together with all blocks before it.
type traceNode struct {
	hash   uint64 // of the ids and lengths up to here
	end    int32  // tokens up to the end of the block
	depth  uint32 // blocks up to here
	parent uint32 // 0: none
}

// Header returns what was read, dropped and derived.
func (t *Trace) Header() Header { return t.header }

// QPS is the recorded mean rate, (n-1)/span: the reciprocal of the mean gap.
func (t *Trace) QPS() float64 { return t.header.QPS }

// Keys implements Workload.
func (t *Trace) Keys() int { return len(t.hashes) }

// KeyHashes implements Workload.
func (t *Trace) KeyHashes() []uint64 { return t.hashes }

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
	return r, nil
}

// replay is the source of one cell.
type replay struct {
	trace    *Trace
	next     int
	mantissa uint64
	shift    int
}

// Next implements Source. The prompt is shared by all cells: it has no spare
// capacity, so that appending to it copies it.
func (s *replay) Next(r *Request) bool {
	t := s.trace
	if s.next == len(t.rows) {
		return false
	}
	row := &t.rows[s.next]
	hi, lo := bits.Mul64(uint64(row.at), s.mantissa)
	*r = Request{
		Index:        int64(s.next),
		At:           clock.Time(hi<<(64-s.shift) | lo>>s.shift),
		Key:          row.key,
		Prompt:       t.prompt[row.from:row.to:row.to],
		PromptTokens: row.input,
	}
	r.SetOutput(0, max(1, row.output))
	s.next++
	return true
}

// ReadTrace reads a trace file, plain or compressed with gzip or zstd, into
// memory. Lines are read in bounded memory.
func ReadTrace(path string, opt TraceOptions) (*Trace, error) {
	in, err := openLines(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return readTrace(in, opt)
}

func readTrace(in *lines, opt TraceOptions) (*Trace, error) {
	if err := checkTokens("block_tokens", opt.BlockTokens, 0); err != nil {
		return nil, err
	}
	depth, err := parseKeyRule(opt.Key)
	if err != nil {
		return nil, err
	}
	name, err := traceFormat(in, opt.Format)
	if err != nil {
		return nil, err
	}
	t := newTraceReader(in.path, name, opt)
	if err := TraceFormats[name]().read(in, t); err != nil {
		return nil, err
	}
	if t.header.SHA256, err = in.Sum(); err != nil {
		return nil, err
	}
	return t.finish(depth)
}

// traceFormat returns the name of the format of a file.
func traceFormat(in *lines, forced string) (string, error) {
	names := slices.Sorted(maps.Keys(TraceFormats))
	known := strings.Join(names, ", ")
	if forced != "" {
		if TraceFormats[forced] == nil {
			return "", fmt.Errorf("format: read %s, wanted one of %s", excerpt([]byte(forced)), known)
		}
		return forced, nil
	}
	line, err := in.Peek()
	if err == io.EOF {
		return "", fmt.Errorf("%s: the file is empty, wanted a trace (%s)", in.path, known)
	}
	if err != nil {
		return "", err
	}
	for _, name := range names {
		if TraceFormats[name]().Detect(line) {
			return name, nil
		}
	}
	return "", in.Errorf("read %s, wanted a trace (%s)", excerpt(line), known)
}
