package results

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var equateNaN = cmp.Comparer(same)

// study is two policies at three loads with two seeds, in the order of policies
// that their caller chose.
func study() Summary {
	loads := []float64{30, 60, 120}
	inf := math.Inf(1)
	var cells []Cell
	for _, c := range []struct {
		policy string
		seed   uint64
		p99    []float64
	}{
		{"sticky", 2, []float64{1.234, 3.1, inf}}, {"sticky", 3, []float64{1.5, 2.9, 12.35}},
		{"chwbl", 2, []float64{0.5, 0.75, 1}}, {"chwbl", 3, []float64{0.5, 3.01, 114}},
	} {
		cells = append(cells, ladderOf(c.policy, c.seed, loads, c.p99)...)
	}
	cells[0].Requests, cells[0].TPOTP50 = 50, undefined
	cells[0].Warnings = warnings(50)
	return Summarise("small", cells, []float64{2, 3}, 0.05)
}

func TestSummariseOrder(t *testing.T) {
	s := study()
	shuffled := []Cell{}
	for i := range s.Cells { // the first is of the first policy
		shuffled = append(shuffled, s.Cells[(i*5)%len(s.Cells)])
	}
	before := append([]Cell(nil), shuffled...)
	again := Summarise("small", shuffled, []float64{2, 3}, 0.05)
	if d := cmp.Diff(s, again, equateNaN); d != "" {
		t.Errorf("another order of cells, another summary:\n%s", d)
	}
	if d := cmp.Diff(before, shuffled, equateNaN); d != "" {
		t.Errorf("the cells given have changed:\n%s", d)
	}
	if s.SimulatedRequests != 12*1200 {
		t.Errorf("simulated requests = %d", s.SimulatedRequests)
	}
	row := s.Ladder[2]
	if row.Policy != "sticky" || row.LoadQPS != 120 || row.TTFTP99.Mean != infinite || row.Requests != 2000 {
		t.Errorf("third row of the ladder is %+v", row)
	}
	if got := s.Ladder[0].KVHit.Mean; math.Abs(float64(got)-0.525) > 1e-12 {
		t.Errorf("hit = %v", got)
	}
}

func text(t *testing.T, s Summary) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := s.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSummaryRoundTrip(t *testing.T) {
	s := study()
	s.WallS, s.CPUS = 1.5, 2.25
	path := filepath.Join(t.TempDir(), "summary.json")
	if err := WriteSummary(path, &s); err != nil {
		t.Fatal(err)
	}
	back, err := ReadSummary(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(s, back, equateNaN); d != "" {
		t.Errorf("read back:\n%s", d)
	}
	if !strings.Contains(text(t, s), `"ttft_p99_s":null`) {
		t.Error("an infinite p99 is not null")
	}
}

// Runs differ in their last two lines only.
func TestTimesAreOnLinesOfTheirOwn(t *testing.T) {
	a, b := study(), study()
	a.WallS, a.CPUS, b.WallS, b.CPUS = 1, 2, 3, 4
	left, right := strings.Split(text(t, a), "\n"), strings.Split(text(t, b), "\n")
	n := len(left) - 4 // wall_s, cpu_s, }, nothing
	if d := cmp.Diff(left[:n], right[:n]); d != "" {
		t.Errorf("lines before the times differ:\n%s", d)
	}
	if got, want := strings.Join(right[n:], "\n"), "  \"wall_s\": 3,\n  \"cpu_s\": 4\n}\n"; got != want {
		t.Errorf("last lines are %q, want %q", got, want)
	}
}

func TestReadSummaryRefuses(t *testing.T) {
	whole := text(t, study())
	for name, c := range map[string]struct{ text, want string }{
		"truncated":     {whole[:len(whole)/2], "unexpected EOF"},
		"empty":         {"", "EOF"},
		"other fields":  {strings.Replace(whole, "kv_hit_turn", "kv_hit_round", 1), "unknown field"},
		"another file":  {`{"study": "x"}`, "missing"},
		"without cells": {strings.Replace(whole, `"policy":"sticky",`, "", 1), "no policy"},
		"two of them":   {whole + whole, "after the end"},
	} {
		path := filepath.Join(t.TempDir(), "summary.json")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := ReadSummary(path)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q and the path", name, err, c.want)
		}
	}
}
