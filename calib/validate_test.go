package calib

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"cacheroute/engine"
	"cacheroute/sim/clock"
)

// plain is an engine with round prices: a step of 10 ms, 0.1 ms a prompt token.
func plain(blocks int) engine.Config {
	cost := &engine.Linear{BaseMS: 10, PrefillMS: 0.1}
	return engine.Config{BlockTokens: 16, Blocks: blocks, MaxBatchedTokens: 2048, MaxSeqs: 64, Cost: cost.Build()}
}

func equalLengths(n float64) Lengths { return Lengths{Mean: n, Min: n, Max: n} }

func closedRow(clients int, in, out float64) BenchRow {
	return BenchRow{Line: 2, Model: "m", GPU: "g", Input: equalLengths(in), Output: equalLengths(out), Concurrency: clients,
		OutputTokensPerS: math.NaN(), RequestsPerS: math.NaN()}
}

func simulate(t *testing.T, cfg engine.Config, overhead clock.Time, r BenchRow) Simulated {
	t.Helper()
	s, err := SimulateRow(cfg, overhead, r, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got/want-1) <= within) {
		t.Errorf("%s: %v, want %v within %v", what, got, want, within)
	}
}

// TestSimulateOneClient: a lone client has its prefill, then steps, then the
// next request, and holds the blocks of one request.
func TestSimulateOneClient(t *testing.T) {
	r := closedRow(1, 100, 11)
	s := simulate(t, plain(100), 30*clock.Millisecond, r)
	near(t, "TTFT", s.TTFTMean, 0.010+0.010+0.030, 1e-9)
	near(t, "TPOT", s.TPOTMean, 0.010, 1e-9)
	near(t, "requests/s", s.RequestsPerS, 1/0.150, 1e-9)
	near(t, "output tokens/s", s.OutputTokensPerS, 11/0.150, 1e-9)
	near(t, "tokens held at most", s.PeakTokens, 7*16, 1e-9)
	near(t, "tokens held", s.MeanTokens, 7*16*120./150, 1e-9)
	if s.Completed != roundsOfBench || s.KVBound() {
		t.Errorf("got %+v, want %d requests that never wait", s, roundsOfBench)
	}
	r.Requests = 3
	if s := simulate(t, plain(100), 0, r); s.Completed != 3 {
		t.Errorf("%d requests, want the 3 of the row", s.Completed)
	}
}

// TestSimulateBurst: all clients begin at once. The first prompt starts a step,
// the others share the next one, and like lengths keep them together.
func TestSimulateBurst(t *testing.T) {
	s := simulate(t, plain(1000), 0, closedRow(8, 100, 11))
	r := closedRow(8, 100, 11)
	r.Requests = 8
	near(t, "TTFT of the burst", simulate(t, plain(1000), 0, r).TTFTMean, (0.020+7*(0.020+0.010+0.070))/8, 1e-9)
	r.Requests = 0
	r.OnePrompt = true
	if one := simulate(t, plain(1000), 0, r); !(one.TTFTMean < s.TTFTMean) {
		t.Errorf("TTFT %v with one prompt a step, %v with all in one: the first prompts must not wait for the others", one.TTFTMean, s.TTFTMean)
	}
}

// TestSimulateWaiting: of 8 clients one finds no place, so that on average one
// answer in seven is waited for.
func TestSimulateWaiting(t *testing.T) {
	r := closedRow(8, 16, 201)
	r.Requests = 400
	free := simulate(t, plain(1000), 0, r)
	r.Waiting = 1
	s := simulate(t, plain(1000), 0, r)
	near(t, "waiting", s.TTFTMean-free.TTFTMean, 200*s.TPOTMean/7, 0.1)
}

// TestSimulateKVBound: with blocks for 4 of 16 requests a client waits for three
// others; preempted requests cost more without prefix caching.
func TestSimulateKVBound(t *testing.T) {
	r := closedRow(16, 160, 161)
	s := simulate(t, plain(4*20), 0, r)
	if !s.KVBound() || s.TTFTMean < 10*s.FreeTTFTMean || s.PeakTokens > 80*16 {
		t.Errorf("got %+v, want a KV-bound run within 1280 tokens", s)
	}
	near(t, "TTFT without a limit", s.FreeTTFTMean, simulate(t, plain(16*21), 0, r).TTFTMean, 1e-9)
	r.NoPrefixCaching = true
	slower := simulate(t, plain(4*20), 0, r)
	if s.Preemptions == 0 || !(slower.RequestsPerS < s.RequestsPerS) {
		t.Errorf("%d preemptions, %v requests/s, %v without prefix caching: want less", s.Preemptions, s.RequestsPerS, slower.RequestsPerS)
	}
	if s := simulate(t, plain(5), 0, r); s.Completed != 0 || s.Refused != 160 {
		t.Errorf("%d completed, %d refused of 160 prompts that do not fit", s.Completed, s.Refused)
	}
}

// ideal is a bench that a preset predicts exactly: rows of its own simulation.
func ideal(t *testing.T, p *Preset, setup Setup) *Bench {
	t.Helper()
	b := &Bench{File: "ideal.csv"}
	for _, shape := range []Shape{{256, 64}, {1024, 64}} {
		for _, clients := range []int{2, 4, 8, 16, 32} {
			r := closedRow(clients, float64(shape.Input), float64(shape.Output))
			r.Line, r.Model, r.GPU, r.TensorParallel = len(b.Rows)+2, setup.Model, setup.GPU, setup.TensorParallel
			s := simulate(t, p.Engine(), clock.FromSeconds(p.TTFTOverheadS), r)
			r.TTFTMean, r.TPOTMean = s.TTFTMean, s.TPOTMean
			b.Rows = append(b.Rows, r)
		}
	}
	return b
}

func idealPreset() *Preset {
	p := &Preset{Name: "ideal", BlockTokens: 16, Blocks: 1300, MaxBatchedTokens: 2048, MaxSeqs: 64, TTFTOverheadS: 0.01,
		Cost: &engine.Linear{BaseMS: 10, SequenceMS: 0.05, ContextMS: 1e-4, PrefillMS: 0.05}}
	p.Bench = PresetBench{Setup: Setup{Model: "M", GPU: "G", TensorParallel: 2}, Facts: NoFacts}
	return p
}

func validated(t *testing.T, p *Preset, b *Bench, o ValidateOptions) *Validation {
	t.Helper()
	o.Seed = 1
	if o.Facts == (Facts{}) {
		o.Facts = NoFacts
	}
	v, err := Validate(p, b, o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestValidateIdeal: what a preset predicts exactly has no error, and the rows
// that its blocks limit are told from the growth of TTFT alone.
func TestValidateIdeal(t *testing.T) {
	p := idealPreset()
	v := validated(t, p, ideal(t, p, p.Bench.Setup), ValidateOptions{})
	if v.All.Runs != 10 || v.All.TTFT != 0 || v.All.TPOT != 0 || v.All.OutputTokensPer != 0 {
		t.Errorf("errors %+v, want none over 10 runs", v.All)
	}
	if v.KVBoth != v.KVMeasured || v.KVBoth != v.KVSimulated || v.KVBoth < 1 || v.Steady.Runs != 10-v.KVBoth {
		t.Errorf("KV-bound: %d measured, %d simulated, %d both; %d runs without", v.KVMeasured, v.KVSimulated, v.KVBoth, v.Steady.Runs)
	}
	if len(v.Warnings) > 0 {
		t.Errorf("warnings %v", v.Warnings)
	}
}

// TestValidateErrors: errors are relative, signed a row, absolute in the mean.
func TestValidateErrors(t *testing.T) {
	p := idealPreset()
	b := ideal(t, p, p.Bench.Setup)
	for i := range b.Rows {
		b.Rows[i].TPOTMean /= []float64{1.1, 0.9}[i%2]
		b.Rows[i].OutputTokensPerS = 1000
	}
	v := validated(t, p, b, ValidateOptions{})
	near(t, "TPOT error of the first row", float64(v.Rows[0].Error.TPOT), 0.1, 1e-9)
	near(t, "TPOT error of the second row", float64(v.Rows[1].Error.TPOT), -0.1, 1e-9)
	near(t, "mean", float64(v.All.TPOT), 0.1, 1e-9)
	s := simulate(t, p.Engine(), clock.FromSeconds(p.TTFTOverheadS), b.Rows[0])
	near(t, "throughput of the whole run", float64(v.Rows[0].Simulated.OutputTokensPer), s.OutputTokensPerS, 1e-9)
}

// TestValidateOddRow: a run that is faster than several with less to do is told,
// and is no part of the mean.
func TestValidateOddRow(t *testing.T) {
	p := idealPreset()
	b := ideal(t, p, p.Bench.Setup)
	odd := 7 // 8 clients of the longer prompts
	b.Rows[odd].TPOTMean *= 0.4
	v := validated(t, p, b, ValidateOptions{})
	for i, c := range v.Rows {
		if got := len(c.Contradicts) > 0; got != (i == odd) {
			t.Errorf("row %d: contradicts %v", i, c.Contradicts)
		}
	}
	if v.Steady.TPOT != 0 || v.All.TPOT == 0 {
		t.Errorf("errors %+v and %+v, want the odd row in the second only", v.Steady, v.All)
	}
	var out bytes.Buffer
	if err := v.Print(&out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "odd: line 9 has a lower TPOT than lines") {
		t.Errorf("printed without the odd line:\n%s", &out)
	}
}

// TestValidateSetup: runs of other setups are left out and counted; without runs
// of the preset's setup the nearest are used, with a warning for each difference.
func TestValidateSetup(t *testing.T) {
	p := idealPreset()
	mine, other := ideal(t, p, p.Bench.Setup), ideal(t, p, Setup{Model: "other", GPU: "G", TensorParallel: 2})
	both := &Bench{File: "both.csv", Rows: slices.Concat(mine.Rows, other.Rows)}
	if v := validated(t, p, both, ValidateOptions{}); v.LeftOut != 10 || len(v.Rows) != 10 || v.Setup.Model != "M" || len(v.Warnings) > 0 {
		t.Errorf("%d runs of %s, %d left out, warnings %v", len(v.Rows), v.Setup, v.LeftOut, v.Warnings)
	}
	if v := validated(t, p, both, ValidateOptions{Want: Setup{Model: "other"}}); v.Setup.Model != "other" || len(v.Warnings) != 1 ||
		v.Warnings[0] != `preset ideal is for model M, the runs say "other"` {
		t.Errorf("asked for the other model: %s, warnings %v", v.Setup, v.Warnings)
	}
	card := ideal(t, p, Setup{Model: "M", GPU: "other card", TensorParallel: 2})
	if v := validated(t, p, card, ValidateOptions{}); len(v.Warnings) != 1 || v.Warnings[0] != `preset ideal is for gpu G, the runs say "other card"` {
		t.Errorf("other card: warnings %v", v.Warnings)
	}
	if v := validated(t, p, other, ValidateOptions{}); len(v.Rows) != 10 || len(v.Warnings) != 1 {
		t.Errorf("one other setup: %d runs, warnings %v", len(v.Rows), v.Warnings)
	}
	said := ideal(t, p, Setup{Model: "org/m"})
	if v := validated(t, p, said, ValidateOptions{}); len(v.Warnings) != 1 || !strings.HasPrefix(v.Warnings[0], "the runs do not say gpu, tensor_parallel: ") {
		t.Errorf("runs that say the model alone: warnings %v", v.Warnings)
	}
	p.Bench.Setup = Setup{}
	if _, err := Validate(p, both, ValidateOptions{Facts: NoFacts}); err == nil || !strings.Contains(err.Error(), "both.csv: 2 setups fit preset ideal") {
		t.Errorf("a preset that fits two setups: error %v", err)
	}
}

// TestValidateFacts: what the preset says of its bench holds unless asked
// otherwise.
func TestValidateFacts(t *testing.T) {
	p := idealPreset()
	p.Bench.Facts = Facts{LengthRatio: 0.8, RequestsPerClient: 5, Waiting: 1, OnePrompt: true, NoPrefixCaching: true}
	b := ideal(t, p, p.Bench.Setup)
	if v := validated(t, p, b, ValidateOptions{}); v.Facts != p.Bench.Facts {
		t.Errorf("facts %+v, want the preset's", v.Facts)
	}
	asked := Facts{LengthRatio: 1, RequestsPerClient: 2, Waiting: 0}
	v := validated(t, p, b, ValidateOptions{Facts: asked})
	if want := (Facts{LengthRatio: 1, RequestsPerClient: 2, OnePrompt: true, NoPrefixCaching: true}); v.Facts != want {
		t.Errorf("facts %+v, want %+v", v.Facts, want)
	}
}

// TestValidateJSON: the document is valid, also where a figure is undefined.
func TestValidateJSON(t *testing.T) {
	p := idealPreset()
	b := ideal(t, p, p.Bench.Setup)
	b.Rows = b.Rows[:1]
	b.Rows[0].Input = equalLengths(30000)
	v := validated(t, p, b, ValidateOptions{})
	var out bytes.Buffer
	if err := v.JSON(&out); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Rows []struct {
			Failed string
			Error  struct{ TTFT *float64 }
		}
		Warnings []string
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Rows[0].Failed == "" || doc.Rows[0].Error.TTFT != nil || len(doc.Warnings) != 1 {
		t.Errorf("a run that does not fit: %+v", doc)
	}
}

// sharedBench is public measured runs that are no part of the project.
const sharedBench = "../../shared/data/bench/h100_closed_loop.csv"

// TestMeasuredPresets holds the fitted presets to the runs that they are fitted
// to: mean errors of at most 3 % in TPOT, 15 % in TTFT and 5 % in throughput, and
// the same runs KV-bound.
func TestMeasuredPresets(t *testing.T) {
	if _, err := os.Stat(sharedBench); err != nil {
		t.Skipf("no measured runs at %s", sharedBench)
	}
	for name, runs := range map[string]int{
		"llama-3.3-70b-fp8-h100-tp2": 15, "llama-3.3-70b-fp8-h100-tp4": 15, "qwen3-32b-bf16-h100-tp2": 31, "llama-3.1-8b-bf16-h100-tp1": 42,
	} {
		v := validateShared(t, name)
		if e := v.Steady; len(v.Rows) != runs || !(e.TPOT <= 0.03) || !(e.TTFT <= 0.15) || !(e.OutputTokensPer <= 0.05) {
			t.Errorf("%s: errors %+v over %d runs", name, e, len(v.Rows))
		}
		for _, c := range v.Rows {
			if c.Measured.KVBound != c.Simulated.KVBound {
				t.Errorf("%s: line %d KV-bound: %v measured, %v simulated", name, c.Line, c.Measured.KVBound, c.Simulated.KVBound)
			}
		}
	}
}

func validateShared(t *testing.T, preset string) *Validation {
	t.Helper()
	p, err := Load(preset)
	if err != nil {
		t.Fatal(err)
	}
	b, err := ReadBench(sharedBench, BenchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return validated(t, p, b, ValidateOptions{})
}
