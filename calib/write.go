package calib

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cacheroute/results"
)

// notInName is what a preset's name cannot hold.
var notInName = regexp.MustCompile(`[^a-z0-9.]+`)

// PresetName is a name for a preset of the setup.
func (s Setup) PresetName() string {
	tp := ""
	if s.TensorParallel > 0 {
		tp = fmt.Sprintf("tp%d", s.TensorParallel)
	}
	precision, _, _ := strings.Cut(s.Precision, " ")
	if strings.Contains(strings.ToLower(s.Model), strings.ToLower(precision)) {
		precision = ""
	}
	name := notInName.ReplaceAllString(strings.ToLower(strings.Join([]string{s.Model, precision, s.GPU, tp, s.Engine}, "-")), "-")
	if name = strings.Trim(name, "-."); name == "" {
		return "calibrated"
	}
	return name
}

// WritePreset writes the fit as a preset file that Load reads, every number with
// its origin.
func (f *Fit) WritePreset(w io.Writer) error {
	e := &presetWriter{w: w}
	e.line("# Fitted by cacheroute calibrate to %s (%s), %s.", filepath.Base(f.File), f.counted(), f.errorsText())
	for _, warning := range f.Warnings {
		e.line("# Warning: %s.", warning)
	}
	e.line("name: %s", quoted(f.Setup.PresetName()))
	e.line("description: %s", quoted(fmt.Sprintf("%s, %s fit to %s", f.Setup, f.Form, f.counted())))
	e.number("block_tokens", float64(f.BlockTokens), results.Assumed, "vLLM default, or as given with --block-tokens")
	blocks, origin, source := f.blocks()
	e.number("kv_blocks", float64(blocks), origin, source)
	e.number("max_num_batched_tokens", float64(f.MaxBatchedTokens), f.limitOrigin("max_num_batched_tokens"), f.limitSource("max_num_batched_tokens"))
	e.number("max_num_seqs", float64(f.MaxSeqs), results.Assumed, "vLLM default of the V1 engine, or as given with --max-seqs")
	e.coefficient("", f.Overhead, f)
	e.line("cost:")
	e.line("  name: %s", f.Form)
	for _, c := range f.Coefficients {
		e.coefficient("  ", c, f)
	}
	e.number("peak_prefill_token_ms", f.PeakPrefillMS, results.Assumed, f.PeakSource)
	e.line("bench: # what was measured and how, where the bench does not say; validate reads it")
	var setup []string
	for _, field := range f.Setup.fields() {
		if field.value != "" {
			setup = append(setup, field.column+": "+quoted(field.value))
		}
	}
	e.line("  setup: {%s}", strings.Join(setup, ", "))
	if f.Steps == 0 {
		for _, fact := range f.factNumbers() {
			e.number("  "+fact.name, fact.value, f.limitOrigin(fact.name), f.limitSource(fact.name))
		}
	}
	return e.err
}

// presetWriter keeps the first error.
type presetWriter struct {
	w   io.Writer
	err error
}

func (e *presetWriter) line(format string, args ...any) {
	if e.err == nil {
		_, e.err = fmt.Fprintf(e.w, format+"\n", args...)
	}
}

func (e *presetWriter) number(name string, value float64, origin results.Origin, source string) {
	e.line("%s: {value: %s, origin: %s, source: %s}", name, strconv.FormatFloat(digits(value), 'g', -1, 64), origin, quoted(source))
}

// coefficient writes a fitted number, or one that the rows do not tell.
func (e *presetWriter) coefficient(indent string, c Coefficient, f *Fit) {
	switch {
	case c.Untold != "":
		e.number(indent+c.Name, c.rounded(), results.Assumed, c.Untold)
	case c.Name == "ttft_overhead_s" && !f.Refined:
		e.number(indent+c.Name, 0, results.Assumed, "not fitted without simulation")
	default:
		e.number(indent+c.Name, c.rounded(), results.Fitted, fmt.Sprintf("%s of %s: 99 %% interval %.3g to %.3g; %s", f.counted(), filepath.Base(f.File), c.Lo, c.Hi, f.errorsText()))
	}
}

// rounded is the value as its cost model takes it.
func (c Coefficient) rounded() float64 {
	if c.Name == "free_tokens" {
		return math.Round(c.Value)
	}
	return c.Value
}

// digits rounds to the digits that a preset gives; whole numbers stay.
func digits(v float64) float64 {
	if v == math.Trunc(v) {
		return v
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 5, 64), 64)
	return rounded
}

// quoted is text as YAML and JSON quote it.
func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("calib: %v", err))
	}
	return string(text)
}

// counted says how many measurements the fit rests on.
func (f *Fit) counted() string {
	if f.Steps > 0 {
		return fmt.Sprintf("%d steps", f.Steps)
	}
	runs, full := 0, 0
	for _, r := range f.Rows {
		switch {
		case r.Measured.KVBound:
			full++
		case !r.Odd:
			runs++
		}
	}
	if full > 0 {
		return fmt.Sprintf("%d runs and %d KV-bound", runs, full)
	}
	return fmt.Sprintf("%d runs", runs)
}

// what names that of which TPOT is the error.
func (f *Fit) what() string {
	if f.Steps > 0 {
		return "step"
	}
	return "TPOT"
}

// errorsText says how well the fit holds.
func (f *Fit) errorsText() string {
	var parts []string
	for _, e := range []struct {
		name         string
		fit, heldOut results.Float
	}{
		{f.what(), f.Error.TPOT, f.HeldOut.TPOT}, {"TTFT", f.Error.TTFT, f.HeldOut.TTFT},
		{"output rate", f.Error.OutputTokensPer, f.HeldOut.OutputTokensPer},
	} {
		switch {
		case e.heldOut.Finite():
			parts = append(parts, fmt.Sprintf("%s %s %% (%s %% held out)", e.name, percentOf(e.fit), percentOf(e.heldOut)))
		case e.fit.Finite():
			parts = append(parts, fmt.Sprintf("%s %s %%", e.name, percentOf(e.fit)))
		}
	}
	return "mean errors: " + strings.Join(parts, ", ")
}

// limitOrigin tells whether a fact or a limit was given or found.
func (f *Fit) limitOrigin(name string) results.Origin {
	switch {
	case !slices.Contains(f.FoundFacts, name):
		return results.Measured
	case f.Refined && !(name == "max_num_batched_tokens" && f.Facts.OnePrompt):
		return results.Fitted
	}
	return results.Assumed
}

func (f *Fit) limitSource(name string) string {
	switch {
	case !slices.Contains(f.FoundFacts, name):
		return "given to cacheroute calibrate, or by the bench's file"
	case name == "max_num_batched_tokens" && f.Facts.OnePrompt:
		return "vLLM default on H100; the runs were simulated with room for one prompt a step"
	case f.Refined:
		return "found by simulating the bench under the usual values"
	}
	return "usual value"
}

type namedNumber struct {
	name  string
	value float64
}

// factNumbers lists what is known of the bench.
func (f *Fit) factNumbers() []namedNumber {
	var all []namedNumber
	add := func(name string, value float64) {
		if value > 0 {
			all = append(all, namedNumber{name, value})
		}
	}
	add("length_ratio", f.Facts.LengthRatio)
	add("requests_per_client", float64(f.Facts.RequestsPerClient))
	all = append(all, namedNumber{"waiting_clients", float64(max(0, f.Facts.Waiting))})
	if f.Facts.OnePrompt {
		add("one_prompt_a_step", 1)
	}
	if f.Facts.NoPrefixCaching {
		add("no_prefix_caching", 1)
	}
	return all
}

// blocks is the number of KV blocks for the preset: known, estimated from memory,
// or what the largest run needed.
func (f *Fit) blocks() (int, results.Origin, string) {
	if f.KVBlocks > 0 {
		return f.KVBlocks, f.KVOrigin, f.KVSource
	}
	least := 0.0
	for _, r := range f.Rows {
		least = math.Max(least, float64(r.Row.Concurrency)*(r.Row.Input.Max+r.Row.Output.Max))
	}
	held := max(1024, int(math.Ceil(least/float64(f.BlockTokens))))
	facts, ok := kvFactsOf(f.Setup)
	if ok {
		if blocks, formula, err := facts.KVBlocks(f.BlockTokens); err == nil && blocks >= held {
			return blocks, results.Assumed, formula
		}
	}
	return held, results.Assumed, "what the largest run could need at most; not a measured size: take the engine's own log number"
}
