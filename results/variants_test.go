package results

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// twoVariants are a variant with many policies and one with a single policy and
// another objective; one value is longer than a column.
func twoVariants() *Variants {
	long := "{name: lognormal, mean: 1370, sigma: 0.95}"
	v := &Variants{Study: "s", Axes: []VariantAxis{{"destinations", "fleet.destinations", []string{"2", "4"}}, {"turn_tokens", "workload.prompt.turn_tokens", []string{"9", long}}}}
	loads := []float64{10, 20, 40}
	var cells []Cell
	for i := range 9 {
		for seed := range uint64(2) {
			cells = append(cells, ladderOf(fmt.Sprintf("policy-%d", i), seed, loads, []float64{1, 2, 9})...)
		}
	}
	many := Summarise("s,a", cells, []float64{3}, 0.05)
	v.Add("a", []string{"2", "9"}, &many)
	single := Summarise("s,b", ladderOf("policy-8", 1, loads, []float64{5, 7, 9}), []float64{3, 1}, 0.05)
	v.Add("b", []string{"4", long}, &single)
	return v
}

// Every variant and policy has its place within the width of a page, and a dash
// where a variant lacks a policy or an objective.
func TestPrintVariants(t *testing.T) {
	var b bytes.Buffer
	if err := PrintVariants(&b, twoVariants(), Style{}); err != nil {
		t.Fatal(err)
	}
	for i := range 9 {
		if n := strings.Count(b.String(), fmt.Sprintf("policy-%d", i)); n != 2 {
			t.Errorf("policy-%d heads %d columns, want one for each of 2 objectives", i, n)
		}
	}
	for line := range strings.Lines(b.String()) {
		if w := width(strings.TrimSuffix(line, "\n")); w > lineWidth {
			t.Errorf("%d columns: %s", w, line)
		}
	}
	for _, want := range []string{"2                             9      20 (<40)", "4  {name: lognormal, mean: 137…             -", "<10", "<: fails at the lowest load"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}

func TestVariantFiles(t *testing.T) {
	v := twoVariants()
	var b bytes.Buffer
	if err := v.CSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 1+9+2 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if got := strings.Join(rows[11], "|"); got != "b|4|"+v.Axes[1].Values[1]+"|policy-8|1|0.05|0|||left|1|1|0" {
		t.Errorf("last row %s", got)
	}
	b.Reset()
	if err := v.JSON(&b); err != nil {
		t.Fatal(err)
	}
	var back Variants
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back.Variants) != 2 || back.Variants[1].Capacity[0].Censor != CensorLeft || back.Axes[0].Path != "fleet.destinations" {
		t.Errorf("%v: %s", err, &b)
	}
}
