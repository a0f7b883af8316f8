package paper

import (
	"math"
	"testing"

	"cacheroute/results"
)

var primaryLadder = []float64{30, 60, 80, 100, 120, 140, 160, 180, 220, 300}

// number reads a number as tables.yaml has it.
func number(t *testing.T, text, kind string) Number {
	t.Helper()
	n, ok, err := parseNumber(text, kind)
	if err != nil || !ok {
		t.Fatalf("%q: %v", text, err)
	}
	return n
}

func TestByValue(t *testing.T) {
	for _, c := range []struct {
		kind, paper, simulated string
		want                   bool
	}{
		{"hit", "64.1±1.3", "67.1", true}, // 3.0 off
		{"hit", "64.1±1.3", "67.2", false},
		{"hit", "77±9", "69", true}, // in the paper's interval only
		{"capacity", "30", "60", true},
		{"capacity", "30", "80", false},
		{"capacity", "<30", "30", true},
		{"capacity", "<30", "31", false},
		{"capacity", "30", "<30", true},
		{"capacity", "<30", "<30", true},
		{"capacity", "<30", "60", false},
		{"capacity", "64±11", "92", false}, // 1.4 rungs
		{"capacity", "64±11", "84", true},  // exactly one
		{"capacity", "42±20", "22", true},  // in the interval
		{"capacity", ">300", ">300", true},
		{"capacity", ">300", "300", false}, // the truth may be far above
		{"capacity", "300", ">300", false},
		{"capacity", "220", ">300", false},
		{"p99", "5.7", "7.12", true},
		{"p99", "5.7", "7.13", false},
		{"p99", "5.7", "4.28", true},
		{"ms", "-119", "-100", true},
		{"ms", "-119", "119", false},
		{"points", "-0.1", "2.9", true},
		{"points", "-0.1", "3.0", false},
		{"share", "<0.3", "0.29", true},
		{"share", "<0.3", "0.3", false},
		{"multiplier", "2..6", "2", true},
		{"multiplier", "2..6", "1.99", false},
		{"gini", "0.756", "0.78", true},
		{"gini", "0.756", "0.79", false},
		{"limit", "345", "345", true},
		{"limit", "345", "690", false},
		{"churn", "0.0", "3", true},
	} {
		j := judged{kind: c.kind, ladder: primaryLadder, paper: number(t, c.paper, c.kind), simulated: number(t, c.simulated, c.kind)}
		if got := j.byValue(); got != c.want {
			t.Errorf("%s: paper %s, simulated %s: value %v, want %v", c.kind, c.paper, c.simulated, got, c.want)
		}
	}
	for _, x := range []float64{math.Inf(1), math.NaN()} {
		j := judged{kind: "p99", paper: number(t, "5.7", "p99"), simulated: exactly(x)}
		if j.byValue() {
			t.Errorf("p99 of %v agrees by value", x)
		}
	}
}

// column makes the rivals of a column from pairs of paper and simulated.
func rivals(t *testing.T, kind string, pairs ...[2]string) (all []*judged) {
	for i, p := range pairs {
		all = append(all, &judged{kind: kind, ladder: primaryLadder, name: string(rune('a' + i)), paper: number(t, p[0], kind), simulated: number(t, p[1], kind)})
	}
	return all
}

func TestVerdict(t *testing.T) {
	type pairs = [][2]string
	for _, c := range []struct {
		what      string
		kind      string
		reference string
		rivals    pairs
		want      []Verdict
	}{
		{"all double: ratios hold, the reference itself has none but its place", "p99", "a",
			pairs{{"2", "4"}, {"4", "8"}, {"8", "16"}}, []Verdict{ByOrder, ByRatio, ByRatio}},
		{"no reference: order only", "p99", "",
			pairs{{"2", "4"}, {"4", "8"}, {"8", "16"}}, []Verdict{ByOrder, ByOrder, ByOrder}},
		{"a number alone has no order", "p99", "a", pairs{{"2", "4"}}, []Verdict{Miss}},
		{"turned round", "p99", "a", pairs{{"2", "9"}, {"4", "1"}}, []Verdict{Miss, Miss}},
		{"one in the wrong place takes those it passes with it", "hit", "",
			pairs{{"10", "40"}, {"20", "50"}, {"30", "45"}}, []Verdict{ByOrder, Miss, Miss}},
		{"a tie of the paper must be one here", "hit", "",
			pairs{{"50", "20"}, {"50", "30"}}, []Verdict{Miss, Miss}},
		{"and is one within the tolerance", "hit", "",
			pairs{{"50", "20"}, {"50", "22"}}, []Verdict{ByOrder, ByOrder}},
		{"near numbers of the paper may stand in either order while they are near", "hit", "",
			pairs{{"50", "22"}, {"52", "20"}}, []Verdict{ByOrder, ByOrder}},
		{"but not far apart", "hit", "", pairs{{"50", "30"}, {"52", "20"}}, []Verdict{Miss, Miss}},
		{"numbers that are apart must stay so, if only just", "hit", "",
			pairs{{"50", "20"}, {"60", "20.1"}}, []Verdict{ByOrder, ByOrder}},
		{"equal ones are not apart", "hit", "", pairs{{"50", "20"}, {"60", "20"}}, []Verdict{Miss, Miss}},
		{"no ratio with a zero or a censored number", "capacity", "a",
			pairs{{"<30", "120"}, {"60", "160"}}, []Verdict{ByOrder, ByOrder}},
		{"both above the ladder: a tie", "capacity", "a",
			pairs{{"100", "300"}, {">300", ">300"}, {">300", ">300"}}, []Verdict{Miss, ByValue, ByValue}},
		{"both above the ladder here alone: no evidence", "capacity", "",
			pairs{{"160", ">300"}, {"160", ">300"}}, []Verdict{Miss, Miss}},
	} {
		all := rivals(t, c.kind, c.rivals...)
		for i, j := range all {
			if got := j.verdict(all, c.reference); got != c.want[i] {
				t.Errorf("%s: number %d (paper %s, simulated %s): %s, want %s", c.what, i, j.paper.Text, j.simulated.Text, got, c.want[i])
			}
		}
	}
}

// TestInfiniteIsLargest: a p99 with too many failures still has a place.
func TestInfiniteIsLargest(t *testing.T) {
	all := rivals(t, "p99", [2]string{"2", "9"}, [2]string{"8", "10"})
	all[1].simulated = exactly(math.Inf(1))
	if got := all[1].verdict(all, "a"); got != ByOrder {
		t.Errorf("infinite p99: %s, want %s", got, ByOrder)
	}
	all[1].simulated = exactly(math.NaN())
	if got := all[0].verdict(all, ""); got != Miss {
		t.Errorf("beside an undefined p99: %s, want %s", got, Miss)
	}
}

func TestParseNumber(t *testing.T) {
	for _, text := range []string{"", "x", "1,2", "±3", "1e3", "<", "2..", "inf", "0x10", " 3"} {
		if n, _, err := parseNumber(text, "hit"); err == nil {
			t.Errorf("%q read as %+v", text, n)
		}
	}
	if _, ok, err := parseNumber("-", "hit"); ok || err != nil {
		t.Errorf("a number that is not printed: %v %v", ok, err)
	}
	if n := number(t, "<30", "capacity"); n.Mean != 0 || n.Censor != results.CensorLeft {
		t.Errorf("<30: %+v", n)
	}
	if n := number(t, "-119", "ms"); n.Mean != -119 {
		t.Errorf("-119: %+v", n)
	}
}
