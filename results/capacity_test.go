package results

import (
	"fmt"
	"math"
	"slices"
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
			TTFTP50: Float(p99[i] / 2), TTFTP99: Float(p99[i]), KVHit: 0.5 + Float(seed)/100, Fingerprint: "00ff", Warnings: []string{}}
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
		{[][]float64{left, left}, CensorLeft, 0, []string{"censored: every seed fails at every load", "n = 2: wide interval"}},
		{[][]float64{right}, CensorRight, 80, []string{"censored: every seed passes at the highest load", "n = 1: no interval"}},
		{[][]float64{left, middle, right, middle, middle}, CensorMixed, 52, []string{"2 of 5 seeds censored: the mean is a lower bound"}},
		{[][]float64{middle, middle, middle, {4, 1, 4}}, CensorNone, 60, []string{"seed 5 passes at 60 QPS but fails at 30 (non-monotone)"}},
		{[][]float64{middle, middle, middle, {1, 1}}, CensorMixed, 60,
			[]string{"seed 5 has run 2 of 3 loads", "1 of 4 seeds censored: the mean is a lower bound"}},
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

func TestMultiplier(t *testing.T) {
	loads := []float64{30, 60, 120}
	left, low, high, right := []float64{9, 9, 9}, []float64{1, 9, 9}, []float64{1, 1, 9}, []float64{1, 1, 1}
	for _, c := range []struct {
		own    []float64
		others [][]float64
		want   float64 // 0: none
	}{
		{high, [][]float64{low}, 2},
		{low, [][]float64{high, left}, 0.5},
		{high, [][]float64{left, low}, 2}, // < 30 is not the best beside 30
		{high, [][]float64{left}, 0},
		{high, [][]float64{low, right}, 0}, // the best one is beyond the ladder
		{right, [][]float64{low}, 0},
		{left, [][]float64{low}, 0},
		{high, nil, 0},
	} {
		cells := ladderOf("own", 2, loads, c.own)
		for i, p99 := range c.others {
			cells = append(cells, ladderOf(fmt.Sprint(i), 2, loads, p99)...)
		}
		s := Summarise("s", cells, []float64{3}, 0.05)
		got, err := s.Multiplier("own", 3)
		if got != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("%v over %v = %v, %v; want %v", c.own, c.others, got, err, c.want)
		}
	}
}
