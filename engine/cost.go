package engine

import (
	"fmt"
	"math"

	"cacheroute/sim/clock"
)

// Batch is what the price of a step depends on.
type Batch struct {
	Decodes       int   // sequences that decode one token
	DecodeContext int64 // sum of their tokens in the KV cache before the step
	Prefill       int64 // prompt tokens computed in the step
	// PrefillWork is the sum over prefill chunks of P*(2X+P): P tokens computed
	// on X tokens before them. Half of it is the sum of the chunk's token by
	// mean context, the size of its attention.
	PrefillWork int64
}

// CostModel prices a step.
type CostModel interface {
	// StepTime is how long a step of the batch lasts, at least 1 ps.
	StepTime(b Batch) clock.Time
}

// SpanModel is a CostModel that can price a run of pure decode steps at once:
// DecodeSpan(n, context, k) equals, to the picosecond, the sum of StepTime over
// k steps of n decoding sequences whose joint context is context at the first
// step and grows by n a step.
type SpanModel interface {
	CostModel
	DecodeSpan(n int, context int64, k int64) clock.Time
}

// CostSpec is the parameters of a cost model, as a preset gives them.
type CostSpec interface {
	// About is one line for a list.
	About() string
	// Check returns nil or an error that starts with the parameter's name and
	// a colon.
	Check() error
	// Build makes the model. The spec has passed Check.
	Build() CostModel
}

// CostModels is the table of cost models by name: a parameter struct with its
// defaults, to be decoded into.
var CostModels = map[string]func() CostSpec{
	"linear":   func() CostSpec { return &Linear{} },
	"overlap":  func() CostSpec { return &Overlap{} },
	"table":    func() CostSpec { return &Table{} },
	"roofline": func() CostSpec { return newRoofline() },
}

// CostFiles is a CostSpec that may take its numbers from files.
type CostFiles interface {
	// Files returns where the spec names files, so that a caller can resolve
	// them against the study's folder and hash them.
	Files() []*string
	// Read reads them; Build after it uses what was read.
	Read() error
}

// longest is the most that a step or span is priced at, 53 days. It keeps
// absurd products of allowed parameters from overflowing.
const longest = 1 << 62

// bounded is an integer price with its approximation in floating point, which
// tells whether the integer has overflowed.
func bounded(exact int64, rough float64) clock.Time {
	if rough >= longest {
		return longest
	}
	return clock.Time(exact)
}

// picoseconds rounds a time in milliseconds.
func picoseconds(ms float64) int64 {
	return int64(math.RoundToEven(min(ms*float64(clock.Millisecond), longest)))
}

// between refuses a parameter outside lo..hi, NaN included.
func between(name string, x, lo, hi float64) error {
	if x >= lo && x <= hi {
		return nil
	}
	return fmt.Errorf("%s: must lie between %v and %v, got %v", name, lo, hi, x)
}
