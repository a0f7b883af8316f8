package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// The quantiles that the paper states (App. B.2), and that of eight seeds.
func TestStudentT(t *testing.T) {
	for n, want := range map[int]string{3: "4.303", 5: "2.776", 8: "2.365"} {
		if got := fmt.Sprintf("%.3f", studentT(n)); got != want {
			t.Errorf("t for n = %d is %s, want %s", n, got, want)
		}
	}
}

func TestInterval(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{[]float64{160, 180, 180, 180, 180}, "176.0 165 187 ± 11.1"}, // Table 1: 176 ± 11
		{[]float64{30, 30, 30, 60, 60}, "42.0 22 62 ± 20.4"},         // Table 1: 42 ± 20
		{[]float64{60, 60, 60, 60, 80}, "64.0 53 75 ± 11.1"},         // Table 1: 64 ± 11
		{[]float64{7, 7, 7}, "7.0 7 7 ± 0.0"},
		{[]float64{7}, "7.0 NaN NaN ± NaN"},
		{[]float64{1, inf, 2}, "+Inf NaN NaN ± NaN"},
		{[]float64{1, math.NaN()}, "NaN NaN NaN ± NaN"},
	} {
		i := NewInterval(c.values)
		if got := fmt.Sprintf("%.1f %.0f %.0f ± %.1f", i.Mean, i.Lo, i.Hi, i.HalfWidth()); got != c.want {
			t.Errorf("%v: %s, want %s", c.values, got, c.want)
		}
	}
}

// ladderOf makes cells of one policy and seed with the p99 at each load.
func ladderOf(policy string, seed uint64, loads, p99 []float64) []Cell {
	cells := make([]Cell, len(p99))
	for i := range cells {
		cells[i] = Cell{Policy: policy, LoadQPS: loads[i], Seed: seed, Requests: 1000, RunRequests: 1200,
			TTFTP50: Float(p99[i] / 2), TTFTP99: Float(p99[i]), TPOTP50: 0.02, E2EP99: Float(p99[i] + 1), KVHit: 0.5 + Float(seed)/100, Fingerprint: "00ff", Warnings: []string{}}
	}
	return cells
}

func TestKnee(t *testing.T) {
	loads := []float64{30, 60, 80, 100}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		p99  []float64
		want Capacity
		low  float64 // highest failing load below the knee
	}{
		{[]float64{1, 2, 4, inf}, Capacity{60, CensorNone}, 0},
		{[]float64{1, 3.5, 4, 5}, Capacity{60, CensorNone}, 0}, // at the objective is within
		{[]float64{4, 5, 6, inf}, Capacity{0, CensorLeft}, 0},
		{[]float64{1, 2, 3, 3}, Capacity{100, CensorRight}, 0},
		{[]float64{1, 4, 3, 5}, Capacity{80, CensorNone}, 60},
		{[]float64{4, 4, 4, 3}, Capacity{100, CensorRight}, 80},
		{[]float64{nan, nan, nan, nan}, Capacity{0, CensorLeft}, 0},
	} {
		cells := ladderOf("p", 2, loads, c.p99)
		ladder := bySeed(cells)[0]
		if got, low := knee(ladder, 3.5, 0.05); got != c.want || low != c.low {
			t.Errorf("%v: %v, fails below at %v; want %v, %v", c.p99, got, low, c.want, c.low)
		}
	}
	failing := ladderOf("p", 2, loads, []float64{1, 1, 1, 1})
	failing[2].FailureRate, failing[3].FailureRate = 0.05, 0.051
	if got, _ := knee(bySeed(failing)[0], 3.5, 0.05); got != (Capacity{80, CensorNone}) {
		t.Errorf("failures: %v", got)
	}
}

// A capacity over seeds from one p99 ladder for each.
func capacityOf(ladders ...[]float64) CapacityRow {
	var cells []Cell
	for i, p99 := range ladders {
		cells = append(cells, ladderOf("p", uint64(i+2), []float64{30, 60, 80}, p99)...)
	}
	return Summarise("s", cells, []float64{3}, 0.05).Capacity[0]
}

func TestCapacityOverSeeds(t *testing.T) {
	left, middle, right := []float64{4, 4, 4}, []float64{1, 1, 4}, []float64{1, 1, 1}
	for _, c := range []struct {
		ladders  [][]float64
		censor   Censor
		mean     Float
		warnings []string
	}{
		{[][]float64{middle, middle, middle, middle}, CensorNone, 60, nil},
		{[][]float64{left, left}, CensorLeft, 0, []string{"below 30 at every seed: add lower loads", "2 seeds only: wide interval"}},
		{[][]float64{right}, CensorRight, 80, []string{"above 80: add higher loads", "one seed: no interval"}},
		{[][]float64{left, middle, right, middle, middle}, CensorMixed, 52, []string{"2 of 5 seeds lie outside the ladder of loads: the mean is a lower bound"}},
		{[][]float64{middle, middle, middle, {4, 1, 4}}, CensorNone, 60, []string{"seed 5 passes at 60 QPS but fails at 30: where low loads are the slowest, their caches were still cold"}},
		{[][]float64{middle, middle, middle, {1, 1}}, CensorMixed, 60,
			[]string{"seed 5 has run 2 of 3 loads", "1 of 4 seeds lie outside the ladder of loads: the mean is a lower bound"}},
	} {
		row := capacityOf(c.ladders...)
		if row.Censor != c.censor || row.QPS.Mean != c.mean || !slices.Equal(row.Warnings, c.warnings) {
			t.Errorf("%v: %s %v %q, want %s %v %q", c.ladders, row.Censor, row.QPS.Mean, row.Warnings, c.censor, c.mean, c.warnings)
		}
		if len(row.PerSeed) != len(c.ladders) || row.PerSeed[0].Seed != 2 {
			t.Errorf("per seed: %v", row.PerSeed)
		}
	}
}

// A multiple is over the best other policy, and a bound where the ladder cuts one
// of the two off.
func TestMultiplier(t *testing.T) {
	loads := []float64{30, 60, 120}
	left, low, high, right := []float64{9, 9, 9}, []float64{1, 9, 9}, []float64{1, 1, 9}, []float64{1, 1, 1}
	for _, c := range []struct {
		own    []float64
		others [][]float64
		want   string
	}{
		{high, [][]float64{low}, "2.00×"},
		{low, [][]float64{high, left}, "0.50×"},
		{high, [][]float64{left, low}, "2.00×"}, // < 30 is not the best beside 30
		{high, [][]float64{left}, ">=2.00×"},
		{high, [][]float64{low, right}, ""}, // the best one is beyond the ladder
		{right, [][]float64{low}, ">=4.00×"},
		{left, [][]float64{low}, ""},
		{high, nil, ""},
	} {
		cells := ladderOf("own", 2, loads, c.own)
		for i, p99 := range c.others {
			cells = append(cells, ladderOf(fmt.Sprint(i), 2, loads, p99)...)
		}
		s := Summarise("s", cells, []float64{3}, 0.05)
		if got := s.multiplierText("own", 3); got != c.want {
			t.Errorf("%v over %v = %q, want %q", c.own, c.others, got, c.want)
		}
	}
}

// What is said of a capacity is no more exact than the ladder: 30, 60, 80, 120,
// 160, 180, 220, 300.
func TestCapacityTexts(t *testing.T) {
	for _, c := range []struct {
		knees      [5]float64
		text, took string
	}{
		{all(120), "120 (<160)", "120 QPS in all 5 seeds"},
		{[5]float64{160, 180, 180, 180, 180}, "176 ± 11.1", "160 QPS in all 5 seeds, 180 in 4 of 5"},
		{[5]float64{80, 80, 80, 80, 120}, "88 ± 22.2", "80 QPS in all 5 seeds, 120 in 1 of 5"},
		{[5]float64{0, 0, 0, 0, 60}, ">=12 (0-45.3)", "60 QPS in 1 of 5 seeds"},
		{all(0), "<30", "no load tried"},
		{all(300), ">300", "300 QPS in all 5 seeds"},
		{[5]float64{220, 220, 220, 300, 300}, ">=252 ± 54.4", "220 QPS in all 5 seeds, 300 in 2 of 5"},
		{[5]float64{30, 60, 80, 120, 160}, "90 ± 63.3", "30 QPS in all 5 seeds, 60 in 4 of 5, 80 in 3 of 5, 160 in 1 of 5"},
	} {
		s := Summarise("s", paperlike("x", c.knees, all(300), all(300)), []float64{2}, 0.05)
		if got := s.capacityText("x", 2); got != c.text {
			t.Errorf("%v: %q, want %q", c.knees, got, c.text)
		}
		if got := s.Capacity[0].bySeed("QPS"); got != c.took {
			t.Errorf("%v: %q, want %q", c.knees, got, c.took)
		}
	}
	var cells []Cell // 19 seeds take 120, one takes 160
	for seed := range uint64(20) {
		p99 := []float64{1, 9, 9}
		if seed == 7 {
			p99[1] = 1
		}
		cells = append(cells, ladderOf("x", seed, []float64{120, 160, 200}, p99)...)
	}
	s := Summarise("s", cells, []float64{2}, 0.05)
	if got := s.capacityText("x", 2); got != "122 (<162)" {
		t.Errorf("19 of 20 seeds at one rung: %q", got)
	}
}

// A capacity that a missing cell may move is open; one that none may is not.
func TestSummarisePart(t *testing.T) {
	loads := []float64{60, 30, 100}
	one, two := ladderOf("p", 1, []float64{30, 60, 100}, []float64{1, 2, 9}), ladderOf("p", 2, []float64{30, 60, 100}, []float64{1, 2, 9})
	other := ladderOf("q", 1, []float64{30, 60, 100}, []float64{1, 9, 9})
	other = append(other, ladderOf("q", 2, []float64{30, 60, 100}, []float64{1, 9, 9})...)
	for _, c := range []struct {
		name, text, best, times string
		cells                   []Cell
	}{
		{"whole", "60 (<100)", "p", "2.00×", slices.Concat(one, two)},
		{"the highest is missing", "60?", "", "", slices.Concat(one, two[:2])},
		{"all of the highest are missing", "60?", "", "", slices.Concat(one[:2], two[:2])},
		{"one below the knee is missing", "60 (<100)", "p", "2.00×", slices.Concat(one, two[1:])},
		{"the knee is missing", "45?", "", "", slices.Concat(one, two[:1], two[2:])},
		{"a seed is missing", "60?", "", "", one},
		{"only failures have run", "0?", "", "", slices.Concat(one[2:], two[2:])},
	} {
		s := SummarisePart("s", slices.Concat(c.cells, other), loads, 2, []float64{3.5}, 0.05)
		if text, best, times := s.capacityText("p", 3.5), s.bestCapacity(3.5), s.multiplierText("p", 3.5); text != c.text || best != c.best || times != c.times {
			t.Errorf("%s: %s, best %q, %q; want %s, %q, %q", c.name, text, best, times, c.text, c.best, c.times)
		}
		if open := s.capacity("p", 3.5).Censor == CensorOpen; open != strings.HasSuffix(c.text, "?") {
			t.Errorf("%s: censor %s", c.name, s.capacity("p", 3.5).Censor)
		}
		r := Report{Summary: s}
		if headline := r.verdict().Headline; strings.Contains(headline, "have run") != (strings.HasSuffix(c.text, "?") && c.text != "0?") {
			t.Errorf("%s: headline %s", c.name, headline)
		}
	}
}
