package share

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestGiniAndTop(t *testing.T) {
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"Gini of equals", Gini([]float64{2, 2, 2}), 0},
		{"Gini of one in four", Gini([]float64{0, 8, 0, 0}), 0.75},
		{"top half", Top([]float64{1, 5, 2, 2}, 0.5), 0.7},
		{"top key", Top([]float64{1, 5, 2, 2}, 0), 0.5},
	} {
		if math.Abs(c.got-c.want) > 1e-15 {
			t.Errorf("%s: got %v, wanted %v", c.what, c.got, c.want)
		}
	}
	// The definition: mean absolute difference over twice the mean.
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(0.001, 1000), 1, 20).Draw(t, "x")
		var sum, diff float64
		for _, a := range x {
			sum += a
			for _, b := range x {
				diff += math.Abs(a - b)
			}
		}
		if want := diff / (2 * float64(len(x)) * sum); math.Abs(Gini(x)-want) > 1e-9 {
			t.Fatalf("Gini %v, wanted %v", Gini(x), want)
		}
	})
}
