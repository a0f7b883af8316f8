package policies

import (
	"math/rand/v2"
	"testing"
)

// TestTwoChoicesFrequencies compares draws with the probabilities of the rule,
// summed over all ordered pairs of choices.
func TestTwoChoicesFrequencies(t *testing.T) {
	loads := []int{2, 0, 1, 1, 3}
	for _, replacement := range []bool{false, true} {
		pairs, want := 0.0, make([]float64, len(loads))
		for i, a := range loads {
			for j, b := range loads {
				switch {
				case i == j && !replacement:
					continue
				case a < b:
					want[i]++
				case b < a:
					want[j]++
				default:
					want[i] += 0.5
					want[j] += 0.5
				}
				pairs++
			}
		}
		for i := range want {
			want[i] /= pairs
		}
		p := &twoChoices{rng: rand.New(rand.NewPCG(1, 2)), replacement: replacement}
		v := viewOf(loads...)
		checkFrequencies(t, want, func() int { return p.Route(nil, v) })
	}
}
