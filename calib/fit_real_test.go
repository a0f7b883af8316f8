package calib

import (
	"os"
	"slices"
	"testing"
)

// measuredBench is a collection of public runs, beside the project.
const measuredBench = "../../shared/data/bench/h100_closed_loop.csv"

// TestMeasuredRuns fits public runs and holds each shape out in turn. The facts
// are given, as finding them takes a while; without them calibrate finds the same
// or ones that are as near.
func TestMeasuredRuns(t *testing.T) {
	if _, err := os.Stat(measuredBench); err != nil {
		t.Skipf("no measured runs: %v", err)
	}
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	b, err := ReadBench(measuredBench, BenchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		setup Setup
		facts Facts
		full  []int // lines of the runs whose TTFT shows a full KV cache
	}{
		{Setup{Model: "Llama-3.1-8B-Instruct"}, Facts{LengthRatio: 1, RequestsPerClient: 10, Waiting: 1, OnePrompt: true}, nil},
		{Setup{Model: "Llama-3.3-70B-Instruct-FP8", TensorParallel: 2}, Facts{LengthRatio: 0.8, RequestsPerClient: 10}, []int{53, 57, 58}},
		{Setup{Model: "Llama-3.3-70B-Instruct-FP8", TensorParallel: 4}, Facts{LengthRatio: 0.8, RequestsPerClient: 10}, nil},
		{Setup{Model: "Qwen3-32B"}, Facts{LengthRatio: 1, RequestsPerClient: 10, OnePrompt: true}, []int{94, 99, 103, 104}},
	} {
		groups, err := b.Groups(c.setup)
		if err != nil {
			t.Fatal(err)
		}
		f, err := FitCosts(groups[0], FitOptions{Form: "linear", Facts: c.facts, MaxBatchedTokens: 8192, MaxSeqs: 256, BlockTokens: 16, Refine: true, Seed: 1})
		if err != nil {
			t.Errorf("%s: %v", groups[0].Setup, err)
			continue
		}
		t.Logf("%s: TPOT %.2f %%, TTFT %.1f %%; shapes held out %.2f %%, %.1f %%", f.Setup,
			100*f.Error.TPOT, 100*f.Error.TTFT, 100*f.HeldOut.TPOT, 100*f.HeldOut.TTFT)
		if !(f.HeldOut.TPOT <= 0.03 && f.HeldOut.TTFT <= 0.15 && f.HeldOut.OutputTokensPer <= 0.05) {
			t.Errorf("%s: held-out errors above 3 %% of TPOT, 15 %% of TTFT or 5 %% of output rate", f.Setup)
		}
		var full, simulated []int
		for _, r := range f.Rows {
			if r.Measured.KVBound {
				full = append(full, r.Line)
			}
			if r.Fit.KVBound {
				simulated = append(simulated, r.Line)
			}
		}
		if !slices.Equal(full, c.full) || !slices.Equal(simulated, c.full) {
			t.Errorf("%s: KV-bound lines %v, simulated %v, want %v", f.Setup, full, simulated, c.full)
		}
	}
}
