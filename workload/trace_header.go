package workload

import (
	"fmt"
	"io"
	"maps"
	"slices"
)

// Header says what was read from a trace, dropped and derived.
type Header struct {
	Path, SHA256, Format string

	Unit        string // of the recorded times
	BlockTokens int32  // tokens of a recorded block
	IDKind      string // what a block id names: "chained", all blocks up to it
	Tail        string // "ceil": the last id may name a block that is not whole
	InputKind   string // "full": the prompt with all its history

	RowsRead, RowsKept int
	Dropped            map[string]int // rows by reason; read = kept + dropped
	Failed             int            // kept rows without output, replayed as 1 token
	UnknownMembers     int            // members of rows that the format does not know, ignored

	T0US          int64 // recorded time of the first arrival, microseconds
	Inversions    int   // rows that arrive before the row above them
	DistinctTimes int
	ResolutionUS  int64 // of the recorded times, microseconds
	Spread        bool  // arrivals are spread inside the resolution, with Seed
	Seed          uint64

	SpanS    float64 // from the first to the last arrival
	QPS      float64 // (n-1)/span
	KeyRule  string
	Figures  Figures // of the rows kept, at the recorded rate
	IdealHit float64 // IdealHit(16) as a fraction of all prompt tokens
}

// Print writes the header for a reader, a few lines.
func (h Header) Print(w io.Writer) error {
	_, err := fmt.Fprintf(w, `trace %s: format %s, times in %s, %d-token %s block ids (last block: %s), %s prompts
  sha256 %s
  rows: %d read, %d kept (%d without output, replayed as 1 token)%s; %d unknown members
  arrivals: %.6g s, mean %.4f/s, gap CV %.3f, %d distinct times, resolution %.6g s%s, %d out of order
  keys: %s: %d keys, Gini %.3f, top key %.2f %%, top 4 %% of keys %.1f %%
  tokens: prompt mean %.1f, output mean %.1f; ideal hit of an infinite cache %.2f %% of prompt tokens (blocks of 16)
`,
		h.Path, h.Format, h.Unit, h.BlockTokens, h.IDKind, h.Tail, h.InputKind, h.SHA256,
		h.RowsRead, h.RowsKept, h.Failed, h.drops(), h.UnknownMembers,
		h.SpanS, h.QPS, h.Figures.GapCV, h.DistinctTimes, float64(h.ResolutionUS)/1e6, h.spreading(), h.Inversions,
		h.KeyRule, h.Figures.Keys, h.Figures.Gini, 100*h.Figures.TopShare, 100*h.Figures.Top4Share,
		h.Figures.PromptTokens, h.Figures.OutputTokens, 100*h.IdealHit)
	return err
}

func (h Header) drops() (s string) {
	for _, reason := range slices.Sorted(maps.Keys(h.Dropped)) {
		s += fmt.Sprintf(", %d dropped (%s)", h.Dropped[reason], reason)
	}
	return s
}

func (h Header) spreading() string {
	if h.Spread {
		return fmt.Sprintf(" (spread inside it, seed %d)", h.Seed)
	}
	return ""
}
