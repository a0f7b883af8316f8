package results

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestDoubts: what holds for the study as a whole is said when it holds only.
func TestDoubts(t *testing.T) {
	rules := map[string]string{"planned": "cacheroute"}
	cells := append(paperlike("planned", all(0), all(180), all(180)), paperlike("b", all(0), all(120), all(120))...)
	s := Summarise("small", cells, []float64{3.5}, 0.05)
	text := strings.Join(s.generalDoubts(rules), "\n")
	if !strings.Contains(text, "planned plans with the true rates") || strings.Contains(text, "Slowest") || strings.Contains(text, "Fewer") {
		t.Errorf("planned leads: %q", text)
	}
	for i := range s.Cells[:5] {
		s.Cells[i].TTFTP99, s.Cells[i].Requests = 3.2, 99
	}
	s = Summarise("small", s.Cells, []float64{3.5}, 0.05)
	text = strings.Join(s.generalDoubts(map[string]string{"planned": "sticky"}), "\n")
	for _, want := range []string{
		"Slowest at the lowest load, where caches fill last: planned; ",
		"Fewer than 100 requests: p99 is the maximum (5 of 80 cells, the first planned, 30 requests/s, seed 2)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
	if strings.Contains(text, "true rates") {
		t.Errorf("a policy without a plan: %q", text)
	}
	if d := s.PlanDoubts(map[string]string{"b": "cacheroute"}); d != nil {
		t.Errorf("a plan that does not lead: %q", d)
	}
}

// TestStyles: a known policy has its look whatever the study, and no two
// policies share one.
func TestStyles(t *testing.T) {
	for _, c := range []struct {
		policies []string
		want     []int
	}{
		{[]string{"flat-lb", "cacheroute"}, []int{0, 5}},
		{[]string{"cacheroute", "preble"}, []int{5, 4}},
		{[]string{"mine", "flat-lb", "yours"}, []int{1, 0, 2}},
	} {
		if d := cmp.Diff(c.want, styles(c.policies)); d != "" {
			t.Errorf("%v:\n%s", c.policies, d)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		policies := rapid.SliceOfNDistinct(rapid.OneOf(rapid.SampledFrom(styled), rapid.StringN(1, 3, 9)), 1, 30, rapid.ID).Draw(t, "policies")
		seen := map[int]bool{}
		for _, style := range styles(policies) {
			if seen[style] {
				t.Fatalf("%v: %v", policies, styles(policies))
			}
			seen[style] = true
		}
	})
}

// TestLogInterval: on a scale of factors the interval is never below 0 and, of
// equal factors, as wide to either side.
func TestLogInterval(t *testing.T) {
	i := logInterval([]float64{1, 10, 100})
	if i.Mean != 37 || math.Abs(float64(i.Lo*i.Hi)-100) > 1e-9 || !(i.Lo > 0) {
		t.Errorf("%+v", i)
	}
	if i := logInterval([]float64{1, math.Inf(1)}); !math.IsInf(float64(i.Mean), 1) || i.Lo.Finite() {
		t.Errorf("%+v", i)
	}
}

// TestHitsMissing: a page without one hit rate says why.
func TestHitsMissing(t *testing.T) {
	nan := Float(math.NaN())
	for _, c := range []struct {
		cells []Cell
		want  string
	}{
		{[]Cell{{KVHit: nan, Completed: 1}, {KVHit: 0, Completed: 1}}, ""},
		{[]Cell{{KVHit: nan, Completed: 1}, {KVHit: nan}}, "does not say what prompts share"},
		{[]Cell{{KVHit: nan}}, "No request reached a batch"},
	} {
		s := Summary{Cells: c.cells}
		if got := s.hitsMissing(); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%+v: %q, want %q", c.cells, got, c.want)
		}
	}
}
