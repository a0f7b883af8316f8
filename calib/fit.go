package calib

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"cacheroute/engine"
	"cacheroute/results"
)

// FitOptions say how to fit step costs to a bench.
type FitOptions struct {
	Form  string // a cost model that can be fitted: linear or overlap
	Facts Facts  // of the bench; what is not known is found by the fit
	// MaxBatchedTokens is the engine's token budget of a step; 0: found.
	MaxBatchedTokens int
	// MaxSeqs is the engine's limit of running sequences.
	MaxSeqs int
	// KVBlocks is the engine's own count of blocks; 0: not known.
	KVBlocks    int
	BlockTokens int
	// PeakPrefillMS is the least time a prompt token can take on the hardware;
	// 0: from the model and the GPU, if they are known.
	PeakPrefillMS float64
	Refine        bool // by simulating the bench
	Seed          uint64
	Tally         *FitTally // nil: nobody looks
}

// Check returns nil or an error that starts with the offending flag.
func (o FitOptions) Check() error {
	if err := o.Facts.Check(); err != nil {
		return fmt.Errorf("%s", strings.ReplaceAll(err.Error(), "_", "-"))
	}
	for _, f := range []struct {
		name          string
		value, lo, hi float64
	}{
		{"max-batched-tokens", float64(o.MaxBatchedTokens), 0, 1 << 24}, {"max-seqs", float64(o.MaxSeqs), 1, 1 << 20},
		{"kv-blocks", float64(o.KVBlocks), 0, unlimitedBlocks}, {"block-tokens", float64(o.BlockTokens), 1, 1 << 12},
		{"peak-prefill-token-ms", o.PeakPrefillMS, 0, 1e3},
	} {
		if !(f.value >= f.lo && f.value <= f.hi) {
			return fmt.Errorf("%s %v: wanted a number from %v to %v", f.name, f.value, f.lo, f.hi)
		}
	}
	if o.MaxBatchedTokens > 0 && o.MaxBatchedTokens < o.MaxSeqs {
		return fmt.Errorf("max-batched-tokens %d: wanted at least --max-seqs = %d, as in vLLM", o.MaxBatchedTokens, o.MaxSeqs)
	}
	return nil
}

// Coefficient is a fitted number.
type Coefficient struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	// Lo and Hi bound the 99 % interval; without a bound if rows are too few.
	Lo results.Float `json:"lo"`
	Hi results.Float `json:"hi"`
	// Untold is what stands for a number that the rows do not tell; it then has no
	// interval. Empty if they do.
	Untold string `json:"untold,omitempty"`
}

// Fit is what a bench says of an engine.
type Fit struct {
	Setup Setup  `json:"setup"`
	File  string `json:"file"`
	Form  string `json:"cost_model"`
	// Refined tells that the bench itself was simulated.
	Refined      bool          `json:"refined_by_simulation"`
	Coefficients []Coefficient `json:"coefficients"` // as in a preset, free_tokens included
	Overhead     Coefficient   `json:"ttft_overhead_s"`
	Facts        Facts         `json:"facts"`
	// FoundFacts names the facts and limits that the fit chose.
	FoundFacts       []string       `json:"found_facts"`
	BlockTokens      int            `json:"block_tokens"`
	MaxBatchedTokens int            `json:"max_num_batched_tokens"`
	MaxSeqs          int            `json:"max_num_seqs"`
	KVBlocks         int            `json:"kv_blocks"` // 0: not known
	KVOrigin         results.Origin `json:"kv_blocks_origin,omitempty"`
	KVSource         string         `json:"kv_blocks_source,omitempty"`
	PeakPrefillMS    float64        `json:"peak_prefill_token_ms"` // 0: not known
	PeakSource       string         `json:"peak_source"`
	Rows             []RowError     `json:"rows"`
	Shapes           []ShapeError   `json:"shapes"`
	Steps            int            `json:"steps,omitempty"` // of a step log
	// Mean absolute errors of the rows in the fit, and of rows that a fit to the
	// other shapes predicts; of a step log those of steps, as TPOT.
	Error    Errors   `json:"mape"`
	HeldOut  Errors   `json:"held_out_mape"`
	Warnings []string `json:"warnings"`
	Notes    []string `json:"notes"`
}

// RowError is one measured run beside what the fit says of it.
type RowError struct {
	Row      BenchRow `json:"-"`
	Line     int      `json:"line"`
	Measured Figures  `json:"measured"` // KV-bound ones are left out of the fit of costs
	Fit      Figures  `json:"fit"`      // TPOT alone without simulation
	Odd      bool     `json:"odd"`      // far from every fit, and left out of it
}

// ShapeError is the error on the rows of a shape of a fit without them.
type ShapeError struct {
	Input  int    `json:"input_tokens"`
	Output int    `json:"output_tokens"`
	Rows   int    `json:"rows"`
	Error  Errors `json:"mape"`
}

// TooFast is a fit that beats the peak of its hardware: the data, their units or
// the facts about them are wrong.
type TooFast struct{ Reason string }

func (e *TooFast) Error() string { return e.Reason }

// FitForms lists the cost models that can be fitted.
func FitForms() []string { return slices.Sorted(maps.Keys(fitForms)) }

// FitCosts fits the step costs of a setup to its bench.
func FitCosts(g Group, o FitOptions) (*Fit, error) {
	form, ok := fitForms[o.Form]
	if !ok {
		return nil, badBench("--model %s: wanted one of %s", o.Form, strings.Join(FitForms(), ", "))
	}
	if o.Tally == nil {
		o.Tally = &FitTally{}
	}
	f := &fitter{
		opt: o, form: form, facts: o.Facts,
		cfg: engine.Config{BlockTokens: o.BlockTokens, Blocks: unlimitedBlocks, MaxBatchedTokens: o.MaxBatchedTokens, MaxSeqs: o.MaxSeqs},
		fit: &Fit{Setup: g.Setup, File: g.File, Form: o.Form, BlockTokens: o.BlockTokens, MaxSeqs: o.MaxSeqs, Notes: slices.Clone(g.Notes)},
	}
	f.fit.Overhead.Name = "ttft_overhead_s"
	if len(g.Steps) > 0 {
		return f.fitSteps(g)
	}
	return f.fitRows(g)
}

// fitter is the work on one setup.
type fitter struct {
	opt   FitOptions
	form  form
	facts Facts
	cfg   engine.Config // without costs
	rows  []BenchRow    // in the fit of costs
	full  []BenchRow    // KV-bound
	odd   []BenchRow    // far from every fit
	keep  []bool        // by parameter: it is fitted
	prior []bool        // by parameter: the rows do not tell it, a prior does
	bound float64       // residuals beyond it are odd
	fit   *Fit
}

// unlimitedBlocks stands for a KV cache that never limits.
const unlimitedBlocks = 1 << 26

// params are the numbers that a fit moves, in ms but for the free tokens.
type params []float64

// freeTokens is the place of the free tokens among the parameters.
const freeTokens = 5

// Parameters are the coefficients of the form, its free tokens, the overhead.
func (f *fitter) count() int      { return len(f.form.coefficients) + 2 }
func (f *fitter) freeAt() int     { return freeTokens }
func (f *fitter) overheadAt() int { return len(f.form.coefficients) + 1 }

// cost is the cost model of the parameters.
func (f *fitter) cost(p params) engine.CostSpec {
	return f.form.spec(p[:len(f.form.coefficients)], p[f.freeAt()])
}

func (f *fitter) warn(format string, args ...any) {
	f.fit.Warnings = append(f.fit.Warnings, fmt.Sprintf(format, args...))
}

func (f *fitter) note(format string, args ...any) {
	f.fit.Notes = append(f.fit.Notes, fmt.Sprintf(format, args...))
}

// fewestRows is the least number of runs from which costs are fitted.
const fewestRows = 3

// fitRows fits closed-loop runs.
func (f *fitter) fitRows(g Group) (*Fit, error) {
	f.split(g.Rows)
	if err := f.enough(g); err != nil {
		return nil, err
	}
	f.setApart()
	found := f.settle()
	f.describeFacts(found)
	p := found.p
	if err := f.sizeCache(p); err != nil {
		return nil, err
	}
	f.identify(p)
	if f.opt.Refine {
		p = f.refineFully(p)
	} else {
		p = f.regress()
	}
	f.fit.Refined = f.opt.Refine
	f.report(f.holdOut(p))
	if err := f.judge(p); err != nil {
		return f.fit, err
	}
	return f.fit, nil
}

// enough refuses data from which nothing can be fitted.
func (f *fitter) enough(g Group) error {
	clients := map[int]bool{}
	for _, r := range f.rows {
		clients[r.Concurrency] = true
	}
	if len(f.rows) < fewestRows || len(clients) < 2 {
		return badBench("%s:%d: read %d runs of %s that the KV cache does not limit, with %d numbers of clients; wanted at least %d runs and 2 numbers of clients",
			g.File, g.Rows[0].Line, len(f.rows), g.Setup, len(clients), fewestRows)
	}
	for _, r := range g.Rows {
		if math.IsNaN(r.TPOTMean) || math.IsNaN(r.TTFTMean) {
			return badBench("%s:%d: read a run of one output token, which has no TPOT; wanted at least 2 output tokens", g.File, r.Line)
		}
		if _, err := rowSource(r.With(f.opt.Facts), f.opt.Seed); err != nil {
			return badBench("%s:%d: %v", g.File, r.Line, err)
		}
	}
	return nil
}
