package calib

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cacheroute/results"
)

// full also runs what takes minutes.
var full = flag.Bool("full", false, "also fit all measured setups without each shape in turn, which takes minutes")

const calibratePage = "../docs/calibrate.md"

// measuredSetups are those of the public runs, with what is known of how they
// were run, or what a search finds. Lines are of the runs whose TTFT shows a full
// KV cache.
var measuredSetups = []struct {
	name  string
	want  Setup
	facts Facts
	full  []int
	quick bool // fitted in every test
}{
	{"Llama-3.1-8B bf16 TP1, TensorRT-LLM", Setup{Model: "Llama-3.1-8B-Instruct"}, Facts{LengthRatio: 1, RequestsPerClient: 10, Waiting: 1, OnePrompt: true}, nil, false},
	{"Llama-3.3-70B fp8 TP2, vLLM", Setup{Model: "Llama-3.3-70B-Instruct-FP8", TensorParallel: 2}, Facts{LengthRatio: 0.8, RequestsPerClient: 10, NoPrefixCaching: true}, []int{53, 57, 58}, true},
	{"Llama-3.3-70B fp8 TP4, vLLM", Setup{Model: "Llama-3.3-70B-Instruct-FP8", TensorParallel: 4}, Facts{LengthRatio: 0.8, RequestsPerClient: 10, NoPrefixCaching: true}, nil, true},
	{"Qwen3-32B bf16 TP2, vLLM", Setup{Model: "Qwen3-32B"}, Facts{LengthRatio: 1, RequestsPerClient: 10, OnePrompt: true}, []int{94, 99, 103, 104}, false},
}

func measuredGroup(t *testing.T, want Setup) Group {
	t.Helper()
	b, err := ReadBench(sharedBench, BenchOptions{})
	if os.IsNotExist(err) || b == nil {
		t.Skipf("no measured runs: %v", err)
	}
	groups, err := b.Groups(want)
	if err != nil {
		t.Fatal(err)
	}
	return groups[0]
}

// fillCalibratePage replaces or checks a generated part of docs/calibrate.md.
func fillCalibratePage(t *testing.T, part, table string) {
	t.Helper()
	page, err := os.ReadFile(calibratePage)
	if err != nil {
		t.Fatal(err)
	}
	at := regexp.MustCompile(`(?s)(<!-- generated: ` + part + ` -->\n).*?(<!-- end -->)`)
	if !at.Match(page) {
		t.Fatalf("%s has no part %q", calibratePage, part)
	}
	text := at.ReplaceAllString(string(page), "${1}"+table+"${2}")
	if *updateDocs {
		err = results.WriteFileAtomic(calibratePage, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
	} else if text != string(page) {
		err = fmt.Errorf("%s is out of date: go test ./calib -run Measured -full -update", calibratePage)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestMeasuredRuns fits public runs, how they were run given, and holds each
// shape out in turn.
func TestMeasuredRuns(t *testing.T) {
	table := "| setup | runs | TPOT | TTFT | output tokens/s |\n|---|--:|--:|--:|--:|\n"
	for _, c := range measuredSetups {
		if !c.quick && !*full {
			continue
		}
		g := measuredGroup(t, c.want)
		f, err := FitCosts(g, FitOptions{Form: "linear", Facts: c.facts, MaxBatchedTokens: 8192, MaxSeqs: 256, BlockTokens: 16, Refine: true, Seed: 1})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if e := f.HeldOut; !(e.TPOT <= 0.03 && e.TTFT <= 0.15 && e.OutputTokensPer <= 0.05) {
			t.Errorf("%s: held-out errors %+v above 3 %% of TPOT, 15 %% of TTFT or 5 %% of output rate", c.name, e)
		}
		var measured, simulated []int
		for _, r := range f.Rows {
			if r.Measured.KVBound {
				measured = append(measured, r.Line)
			}
			if r.Fit.KVBound {
				simulated = append(simulated, r.Line)
			}
		}
		if !slices.Equal(measured, c.full) || !slices.Equal(simulated, c.full) {
			t.Errorf("%s: KV-bound lines %v, simulated %v, want %v", c.name, measured, simulated, c.full)
		}
		row := fmt.Sprintf("| %s | %d | %s |\n", c.name, len(g.Rows), errorCells(f.HeldOut))
		if page, err := os.ReadFile(calibratePage); err != nil || !*updateDocs && !strings.Contains(string(page), row) {
			t.Errorf("%s has no row %s(%v)", calibratePage, row, err)
		}
		table += row
	}
	if *full {
		fillCalibratePage(t, "facts given", table)
	}
}

func errorCells(e Errors) string {
	return fmt.Sprintf("%s %% | %s %% | %s %%", percentOf(e.TPOT), percentOf(e.TTFT), percentOf(e.OutputTokensPer))
}

// TestMeasuredShapes leaves each shape out of everything, also of the search for
// how the bench was run: calibrate without it, then validate on it.
func TestMeasuredShapes(t *testing.T) {
	if !*full {
		t.Skip("takes minutes: run it with -full")
	}
	table := "| setup | TPOT | TTFT | output tokens/s | KV-bound runs found | worst shape by TPOT |\n|---|--:|--:|--:|--:|---|\n"
	for _, c := range measuredSetups {
		g := measuredGroup(t, c.want)
		var all meanErrors
		worst, worstShape, bound, found := 0.0, Shape{}, 0, 0
		for _, shape := range (&fitter{rows: g.Rows}).shapes() {
			var one meanErrors
			for _, check := range predictShape(t, g, shape) {
				if check.steady() {
					one.add(check.Error)
					all.add(check.Error)
				}
				if check.Measured.KVBound || check.Simulated.KVBound {
					bound++
				}
				if check.Measured.KVBound && check.Simulated.KVBound {
					found++
				}
			}
			if e := float64(one.mean().TPOT); e > worst {
				worst, worstShape = e, shape
			}
			t.Logf("%s, %v: %+v", c.name, shape, one.mean())
		}
		table += fmt.Sprintf("| %s | %s | %d of %d | %d in, %d out: %.1f %% |\n", c.name, errorCells(all.mean().Errors), found, bound,
			worstShape.Input, worstShape.Output, 100*worst)
	}
	fillCalibratePage(t, "left out", table)
}

// predictShape calibrates without a shape and validates on it.
func predictShape(t *testing.T, g Group, shape Shape) (checks []Check) {
	t.Helper()
	rest := g
	rest.Rows = slices.DeleteFunc(slices.Clone(g.Rows), func(r BenchRow) bool { return r.Shape() == shape })
	f, err := FitCosts(rest, FitOptions{Form: "linear", Facts: NoFacts, MaxSeqs: 256, BlockTokens: 16, Refine: true, Seed: 1})
	if err != nil {
		t.Fatalf("%s without %v: %v", g.Setup, shape, err)
	}
	var preset bytes.Buffer
	if err := f.WritePreset(&preset); err != nil {
		t.Fatal(err)
	}
	p, err := Parse(preset.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	lines := map[int]bool{}
	for _, r := range g.Rows {
		lines[r.Line] = r.Shape() == shape
	}
	for _, c := range validated(t, p, &g.Bench, ValidateOptions{}).Rows {
		if lines[c.Line] {
			checks = append(checks, c)
		}
	}
	return checks
}
