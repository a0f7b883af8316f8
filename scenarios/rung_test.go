package scenarios

import (
	"math"
	"testing"
)

func TestRung(t *testing.T) {
	ladder := []float64{30, 60, 80, 300}
	for qps, want := range map[float64]float64{0: 0, 15: 0.5, 30: 1, 60: 2, 70: 2.5, 300: 4, 330: 4.1} {
		if got := Rung(qps, ladder); math.Abs(got-want) > 1e-12 {
			t.Errorf("rung of %v: %v, wanted %v", qps, got, want)
		}
		if got := AtRung(want, ladder); math.Abs(got-min(qps, 300)) > 1e-12 {
			t.Errorf("load at rung %v: %v, wanted %v", want, got, min(qps, 300))
		}
	}
	if got := AtRung(-0.5, ladder); got != 0 {
		t.Errorf("load below the ladder: %v, wanted 0", got)
	}
}
