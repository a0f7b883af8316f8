package trace

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"cacheroute/workload/lines"
)

// Header says what was read from a trace and dropped.
type Header struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Format string `json:"format"`
	Forced bool   `json:"format_forced"` // the format was asked for, not told from the content

	Unit        string `json:"unit"`         // of the recorded times
	BlockTokens int32  `json:"block_tokens"` // of a recorded block; 0: there are none
	BlocksFrom  string `json:"block_tokens_from"`
	IDKind      string `json:"id_kind"`    // what an id names: chained, content, grouped, none
	Tail        string `json:"tail"`       // of a prompt that is no whole number of blocks: ceil, it has an id, or floor
	InputKind   string `json:"input_kind"` // full: a prompt with all its history, delta: without
	KeyField    string `json:"key_field"`  // where Row.Key comes from; "": the file states no key
	Remembers   string `json:"remembers"`  // what is kept in memory of earlier rows

	RowsRead int            `json:"rows_read"`
	RowsKept int            `json:"rows_kept"`
	Dropped  map[string]int `json:"dropped"` // rows by reason; read = kept + dropped

	NoOutput       int      `json:"rows_without_output"` // kept
	Failed         int      `json:"rows_failed"`         // kept, those without output among them
	Unknown        int      `json:"rows_without_ids"`    // kept: nothing is known of what they share
	InSessions     int      `json:"rows_in_sessions"`
	Thought        int      `json:"rows_with_think_time"`
	UnknownMembers int      `json:"unknown_members"`         // columns, or members of all rows, that the format does not know, ignored
	UnknownNames   []string `json:"unknown_names,omitempty"` // of theirs, the first
	Notes          []string `json:"notes"`                   // what a reader must know

	ceilRows, floorRows int      // rows that only one rule of the tail explains
	tailExamples        []string // first of each
	unknownSeen         map[string]bool
}

// mostUnknown bounds the names that are remembered.
const mostUnknown = 1000

// unknown counts a column or member that the format does not know. A nil header
// counts nothing.
func (h *Header) unknown(name string) {
	if h == nil {
		return
	}
	h.UnknownMembers++
	if h.unknownSeen[name] || len(h.UnknownNames) == mostUnknown {
		return
	}
	if h.unknownSeen == nil {
		h.unknownSeen = map[string]bool{}
	}
	h.unknownSeen[name] = true
	h.UnknownNames = append(h.UnknownNames, name)
}

// unknowns names some of them: "unknown members: "a", "b" and 3 more".
func (h *Header) unknowns() string {
	const most = 3
	n := len(h.UnknownNames)
	if n == 0 {
		return "0 unknown members"
	}
	var names []string
	for _, name := range h.UnknownNames[:min(n, most)] {
		names = append(names, lines.Excerpt([]byte(name)))
	}
	text := "unknown members: " + strings.Join(names, ", ")
	switch {
	case n == mostUnknown:
		text += fmt.Sprintf(" and at least %d more", n-most)
	case n > most:
		text += fmt.Sprintf(" and %d more", n-most)
	}
	return text
}

// keep counts a row that is kept.
func (h *Header) keep(r *Row) {
	h.RowsKept++
	r.Failed = r.Failed || r.Output == 0
	if r.Output == 0 {
		h.NoOutput++
	}
	if r.Failed {
		h.Failed++
	}
	if !r.Known {
		h.Unknown++
	}
	if r.Session != "" {
		h.InSessions++
	}
	if r.Think >= 0 {
		h.Thought++
	}
}

// PromptsKnown tells whether the trace says what prompts share. If not, no hit
// can be known.
func (h *Header) PromptsKnown() bool { return h.Unknown < h.RowsKept }

// note adds a line that a reader must know, once.
func (h *Header) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(h.Notes, text) {
		h.Notes = append(h.Notes, text)
	}
}

// useBlocks states the size of a recorded block: that asked for, that of the
// file, or the usual one of the format.
func (h *Header) useBlocks(asked int, usual int32) {
	h.BlockTokens, h.BlocksFrom = usual, "usual in this format"
	if asked > 0 {
		h.BlockTokens, h.BlocksFrom = int32(asked), "as asked"
	}
}

// fits checks that a prompt has as many ids as its length needs, with or
// without one for what is left of a block; it remembers which.
func (h *Header) fits(r *Row) error {
	size := int(h.BlockTokens)
	whole, all := int(r.Input)/size, (int(r.Input)+size-1)/size
	n := len(r.Blocks)
	switch {
	case n == whole && n == all:
		return nil
	case n == all:
		if h.ceilRows++; h.ceilRows == 1 {
			h.tailExamples = append(h.tailExamples, fmt.Sprintf("line %d has an id for the rest of its prompt", r.Line))
		}
	case n == whole:
		if h.floorRows++; h.floorRows == 1 {
			h.tailExamples = append(h.tailExamples, fmt.Sprintf("line %d has none", r.Line))
		}
	default:
		wanted := fmt.Sprint(all)
		if whole < all {
			wanted = fmt.Sprintf("%d or %d", whole, all)
		}
		return fmt.Errorf("read %d ids for %d input tokens, wanted %s for blocks of %d tokens (%s)%s",
			n, r.Input, wanted, size, h.BlocksFrom, sizeHint(n, int(r.Input)))
	}
	return nil
}

// sizeHint names a usual block size that would fit.
func sizeHint(ids, input int) string {
	var fit []string
	for size := 8; size <= 4096; size *= 2 {
		if ids == (input+size-1)/size {
			fit = append(fit, fmt.Sprint(size))
		}
	}
	if fit == nil {
		return ""
	}
	return "; blocks of " + strings.Join(fit, " or ") + " tokens would fit (block_tokens)"
}

// checkTail settles which rule of the tail the file follows.
func (h *Header) checkTail() error {
	switch {
	case h.ceilRows > 0 && h.floorRows > 0:
		return fmt.Errorf("%s: %s (%d and %d such rows), wanted one rule for all: is the block of %d tokens right?",
			h.Path, strings.Join(h.tailExamples, ", "), h.ceilRows, h.floorRows, h.BlockTokens)
	case h.floorRows > 0:
		h.Tail = "floor"
	case h.ceilRows > 0:
		h.Tail = "ceil"
	}
	return nil
}

// Print writes the header for a reader, a few lines.
func (h *Header) Print(w io.Writer) error {
	how := "told from the content"
	if h.Forced {
		how = "as asked"
	}
	ids := "no block ids"
	if h.BlockTokens > 0 {
		ids = fmt.Sprintf("%d-token %s block ids (%s)", h.BlockTokens, h.IDKind, h.BlocksFrom)
		if h.Tail != "" {
			ids += ", last block: " + h.Tail
		}
	}
	_, err := fmt.Fprintf(w, "trace %s: format %s (%s), times in %s, %s, %s prompts\n  sha256 %s\n  rows: %d read, %d kept (%s)%s; %s\n",
		h.Path, h.Format, how, h.Unit, ids, h.InputKind, h.SHA256, h.RowsRead, h.RowsKept, h.kinds(), h.drops(), h.unknowns())
	return err
}

func (h *Header) kinds() string {
	text := fmt.Sprintf("%d without output, replayed as 1 token", h.NoOutput)
	for _, k := range []struct {
		n    int
		what string
	}{{h.Failed - h.NoOutput, "failed with output"}, {h.InSessions, "in sessions"}, {h.Thought, "with a think time"}} {
		if k.n > 0 {
			text += fmt.Sprintf(", %d %s", k.n, k.what)
		}
	}
	if h.BlockTokens > 0 && h.Unknown > 0 {
		text += fmt.Sprintf(", %d without ids, taken to share nothing", h.Unknown)
	}
	return text
}

func (h *Header) drops() (s string) {
	for _, reason := range slices.Sorted(maps.Keys(h.Dropped)) {
		s += fmt.Sprintf(", %d dropped (%s)", h.Dropped[reason], reason)
	}
	return s
}
