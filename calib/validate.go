package calib

import (
	"fmt"
	"math"
	"slices"

	"cacheroute/engine"
	"cacheroute/results"
	"cacheroute/sim/clock"
)

// ValidateOptions say how to validate a preset.
type ValidateOptions struct {
	// Want selects the rows; what it does not say is as the preset says.
	Want Setup
	// Facts of the bench; what is not known is as the preset says.
	Facts Facts
	Seed  uint64
}

// Validation is measured runs beside what a preset says of them.
type Validation struct {
	Preset string `json:"preset"`
	// Numbers of the preset, and of how its bench was run.
	Numbers []results.Assumption `json:"preset_numbers"`
	File    string               `json:"file"`
	Setup   Setup                `json:"setup"` // of the rows
	Facts   Facts                `json:"facts"`
	LeftOut int                  `json:"rows_left_out"` // of other setups
	Rows    []Check              `json:"rows"`
	// Errors of the runs that the KV cache does not limit and no other run
	// contradicts, and of all runs.
	Steady MeanErrors `json:"errors"`
	All    MeanErrors `json:"errors_all"`
	// KV-bound runs: as measured, as simulated, both.
	KVMeasured  int           `json:"kv_bound_measured"`
	KVSimulated int           `json:"kv_bound_simulated"`
	KVBoth      int           `json:"kv_bound_both"`
	Steps       int           `json:"steps,omitempty"` // of a step log
	StepError   results.Float `json:"step_mape"`
	Warnings    []string      `json:"warnings"`
	Notes       []string      `json:"notes"`
}

// Check is one measured run beside its simulation.
type Check struct {
	Line        int     `json:"line"`
	Input       float64 `json:"input_tokens"` // mean
	Output      float64 `json:"output_tokens"`
	Concurrency int     `json:"concurrency"`
	Measured    Figures `json:"measured"`
	Simulated   Figures `json:"simulated"`
	Error       Errors  `json:"error"` // simulated over measured, less 1
	// Contradicts lists the lines of runs that take longer a token although each
	// has no more clients, prompts no longer and answers no shorter.
	Contradicts []int  `json:"contradicts"`
	Failed      string `json:"failed,omitempty"` // why it cannot be simulated
	Preemptions int64  `json:"simulated_preemptions"`

	row  BenchRow
	free float64 // simulated TTFT if blocks were never short
}

// Figures are the means of a run.
type Figures struct {
	TTFT            results.Float `json:"ttft_s"`
	TPOT            results.Float `json:"tpot_s"`
	OutputTokensPer results.Float `json:"output_tokens_per_s"`
	KVBound         bool          `json:"kv_bound"`
}

// Errors are relative errors.
type Errors struct {
	TTFT            results.Float `json:"ttft"`
	TPOT            results.Float `json:"tpot"`
	OutputTokensPer results.Float `json:"output_tokens_per_s"`
}

// MeanErrors are means of absolute relative errors over some runs.
type MeanErrors struct {
	Runs int `json:"runs"`
	Errors
}

// Validate simulates the runs of a bench that are of the preset's setup.
func Validate(p *Preset, b *Bench, o ValidateOptions) (*Validation, error) {
	v := &Validation{Preset: p.Name, Numbers: slices.Concat(p.Assumptions, p.Bench.Sources), File: b.File, Facts: o.Facts.or(p.Bench.Facts), StepError: results.Float(math.NaN()),
		Rows: []Check{}, Warnings: []string{}, Notes: slices.Clone(b.Notes)}
	group, err := v.choose(p, b, o.Want)
	if err != nil {
		return nil, err
	}
	v.Setup, v.LeftOut = group.Setup, len(b.Rows)-len(group.Rows)
	v.checkSteps(p.Cost.Build(), group.Steps)
	cfg, overhead := p.Engine(), clock.FromSeconds(p.TTFTOverheadS)
	for _, r := range group.Rows {
		c := newCheck(r.With(v.Facts))
		s, err := SimulateRow(cfg, overhead, c.row, o.Seed)
		switch {
		case err != nil:
			return nil, badBench("%s:%d: %v", b.File, r.Line, err)
		case s.Completed == 0:
			c.Failed = "its prompts need more KV blocks than there are"
		case s.Refused > 0:
			c.Failed = fmt.Sprintf("%d of its requests need more KV blocks than there are", s.Refused)
		}
		c.compare(s)
		v.Rows = append(v.Rows, c)
	}
	v.judge()
	return v, nil
}

// newCheck holds what was measured. A throughput that the file does not give
// follows from the closed loop: clients over the mean span of a request.
func newCheck(r BenchRow) Check {
	c := Check{Line: r.Line, Input: r.Input.Mean, Output: r.Output.Mean, Concurrency: r.Concurrency, Contradicts: []int{}, row: r}
	c.Measured = r.measured()
	return c
}

// measured is the figures of the row.
func (r BenchRow) measured() Figures {
	f := Figures{TTFT: results.Float(r.TTFTMean), TPOT: results.Float(r.TPOTMean), OutputTokensPer: results.Float(r.OutputTokensPerS)}
	if !f.OutputTokensPer.Finite() {
		f.OutputTokensPer = r.loopRate(r.TTFTMean, r.TPOTMean)
	}
	return f
}

// simulated is the figures of the row's simulation, like with like.
func (r BenchRow) simulated(s Simulated) Figures {
	f := Figures{TTFT: results.Float(s.TTFTMean), TPOT: results.Float(s.TPOTMean), OutputTokensPer: results.Float(s.OutputTokensPerS), KVBound: s.KVBound()}
	if math.IsNaN(r.OutputTokensPerS) {
		f.OutputTokensPer = r.loopRate(s.TTFTMean, s.TPOTMean)
	}
	return f
}

// against is the relative errors of figures beside measured ones.
func (f Figures) against(measured Figures) Errors {
	over := func(s, m results.Float) results.Float { return s/m - 1 }
	return Errors{
		TTFT: over(f.TTFT, measured.TTFT), TPOT: over(f.TPOT, measured.TPOT),
		OutputTokensPer: over(f.OutputTokensPer, measured.OutputTokensPer),
	}
}

// loopRate is the output tokens a second of clients that always wait.
func (r BenchRow) loopRate(ttft, tpot float64) results.Float {
	span := ttft
	if r.Output.Mean > 1 {
		span += (r.Output.Mean - 1) * tpot
	}
	return results.Float(float64(r.Concurrency) * r.Output.Mean / span)
}

// compare puts the simulation beside what was measured.
func (c *Check) compare(s Simulated) {
	c.Simulated = c.row.simulated(s)
	c.Preemptions, c.free = s.Preemptions, s.FreeTTFTMean
	c.Error = c.Simulated.against(c.Measured)
}

// checkSteps prices the steps of a step log.
func (v *Validation) checkSteps(cost engine.CostModel, steps []BenchStep) {
	v.Steps = len(steps)
	sum := 0.0
	for _, s := range steps {
		t := cost.StepTime(engine.Batch{Decodes: int(s.Decodes), DecodeContext: int64(s.Context), Prefill: int64(s.Prefill), PrefillWork: int64(s.Work)})
		sum += math.Abs(t.Seconds()/s.Seconds - 1)
	}
	if v.Steps > 0 {
		v.StepError = results.Float(sum / float64(v.Steps))
	}
}

// judge draws the sums of the rows.
func (v *Validation) judge() {
	v.markKVBound()
	v.markContradictions()
	var steady, all meanErrors
	for _, c := range v.Rows {
		if c.Failed != "" {
			v.Warnings = append(v.Warnings, fmt.Sprintf("line %d cannot be simulated: %s", c.Line, c.Failed))
			continue
		}
		all.add(c.Error)
		if c.steady() {
			steady.add(c.Error)
		}
		if c.Measured.KVBound {
			v.KVMeasured++
		}
		if c.Simulated.KVBound {
			v.KVSimulated++
			if c.Measured.KVBound {
				v.KVBoth++
			}
		}
	}
	v.Steady, v.All = steady.mean(), all.mean()
}

// meanErrors sums absolute errors, of each figure over the runs that have it.
type meanErrors struct {
	runs int
	sum  [3]float64
	n    [3]float64
}

func (m *meanErrors) add(e Errors) {
	m.runs++
	for i, x := range []results.Float{e.TTFT, e.TPOT, e.OutputTokensPer} {
		if x.Finite() {
			m.sum[i] += math.Abs(float64(x))
			m.n[i]++
		}
	}
}

func (m *meanErrors) mean() MeanErrors {
	at := func(i int) results.Float { return results.Float(m.sum[i] / m.n[i]) }
	return MeanErrors{Runs: m.runs, Errors: Errors{TTFT: at(0), TPOT: at(1), OutputTokensPer: at(2)}}
}
