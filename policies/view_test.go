package policies

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"cacheroute/sim/clock"
)

// viewOf is a view of a fleet with the given requests in flight.
func viewOf(loads ...int) *View {
	v := NewView(len(loads), 0)
	for d, q := range loads {
		for range q {
			v.Dispatched(d)
		}
	}
	return v
}

// TestViewAgainstScan compares the indexed loads with plain counts, fresh and
// scraped at an interval.
func TestViewAgainstScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "destinations")
		interval := clock.Time(rapid.SampledFrom([]int{0, 1, 7}).Draw(t, "interval"))
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		v := NewView(n, interval)
		live, seen := make([]int, n), make([]int, n)
		now, period := clock.Time(0), clock.Time(-1)
		for range rapid.IntRange(1, 80).Draw(t, "events") {
			d := rapid.IntRange(0, n-1).Draw(t, "destination")
			switch rapid.IntRange(0, 3).Draw(t, "event") {
			case 0, 1:
				v.Dispatched(d)
				live[d]++
			case 2:
				if live[d] > 0 {
					v.Done(d)
					live[d]--
				}
			case 3:
				now += clock.Time(rapid.IntRange(0, 9).Draw(t, "wait"))
				v.Advance(now)
				if interval > 0 && now/interval > period {
					period = now / interval
					copy(seen, live)
				}
			}
			if interval == 0 {
				copy(seen, live)
			}
			checkView(t, v, seen, rng)
		}
	})
}

func checkView(t *rapid.T, v *View, want []int, rng *rand.Rand) {
	total := 0
	for d, q := range want {
		total += q
		if v.InFlight(d) != q {
			t.Fatalf("destination %d: %d in flight, want %d", d, v.InFlight(d), q)
		}
	}
	if v.Total() != total {
		t.Fatalf("total %d, want %d", v.Total(), total)
	}
	if d := v.LeastLoaded(rng); want[d] != slices.Min(want) {
		t.Fatalf("least loaded %d of %v", d, want)
	}
	order := slices.Clone(v.Ascending())
	if !slices.IsSortedFunc(order, func(a, b int32) int { return want[a] - want[b] }) {
		t.Fatalf("order %v of %v does not rise", order, want)
	}
	slices.Sort(order)
	for i, d := range order {
		if int(d) != i {
			t.Fatalf("order is not a permutation: %v", order)
		}
	}
}

// TestLeastLoadedIsUniform draws among three equals of five.
func TestLeastLoadedIsUniform(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	v := viewOf(1, 3, 1, 2, 1)
	checkFrequencies(t, []float64{1. / 3, 0, 1. / 3, 0, 1. / 3}, func() int { return v.LeastLoaded(rng) })
}

// checkFrequencies draws 100,000 times and allows five standard deviations.
func checkFrequencies(t *testing.T, want []float64, draw func() int) {
	t.Helper()
	const n = 100_000
	count := make([]float64, len(want))
	for range n {
		count[draw()]++
	}
	for i, p := range want {
		if diff := count[i]/n - p; diff*diff > 25*p*(1-p)/n {
			t.Errorf("choice %d: frequency %.4f, want %.4f", i, count[i]/n, p)
		}
	}
}
