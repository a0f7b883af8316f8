package results

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Welch's interval for 1..5 and twice that has 5.8824 degrees of freedom; the
// quantile, 2.45882, is from a numerical integral of the density.
func TestWelch(t *testing.T) {
	d := welch([]float64{1, 2, 3, 4, 5}, []float64{2, 4, 6, 8, 10})
	for _, c := range []struct {
		got  Float
		want float64
	}{{d.Mean, 3}, {d.Lo, -0.8877416}, {d.Hi, 6.8877416}} {
		if math.Abs(float64(c.got)-c.want) > 1e-5 {
			t.Errorf("got %v, want %v", d, c.want)
		}
	}
}

// A shift that all seeds share is exact when paired and not when unpaired.
func TestPairingRemovesWhatSeedsShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(rapid.Float64Range(0, 100), 2, 8).Draw(t, "a")
		shift := math.Round(rapid.Float64Range(-50, 50).Draw(t, "shift"))
		b := make([]float64, len(a))
		for i := range a {
			a[i] = math.Round(a[i])
			b[i] = a[i] + shift
		}
		paired, unpaired := newChange(a, b, true), newChange(a, b, false)
		if paired.Diff.Mean != Float(shift) || paired.Diff.HalfWidth() != 0 {
			t.Errorf("paired %v, want %v exactly", paired.Diff, shift)
		}
		if _, v := meanVariance(a); v > 0 && !(unpaired.Diff.HalfWidth() > 0) {
			t.Errorf("unpaired %v for %v", unpaired.Diff, a)
		}
		back := newChange(b, a, false)
		if math.Abs(float64(back.Diff.Lo+unpaired.Diff.Hi)) > 1e-9 {
			t.Errorf("B - A %v, A - B %v", unpaired.Diff, back.Diff)
		}
	})
}

func TestInfiniteChanges(t *testing.T) {
	inf := math.Inf(1)
	if c := newChange([]float64{1, 2}, []float64{inf, 3}, true); !math.IsInf(float64(c.Diff.Mean), 1) || c.Clear() {
		t.Errorf("%+v", c)
	}
	if c := newChange([]float64{inf, 2}, []float64{inf, 3}, true); !math.IsNaN(float64(c.Diff.Mean)) || c.Clear() {
		t.Errorf("%+v", c)
	}
}

// compareKnees compares two policies whose knees at 2 s are those given.
func compareKnees(a, b [5]float64) ComparedCapacity {
	of := Summarise("a", paperlike("x", a, all(300), all(300)), []float64{2}, 0.05)
	with := Summarise("b", paperlike("x", b, all(300), all(300)), []float64{2}, 0.05)
	var c Comparison
	c.Compare(&of, &with, Selection{Policies: [][2]string{{"x", "x"}}, Loads: []float64{30}, Seeds: []uint64{2, 3, 4, 5, 6}, SLOs: []float64{2}, Paired: true})
	return c.Capacity[0]
}

// A censored knee bounds the difference on one side, or not at all. The ladder
// goes from 30 to 300. An interval
// that is narrower than its steps is what the next loads leave open.
func TestComparedCapacities(t *testing.T) {
	for _, c := range []struct {
		a, b  [5]float64
		bound Bound
		text  string
	}{
		{all(60), all(80), BoundNone, "+20.0 (+0.00..+60.0)*"},
		{[5]float64{60, 80, 60, 80, 60}, [5]float64{80, 120, 80, 120, 80}, BoundNone, "+28.0 (+0.00..+68.0)*"},
		{all(60), all(60), BoundNone, "+0.00 (-20.0..+20.0) "},
		{[5]float64{30, 120, 60, 80, 60}, [5]float64{180, 120, 80, 180, 160}, BoundNone, "+74.0 ± 77.3 "},
		{all(0), all(80), BoundLower, ">= +50.0 "},
		{all(80), all(0), BoundUpper, "<= -50.0 "},
		{all(80), all(300), BoundLower, ">= +220 "},
		{all(300), all(80), BoundUpper, "<= -220 "},
		{all(0), all(300), BoundLower, ">= +270 "},
		{all(0), all(0), BoundOpen, "open "},
		{all(300), all(300), BoundOpen, "open "},
		{[5]float64{0, 0, 0, 0, 60}, [5]float64{0, 0, 0, 0, 60}, BoundOpen, "open "},
	} {
		got := compareKnees(c.a, c.b)
		if got.Bound != c.bound || got.text() != c.text {
			t.Errorf("%v and %v: %s %q, want %s %q", c.a, c.b, got.Bound, got.text(), c.bound, c.text)
		}
	}
}

// Colours say nothing that the text does not: without them it is the same.
func TestColours(t *testing.T) {
	cells := append(paperlike("flat-lb", all(0), all(30), all(80)), paperlike("cacheroute", all(120), all(180), all(300))...)
	s := Summarise("small", cells, []float64{2, 3.5}, 0.05)
	var plain, colour bytes.Buffer
	if err := PrintLadder(&plain, &s, Style{}); err != nil {
		t.Fatal(err)
	}
	if err := PrintLadder(&colour, &s, Style{Color: true}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(colour.String(), green) {
		t.Error("no colour")
	}
	text := colour.String()
	for _, code := range []string{bold, green, red, dim, reset} {
		text = strings.ReplaceAll(text, code, "")
	}
	if text != plain.String() {
		t.Errorf("with colours:\n%s\nwithout:\n%s", text, &plain)
	}
}

func TestSparkline(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want rune
	}{{1, '▁'}, {1.2, '▁'}, {math.Sqrt(1000), '▅'}, {999, '█'}, {1000, '█'}, {math.Inf(1), '∞'}, {math.NaN(), '·'}} {
		if got := bar(c.v, 1, 1000); got != c.want {
			t.Errorf("%v: %c, want %c", c.v, got, c.want)
		}
	}
	if got := bar(3, 3, 3); got != '▁' {
		t.Errorf("no range: %c", got)
	}
}

// Notes that differ in numbers only are one line.
func TestNotesAreGathered(t *testing.T) {
	cells := paperlike("flat-lb", all(0), all(30), all(80))
	for i := range cells {
		cells[i].Warnings = []string{"first of many"}
		cells[i].AskedQPS, cells[i].RealisedQPS = 100, 100
	}
	cells[0].Warnings = []string{"key 17 needs 3 destinations", "key 4 needs 12.5 destinations"}
	cells[8].RealisedQPS = 50 // seed 3 at the lowest load
	s := Summarise("small", cells, []float64{2}, 0.05)
	var b bytes.Buffer
	if err := PrintLadder(&b, &s, Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"note: key 17 needs 3 destinations (flat-lb, 30 QPS, seed 2 and 1 more)\n",
		"note: first of many (flat-lb, 30 QPS, seed 3 and 38 more)\n",
	} {
		if strings.Count(b.String(), want) != 1 {
			t.Errorf("want once %q in\n%s", want, &b)
		}
	}
	if strings.Contains(b.String(), "asked for") {
		t.Errorf("10 %% off in the mean is said to be notable:\n%s", &b)
	}
	b.Reset()
	for i := range cells {
		if cells[i].LoadQPS == 30 {
			cells[i].RealisedQPS = 50
		}
	}
	s = Summarise("small", cells, []float64{2}, 0.05)
	if err := PrintLadder(&b, &s, Style{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "note: asked for requests per second 100, came 50 (30 QPS)\n") {
		t.Errorf("half of the rate is not said to be notable:\n%s", &b)
	}
}
