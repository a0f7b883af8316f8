package paper

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cacheroute/results"
	"cacheroute/scenarios"
)

func runTables(t *testing.T, workers int, dir string, tables ...string) *Report {
	t.Helper()
	r, err := Run(context.Background(), Options{Tables: tables, Seeds: []uint64{3}, Workers: workers, Dir: dir, Tally: &scenarios.Tally{}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestDeterminism: neither the number of workers nor the folder changes a byte
// of the document.
func TestDeterminism(t *testing.T) {
	var texts [2]bytes.Buffer
	for i, workers := range []int{1, 3} {
		if err := runTables(t, workers, t.TempDir(), "11", "15").JSON(&texts[i]); err != nil {
			t.Fatal(err)
		}
	}
	if texts[0].String() != texts[1].String() {
		t.Error("1 and 3 workers give different documents")
	}
}

// TestWrite: the folder holds a page that allows no script, and studies that
// load by themselves, wherever the folder is moved.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	r := runTables(t, 0, dir, "11")
	if err := r.Write(dir, "test"); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	html, err := os.ReadFile(PagePath(moved))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"default-src &#39;none&#39;", "Trace blocks, CV=2.73", "Table 11", "22,639"} {
		if !strings.Contains(string(html), want) && !strings.Contains(string(html), strings.ReplaceAll(want, "&#39;", "'")) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Contains(string(html), "<script") {
		t.Error("the page has a script")
	}
	for _, name := range []string{"primary", "gamma", "blocks"} {
		s, err := scenarios.Load(filepath.Join(moved, studiesFolder, name+".yaml"), scenarios.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := scenarios.Prepare(s, nil); err != nil {
			t.Error(err)
		}
	}
}

// TestUnknownSwitch: a study that names what this build does not know is told
// with its reason, and the others run.
func TestUnknownSwitch(t *testing.T) {
	e := &entry{recipe: recipe{name: "odd", set: []string{"workload.weather=rain"}}}
	if err := e.prepare(t.TempDir(), nil); err != nil {
		t.Fatal(err)
	}
	b := &bench{byName: map[string]*entry{"odd": e}}
	tb := table{source: source{Study: "odd", Kind: "hit"}, Columns: []column{{Name: "KV hit"}}, Rows: []row{{Name: "a", Paper: []string{"5"}}}}
	got, err := b.table(&tb)
	if err != nil {
		t.Fatal(err)
	}
	cell := got.Rows[0].Cells[0]
	if cell.Verdict != NotRun || cell.Simulated != nil || !strings.Contains(cell.Reason, "workload.weather: unknown field") {
		t.Errorf("%+v", cell)
	}
}

func TestUnknownTable(t *testing.T) {
	var bad *scenarios.BadInput
	if _, err := Run(context.Background(), Options{Tables: []string{"16"}, Tally: &scenarios.Tally{}}); !errors.As(err, &bad) {
		t.Errorf("table 16: %v, want bad input", err)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Run(ctx, Options{Tables: []string{"15"}, Dir: t.TempDir(), Tally: &scenarios.Tally{}}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was stopped", err)
	}
}

// TestSeedRatios: the interval of a multiplier is that of its seeds' ratios.
func TestSeedRatios(t *testing.T) {
	knees := func(qps ...float64) (n Number) {
		for _, q := range qps {
			n.PerSeed = append(n.PerSeed, results.SeedCapacity{Capacity: results.Capacity{QPS: q}})
		}
		return n
	}
	if got, want := seedRatios(knees(60, 80, 120), knees(60, 40, 40)), results.NewInterval([]float64{1, 2, 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestMultiplier: what the ladder has cut off gives no ratio.
func TestMultiplier(t *testing.T) {
	capacity := func(policy string, qps float64, c results.Censor) results.CapacityRow {
		row := results.CapacityRow{Policy: policy, SLO: 3.5, QPS: results.NewInterval([]float64{qps, qps}), Censor: c}
		for seed := range 2 {
			row.PerSeed = append(row.PerSeed, results.SeedCapacity{Seed: uint64(seed), Capacity: results.Capacity{QPS: qps, Censor: c}})
		}
		return row
	}
	for _, c := range []struct {
		own, other       float64
		ownCut, otherCut results.Censor
		want             string
	}{
		{160, 100, results.CensorNone, results.CensorNone, "1.60"},
		{500, 160, results.CensorRight, results.CensorNone, "≥3.12"},
		{500, 500, results.CensorRight, results.CensorRight, "- (cut off)"},
		{0, 0, results.CensorLeft, results.CensorLeft, "- (0/0)"},
		{60, 0, results.CensorNone, results.CensorLeft, "inf"},
		{0, 60, results.CensorLeft, results.CensorNone, "0.00"},
	} {
		e := &entry{study: &scenarios.Study{LoadsQPS: []float64{30, 500}, Policies: []scenarios.Policy{{Label: "b"}, {Label: "a"}}}, runner: &scenarios.Runner{}}
		e.summary.Capacity = []results.CapacityRow{capacity("a", c.own, c.ownCut), capacity("b", c.other, c.otherCut)}
		b := &bench{byName: map[string]*entry{"s": e}}
		for _, over := range []string{"b", "best"} {
			n, reason := b.measure(source{Study: "s", Policy: "a", Kind: "multiplier", Over: over, SLO: 3.5})
			if reason != "" || n.Text != c.want {
				t.Errorf("%v over %v: %q (%s), want %q", c.own, c.other, n.Text, reason, c.want)
			}
		}
	}
}
