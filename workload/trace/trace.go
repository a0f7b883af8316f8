// Package trace reads recorded requests: files of many formats become rows of
// one normal form, a row at a time. It knows nothing of the simulation.
package trace

import "cacheroute/workload/lines"

// Formats is the table of trace formats. A format is recognised by the first
// line of a file or forced by its name.
var Formats = map[string]func() Format{
	"azure":          func() Format { return &azure{} },
	"blis":           func() Format { return &blis{} },
	"burstgpt":       func() Format { return &burstGPT{} },
	"csv":            func() Format { return &ownCSV{} },
	"dynamo":         func() Format { return &dynamo{} },
	"jsonl":          func() Format { return &ownJSONL{} },
	"llmservingsim":  func() Format { return &servingSim{} },
	"mooncake":       func() Format { return &mooncake{} },
	"mooncake-delta": func() Format { return &mooncakeDelta{} },
	"parquet":        func() Format { return &ownParquet{} },
	"qwen-bailian":   func() Format { return &bailian{} },
	"ragpulse":       func() Format { return &ragPulse{} },
	"servegen":       func() Format { return &serveGen{} },
	"splitwise":      func() Format { return &splitwise{} },
	"vidur":          func() Format { return &vidur{} },
	"weka":           func() Format { return &weka{} },
}

// Format reads one file format.
type Format interface {
	// About is one line for a list.
	About() string
	// detect reports whether a file that begins like this has the format.
	detect(f *first) bool
	// begin states the facts of the format in s.h. A table reads its header.
	begin(s source) error
	// next fills an empty row or returns io.EOF.
	next(r *Row) error
}

// source is what a format reads from.
type source struct {
	in  *lines.Reader
	h   *Header
	opt *Options
}

// Options says how to read a trace.
type Options struct {
	Format       string  // name in Formats; "": from the content
	Key          string  // rule of the routing key, see KeyRule
	BlockTokens  int     // tokens of a recorded block; 0: as the file says, or the usual number of the format
	From, To     float64 // seconds from the first arrival: requests in [From, To) are kept; To 0: to the end
	Keep         float64 // fraction of the keys (or sessions) that are kept whole; 0: all
	SessionsPerS float64 // rate of the starts of sessions, where a file does not say when they began
	Seed         uint64  // of what is drawn: which keys are kept, when sessions start
	Force        bool    // accept an implausible rate or span
}

// MaxTokens bounds each length, so that sums of lengths fit everywhere.
const MaxTokens = 1 << 26

// Absent marks a whole number that a file does not give.
const Absent = -1

// Row is one request in normal form.
type Row struct {
	Line int64 // of the file, from 1
	At   int64 // recorded arrival in microseconds, from any origin, >= 0

	Key     string // routing key that the file states; "": none
	Session string // requests of one conversation; "": none
	Turn    int64  // number within the session; Absent
	Think   int64  // microseconds from the answer before to this turn; Absent

	Input  int32 // prompt tokens, with all history
	Output int32

	// Blocks names the tokens of the prompt from its start: Header.BlockTokens
	// each, the last may be shorter. An id together with all ids before it
	// stands for one content. Tokens after the last block belong to this request
	// alone. Known tells that the file says so; if not, nothing is known of
	// what prompts share.
	Blocks []uint64
	Known  bool

	Failed bool // the service gave no answer

	// What was observed, Absent if it was not.
	TTFT, E2E int64 // microseconds
	Cached    int64 // prompt tokens found in a cache

	drop string // why the row is none, if it is none
}

// reset empties r and keeps its memory.
func (r *Row) reset() {
	*r = Row{Blocks: r.Blocks[:0], Turn: Absent, Think: Absent, TTFT: Absent, E2E: Absent, Cached: Absent}
}
