package calib

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"cacheroute/engine"
	"cacheroute/sim/clock"
)

// trueCosts are costs like those of a 32B model on two H100.
var trueCosts = map[string]engine.CostSpec{
	"linear":  &engine.Linear{BaseMS: 14, SequenceMS: 0.06, ContextMS: 5e-5, PrefillMS: 0.05, AttentionMS: 2e-6},
	"overlap": &engine.Overlap{BaseMS: 14, SequenceMS: 0.06, ContextMS: 5e-5, PrefillMS: 0.05, AttentionMS: 1e-6, FreeTokens: 120},
}

var trueValues = map[string]map[string]float64{
	"linear":  {"base_ms": 14, "sequence_ms": 0.06, "context_token_ms": 5e-5, "prefill_token_ms": 0.05, "prefill_context_token_ms": 2e-6},
	"overlap": {"base_ms": 14, "sequence_ms": 0.06, "context_token_ms": 5e-5, "prefill_token_ms": 0.05, "attention_ms": 1e-6, "free_tokens": 120},
}

// stepLog draws steps of all kinds and prices them, with relative noise.
func stepLog(form string, n int, noise float64, seed uint64) Group {
	rng := rand.New(rand.NewPCG(seed, 1))
	cost := trueCosts[form].Build()
	g := Group{Bench: Bench{File: "steps.csv", Ran: Setup{Model: "Qwen3-32B", GPU: "H100", TensorParallel: 2, Precision: "bf16"}}}
	g.Setup = g.Ran
	for i := range n {
		b := engine.Batch{Decodes: rng.IntN(256)}
		b.DecodeContext = int64(b.Decodes) * rng.Int64N(8192)
		if rng.IntN(2) == 0 {
			b.Prefill = 16 << rng.IntN(10)
			b.PrefillWork = b.Prefill * (2*rng.Int64N(16384) + b.Prefill)
		}
		s := cost.StepTime(b).Seconds() * (1 + noise*rng.NormFloat64())
		g.Steps = append(g.Steps, BenchStep{Line: i + 2, Prefill: float64(b.Prefill), Decodes: float64(b.Decodes),
			Context: float64(b.DecodeContext), Work: float64(b.PrefillWork), Seconds: s})
	}
	return g
}

// runs simulates a bench of many shapes, with relative noise.
func runs(t *testing.T, cost engine.CostSpec, noise float64, seed uint64) Group {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 2))
	cfg := engine.Config{BlockTokens: 16, Blocks: unlimitedBlocks, MaxBatchedTokens: 8192, MaxSeqs: 256, Cost: cost.Build()}
	g := Group{Setup: Setup{Model: "Qwen3-32B", GPU: "H100", TensorParallel: 2, Precision: "bf16"}, Bench: Bench{File: "runs.csv"}}
	line := 1
	for _, in := range []float64{256, 4096} {
		for _, out := range []float64{64, 256} {
			for _, clients := range []int{1, 6, 18, 40} {
				line++
				r := BenchRow{Line: line, Concurrency: clients, Requests: 5 * clients, Input: longest(in, 0.8), Output: longest(out, 0.8)}
				s, err := SimulateRow(cfg, 5*clock.Millisecond, r, 1)
				if err != nil {
					t.Fatal(err)
				}
				r.TTFTMean, r.TPOTMean = s.TTFTMean*(1+noise*rng.NormFloat64()), s.TPOTMean*(1+noise*rng.NormFloat64())
				g.Rows = append(g.Rows, r)
			}
		}
	}
	return g
}

func fitOptions(form string) FitOptions {
	return FitOptions{Form: form, Facts: Facts{LengthRatio: 0.8, RequestsPerClient: 10}, MaxBatchedTokens: 8192, MaxSeqs: 256,
		BlockTokens: 16, KVBlocks: unlimitedBlocks, Refine: true, Seed: 1}
}

// recovered compares a fit with the truth: within a share of it, or within the
// printed interval.
func recovered(t *testing.T, f *Fit, within float64) {
	t.Helper()
	for _, c := range f.Coefficients {
		want := trueValues[f.Form][c.Name]
		if within > 0 && !(math.Abs(c.Value-want) <= within*want) || !(float64(c.Lo) <= want && want <= float64(c.Hi)) && within == 0 {
			t.Errorf("%s: %s = %.6g in [%.4g, %.4g], the data were made with %.6g", f.Form, c.Name, c.Value, c.Lo, c.Hi, want)
		}
	}
}

func TestRecoverFromSteps(t *testing.T) {
	for _, form := range FitForms() {
		f, err := FitCosts(stepLog(form, 500, 0, 1), fitOptions(form))
		if err != nil {
			t.Fatal(err)
		}
		recovered(t, f, 0.01)
		for seed := range uint64(3) {
			f, err := FitCosts(stepLog(form, 500, 0.02, seed), fitOptions(form))
			if err != nil {
				t.Fatal(err)
			}
			recovered(t, f, 0)
		}
	}
}

// exactFits are fits to runs without noise, by form, for the tests that want any.
var exactFits = map[string]*Fit{}

func exactFit(t *testing.T, form string) *Fit {
	t.Helper()
	if exactFits[form] == nil {
		f, err := FitCosts(runs(t, trueCosts[form], 0, 1), fitOptions(form))
		if err != nil {
			t.Fatal(err)
		}
		exactFits[form] = f
	}
	return exactFits[form]
}

func TestRecoverFromRuns(t *testing.T) {
	for _, form := range FitForms() {
		f := exactFit(t, form)
		recovered(t, f, 0.01)
		if got := f.Overhead.Value; math.Abs(got-0.005) > 0.0005 {
			t.Errorf("%s: overhead %v s, want 0.005", form, got)
		}
		f, err := FitCosts(runs(t, trueCosts[form], 0.02, 1), fitOptions(form))
		if err != nil {
			t.Fatal(err)
		}
		recovered(t, f, 0)
	}
}

// TestRecoverFromTwoShapes: an engine unlike those of the other tests, in few
// rows. A shape predicted from the other alone says nothing of the overhead, and
// does not take it away.
func TestRecoverFromTwoShapes(t *testing.T) {
	truth := &engine.Linear{BaseMS: 30, SequenceMS: 0.01, ContextMS: 3e-4, PrefillMS: 0.2, AttentionMS: 1e-5}
	cfg := engine.Config{BlockTokens: 16, Blocks: unlimitedBlocks, MaxBatchedTokens: 8192, MaxSeqs: 256, Cost: truth.Build()}
	g := Group{Setup: Setup{Model: "unknown"}, Bench: Bench{File: "runs.csv"}}
	for _, shape := range []Shape{{500, 200}, {8000, 100}} {
		for _, clients := range []int{1, 4, 16} {
			r := BenchRow{Line: len(g.Rows) + 2, Concurrency: clients, Requests: 6 * clients, Input: longest(float64(shape.Input), 0.8), Output: longest(float64(shape.Output), 0.8)}
			s := simulate(t, cfg, 8*clock.Millisecond, r)
			r.TTFTMean, r.TPOTMean, r.OutputTokensPerS = s.TTFTMean, s.TPOTMean, math.NaN()
			g.Rows = append(g.Rows, r)
		}
	}
	f, err := FitCosts(g, fitOptions("linear"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{30, 0.01, 3e-4, 0.2, 1e-5} {
		near(t, f.Coefficients[i].Name, f.Coefficients[i].Value, want, 0.01)
	}
	near(t, "overhead", f.Overhead.Value, 0.008, 0.01)
}

// TestRegressionRecovers fits mean steps of the textbook form.
func TestRegressionRecovers(t *testing.T) {
	g := runs(t, trueCosts["linear"], 0, 1)
	for i := range g.Rows {
		r := &g.Rows[i]
		c, in, out := float64(r.Concurrency), r.Input.Mean, r.Output.Mean
		r.Input, r.Output = Lengths{Mean: in, Min: in, Max: in}, Lengths{Mean: out, Min: out, Max: out}
		r.TPOTMean = (14 + 0.06*c + 5e-5*c*(in+out/2) + (0.05*in+1e-6*in*in)*(c-1)/out) / 1e3
	}
	o := fitOptions("linear")
	o.Refine = false
	f, err := FitCosts(g, o)
	if err != nil {
		t.Fatal(err)
	}
	recovered(t, f, 1e-6)
}

// TestFindsFacts makes a bench as TensorRT-LLM runs look and expects the reading
// that it was made with.
func TestFindsFacts(t *testing.T) {
	cfg := engine.Config{BlockTokens: 16, Blocks: 7000, MaxBatchedTokens: 2048, MaxSeqs: 256, Cost: trueCosts["linear"].Build()}
	truth := Facts{LengthRatio: 1, RequestsPerClient: 5, Waiting: 1}
	g := runs(t, trueCosts["linear"], 0, 1)
	g.Rows = slices.DeleteFunc(g.Rows, func(r BenchRow) bool { return r.Concurrency == 1 }) // tells no reading from another
	for i := range g.Rows {
		r := &g.Rows[i]
		r.Input, r.Output, r.Requests = longest(r.Input.Max, 0), longest(r.Output.Max, 0), 0
		s, err := SimulateRow(cfg, 0, r.With(truth), 1)
		if err != nil {
			t.Fatal(err)
		}
		r.TTFTMean, r.TPOTMean = s.TTFTMean, s.TPOTMean
	}
	o := fitOptions("linear")
	o.Facts, o.MaxBatchedTokens, o.KVBlocks = NoFacts, 0, 0
	o.Tally = &FitTally{}
	f, err := FitCosts(g, o)
	if err != nil {
		t.Fatal(err)
	}
	if fits, done, runs := o.Tally.Fits.Load(), o.Tally.Done.Load(), o.Tally.Runs.Load(); done > fits || done < fits/2 || runs < done*fewestRows {
		t.Errorf("tally of %d of %d fits, %d runs", done, fits, runs)
	}
	if f.Facts.RequestsPerClient != 5 || f.Facts.Waiting != 1 || f.Facts.LengthRatio != 1 || f.MaxBatchedTokens != 2048 {
		t.Errorf("read as %s, %d tokens a step; it was made with %s, 2048", f.Facts, f.MaxBatchedTokens, truth)
	}
	if f.KVOrigin != "fitted" || math.Abs(float64(f.KVBlocks)-7000) > 350 {
		t.Errorf("KV blocks %d (%s), the bench had 7000", f.KVBlocks, f.KVOrigin)
	}
	full := 0
	for _, r := range f.Rows {
		if r.Measured.KVBound {
			full++
		}
	}
	if full == 0 {
		t.Errorf("no KV-bound run found")
	}
}

// TestOddRow: a run that contradicts the others is named and does not move the fit.
func TestOddRow(t *testing.T) {
	g := runs(t, trueCosts["linear"], 0, 1)
	g.Rows[6].TPOTMean /= 3
	f, err := FitCosts(g, fitOptions("linear"))
	if err != nil {
		t.Fatal(err)
	}
	recovered(t, f, 0.01)
	for _, r := range f.Rows {
		if want := r.Line == g.Rows[6].Line; r.Odd != want {
			t.Errorf("line %d: odd %v, want %v", r.Line, r.Odd, want)
		}
	}
	if !strings.Contains(strings.Join(f.Warnings, "\n"), fmt.Sprintf("line %d does not fit", g.Rows[6].Line)) {
		t.Errorf("warnings %q do not name the line", f.Warnings)
	}
}

// TestOneShape: rows of one shape do not tell all coefficients, and the fit says
// which.
func TestOneShape(t *testing.T) {
	g := runs(t, trueCosts["linear"], 0, 1)
	var rows []BenchRow
	for _, r := range g.Rows {
		if r.Shape() == (Shape{3686, 58}) {
			rows = append(rows, r)
		}
	}
	g.Rows = rows
	f, err := FitCosts(g, fitOptions("linear"))
	if err != nil {
		t.Fatal(err)
	}
	untold := 0
	for _, c := range f.Coefficients {
		if c.Untold != "" {
			untold++
		}
	}
	if untold == 0 || !strings.Contains(strings.Join(f.Warnings, "\n"), "one shape") {
		t.Errorf("%d coefficients called untold, warnings %q", untold, f.Warnings)
	}
}

// TestPoorFit: rows that no engine can have made get a warning, and figures that
// JSON can say.
func TestPoorFit(t *testing.T) {
	g := runs(t, trueCosts["linear"], 0, 1)
	for i := range g.Rows {
		g.Rows[i].TPOTMean *= []float64{0.75, 1.3}[i%2]
	}
	o := fitOptions("linear")
	o.Refine = false
	f, err := FitCosts(g, o)
	var tooFast *TooFast
	if err != nil && !errors.As(err, &tooFast) {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(f.Warnings, "\n"), "off the fit on average") {
		t.Errorf("errors %+v, warnings %q", f.Error, f.Warnings)
	}
	g.Rows = g.Rows[1:4]
	if f, err = FitCosts(g, o); err != nil && !errors.As(err, &tooFast) {
		t.Fatal(err)
	}
	if err := FitsJSON(io.Discard, []*Fit{f}); err != nil {
		t.Errorf("a fit of three rows: %v", err)
	}
}

func TestRefusesTooFast(t *testing.T) {
	o := fitOptions("linear")
	o.Refine = false // what is refused does not depend on it
	fast := &engine.Linear{BaseMS: 14, SequenceMS: 0.06, ContextMS: 5e-5, PrefillMS: 0.02, AttentionMS: 1e-6}
	_, err := FitCosts(runs(t, fast, 0, 1), o)
	var tooFast *TooFast
	if !errors.As(err, &tooFast) || !strings.Contains(err.Error(), "beats the hardware's peak of 0.0315") {
		t.Errorf("error %v, want a refusal of 0.02 ms a token", err)
	}
	fast = &engine.Linear{BaseMS: 4, SequenceMS: 0.06, ContextMS: 5e-5, PrefillMS: 0.05, AttentionMS: 1e-6}
	if _, err = FitCosts(runs(t, fast, 0, 1), o); !errors.As(err, &tooFast) || !strings.Contains(err.Error(), "read of the weights") {
		t.Errorf("error %v, want a refusal of 4 ms a step", err)
	}
}

func TestRefusesTooFew(t *testing.T) {
	g := runs(t, trueCosts["linear"], 0, 1)
	g.Rows = g.Rows[:1]
	if _, err := FitCosts(g, fitOptions("linear")); err == nil || !strings.HasPrefix(err.Error(), "runs.csv:2: read 1 runs") {
		t.Errorf("error %v, want one that names runs.csv:2 and the one run", err)
	}
	s := stepLog("linear", 5, 0, 1)
	if _, err := FitCosts(s, fitOptions("linear")); err == nil || !strings.HasPrefix(err.Error(), "steps.csv:2: read 5 steps") {
		t.Errorf("error %v, want one that names the 5 steps", err)
	}
}

// TestWarnsOfLightLoad: without a busy run the fit says so.
func TestWarnsOfLightLoad(t *testing.T) {
	g := runs(t, trueCosts["linear"], 0, 1)
	var light []BenchRow
	for _, r := range g.Rows {
		if r.Concurrency <= 8 && r.Input.Max == 256 {
			light = append(light, r)
		}
	}
	for _, c := range []struct {
		rows []BenchRow
		warn bool
	}{{light, true}, {g.Rows, false}} {
		h := g
		h.Rows = c.rows
		f := &fitter{rows: h.Rows, fit: &Fit{}}
		f.warnOfLoad()
		if got := len(f.fit.Warnings) > 0; got != c.warn {
			t.Errorf("%d rows: warned %v, want %v", len(c.rows), got, c.warn)
		}
	}
}

// TestNNLS checks optimality: the gradient is zero for positive coefficients and
// points into the bound for the others.
func TestNNLS(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		m, n := 3+rng.IntN(20), 1+rng.IntN(5)
		var p problem
		weight := make([]float64, m)
		for i := range m {
			row := make([]float64, n)
			for j := range row {
				row[j] = rng.NormFloat64() * math.Pow(10, float64(3*j))
			}
			p.x, p.y = append(p.x, row), append(p.y, rng.NormFloat64())
			weight[i] = rng.Float64()
		}
		theta := p.nnls(weight)
		r := p.residuals(theta)
		for j := range theta {
			g, length := 0.0, 0.0
			for i := range r {
				g += weight[i] * r[i] * p.x[i][j]
				length = math.Hypot(length, p.x[i][j])
			}
			if g /= length; theta[j] < 0 || g > 1e-8 || theta[j] > 0 && m > n && math.Abs(g) > 1e-8 {
				t.Fatalf("theta[%d] = %v with gradient %v", j, theta[j], g)
			}
		}
	}
}
