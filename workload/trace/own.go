package trace

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"cacheroute/workload/lines"
)

// The formats of this project hold what a Row does under the same names in
// Parquet, CSV and JSONL. A time says its unit in its name.
var ownWanted = []string{"input_tokens", "output_tokens"}

var ownOthers = []string{"key", "session", "turn", "think_us", "block_tokens", "block_ids", "status", "ttft_us", "e2e_us", "cached_tokens"}

// arrivals are the names of the arrival by their exponents of ten.
var arrivals = map[string]int{"arrival_us": 6, "arrival_ms": 3, "arrival_s": 0}

const ownAbout = "arrival_us (or arrival_ms, arrival_s), input_tokens, output_tokens; optional key, session, turn, think_us, block_ids with block_tokens, status, ttft_us, e2e_us, cached_tokens"

// ownRow is what a row says in other forms than a Row.
type ownRow struct {
	blockTokens int64 // Absent
	status      string
}

// finish completes a row of one of the formats.
func (o *ownRow) finish(r *Row, h *Header, asked int) error {
	switch o.status {
	case "", "ok":
	case "failed":
		r.Failed = true
	default:
		return fmt.Errorf("status: read %s, wanted ok or failed", lines.Excerpt([]byte(o.status)))
	}
	if r.Known = o.blockTokens != Absent; !r.Known {
		if len(r.Blocks) > 0 {
			return fmt.Errorf("block_ids without block_tokens, wanted the number of tokens of a block")
		}
		return nil
	}
	if h.BlockTokens == 0 && o.blockTokens > 0 && o.blockTokens <= MaxTokens {
		h.IDKind, h.BlocksFrom, h.BlockTokens = "chained", "stated in the file", int32(o.blockTokens)
	}
	if o.blockTokens != int64(h.BlockTokens) || o.blockTokens == 0 {
		return wantedBlock("block_tokens", o.blockTokens, h)
	}
	if asked > 0 && asked != int(h.BlockTokens) {
		return fmt.Errorf("block_tokens: read %d, wanted %d as asked", o.blockTokens, asked)
	}
	if most := (int(r.Input) + int(h.BlockTokens) - 1) / int(h.BlockTokens); len(r.Blocks) > most {
		return fmt.Errorf("read %d block_ids for %d input tokens, wanted at most %d = ceil(tokens/block)", len(r.Blocks), r.Input, most)
	}
	return nil
}

// wantedBlock says what was wanted instead of a size of blocks.
func wantedBlock(name string, read int64, h *Header) error {
	if h.BlockTokens == 0 {
		return fmt.Errorf("%s: read %d, wanted a whole number from 1 to %d", name, read, MaxTokens)
	}
	return fmt.Errorf("%s: read %d, wanted %d as in the rows before", name, read, h.BlockTokens)
}

// ownCSV is a trace of this project as CSV: ids are separated by spaces.
type ownCSV struct {
	table
	arrival string
}

// About implements Format.
func (*ownCSV) About() string { return "trace of this project, CSV: " + ownAbout }

func (*ownCSV) detect(f *first) bool {
	return f.table(ownWanted...) && (f.table("arrival_us") || f.table("arrival_ms") || f.table("arrival_s"))
}

func (o *ownCSV) begin(s source) error {
	if err := o.open(s, ownWanted, slices.AppendSeq(slices.Clone(ownOthers), maps.Keys(arrivals))); err != nil {
		return err
	}
	for name, exponent := range arrivals {
		if !o.has(name) {
			continue
		}
		if o.arrival != "" {
			return s.in.Errorf("read the columns %s and %s, wanted one arrival", min(o.arrival, name), max(o.arrival, name))
		}
		o.arrival, s.h.Unit = name, units[exponent]
	}
	if o.arrival == "" {
		return s.in.Errorf("no column arrival_us, arrival_ms or arrival_s")
	}
	if o.key < 0 && o.has("key") {
		s.h.KeyField = "key"
	}
	return nil
}

func (o *ownCSV) next(r *Row) error {
	if err := o.line(r); err != nil {
		return err
	}
	e := ownRow{blockTokens: Absent}
	values := []value{
		{column: o.arrival, exponent: arrivals[o.arrival], time: &r.At, needed: true},
		{column: "input_tokens", tokens: &r.Input, needed: true},
		{column: "output_tokens", tokens: &r.Output, needed: true},
		{column: "session", name: &r.Session},
		{column: "turn", whole: &r.Turn},
		{column: "think_us", whole: &r.Think},
		{column: "block_tokens", whole: &e.blockTokens},
		{column: "status", name: &e.status},
		{column: "ttft_us", whole: &r.TTFT},
		{column: "e2e_us", whole: &r.E2E},
		{column: "cached_tokens", whole: &r.Cached},
	}
	if o.key < 0 {
		values = append(values, value{column: "key", name: &r.Key})
	}
	if err := o.read(values...); err != nil {
		return err
	}
	for word := range strings.FieldsSeq(o.text("block_ids")) {
		id, err := wholeOf("block_ids", word, math.MaxUint64)
		if err != nil {
			return o.in.Errorf("%w", err)
		}
		r.Blocks = append(r.Blocks, id)
	}
	if err := e.finish(r, o.h, o.opt.BlockTokens); err != nil {
		return o.in.Errorf("%w", err)
	}
	return nil
}

// ownJSONL is a trace of this project as JSONL.
type ownJSONL struct {
	jsonl
	arrival string
}

// About implements Format.
func (*ownJSONL) About() string { return "trace of this project, JSONL: " + ownAbout }

func (*ownJSONL) detect(f *first) bool {
	return f.has(ownWanted...) && f.hasAny("arrival_us", "arrival_ms", "arrival_s")
}

func (o *ownJSONL) begin(s source) error {
	o.open(s)
	return nil
}

func (o *ownJSONL) next(r *Row) error {
	e := ownRow{blockTokens: Absent}
	timed := ""
	err := o.line(r, ownWanted, func(name string) (bool, error) {
		whole := func(to *int64) (bool, error) {
			return true, o.optional(func() error {
				v, err := o.whole(name, maxMicros)
				*to = int64(v)
				return err
			})
		}
		text := func(to *string) (bool, error) {
			return true, o.optional(func() error { return o.name(name, to) })
		}
		switch name {
		case "arrival_us", "arrival_ms", "arrival_s":
			if timed != "" {
				return true, fmt.Errorf("read %s and %s, wanted one arrival", timed, name)
			}
			timed = name
			return true, o.time(name, arrivals[name], &r.At)
		case "input_tokens":
			return true, o.tokens(name, &r.Input)
		case "output_tokens":
			return true, o.tokens(name, &r.Output)
		case "block_ids":
			return true, o.optional(func() error { return o.ids(name, &r.Blocks) })
		case "key":
			o.h.KeyField = "key"
			return text(&r.Key)
		case "session":
			return text(&r.Session)
		case "status":
			return text(&e.status)
		case "turn":
			return whole(&r.Turn)
		case "think_us":
			return whole(&r.Think)
		case "block_tokens":
			return whole(&e.blockTokens)
		case "ttft_us":
			return whole(&r.TTFT)
		case "e2e_us":
			return whole(&r.E2E)
		case "cached_tokens":
			return whole(&r.Cached)
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	switch {
	case timed == "":
		err = fmt.Errorf("no member arrival_us, arrival_ms or arrival_s")
	case o.arrival != "" && o.arrival != timed:
		err = fmt.Errorf("read %s after %s, wanted one unit in a file", timed, o.arrival)
	default:
		o.arrival, o.h.Unit = timed, units[arrivals[timed]]
		err = e.finish(r, o.h, o.opt.BlockTokens)
	}
	if err != nil {
		return o.in.Errorf("%w", err)
	}
	return nil
}
