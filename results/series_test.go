package results

import (
	"math/rand/v2"
	"slices"
	"testing"

	"cacheroute/sim/clock"

	"pgregory.net/rapid"
)

// Any values, few or many distinct, in one chunk or several: each rank is that
// of a sort.
func TestKthIsThatOfASort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		top := rapid.SampledFrom([]int64{0, 3, 5000, 60e12, 1 << 62}).Draw(t, "top")
		n := rapid.IntRange(1, 3000).Draw(t, "n")
		seed := rapid.Uint64().Draw(t, "seed")
		rng := rand.New(rand.NewPCG(seed, 1))
		s := newSeries(rapid.IntRange(0, n).Draw(t, "expect"))
		sorted := make([]clock.Time, n)
		for i := range sorted {
			v := rng.Int64N(top + 1)
			if rng.IntN(2) == 0 {
				v >>= rng.IntN(40) // crowd the small values as latencies do
			}
			sorted[i] = clock.Time(v)
			s.add(sorted[i])
		}
		slices.Sort(sorted)
		k := rapid.IntRange(1, n).Draw(t, "k")
		if got := s.kth(k); got != sorted[k-1] {
			t.Fatalf("kth(%d) of %d = %d, want %d", k, n, got, sorted[k-1])
		}
	})
}

func TestSeriesOverManyChunks(t *testing.T) {
	const n = 3*chunkLen + 17
	s := newSeries(10)
	for i := range n {
		s.add(clock.Time((i*7919)%n + 1)) // a permutation of 1..n, 7919 being prime
	}
	if s.len() != n {
		t.Fatalf("len = %d, want %d", s.len(), n)
	}
	for _, k := range []int{1, 2, n / 2, n - 1, n} {
		if got := s.kth(k); got != clock.Time(k) {
			t.Errorf("kth(%d) = %d", k, got)
		}
	}
}

// The sum of these overflows 64 bits.
func TestMeanIsExact(t *testing.T) {
	s := newSeries(1)
	for range 100 {
		s.add(1 << 62)
		s.add(1<<62 - 1000)
	}
	if got, want := s.mean(), Float((float64(1<<62)-500)/1e12); got != want {
		t.Errorf("mean = %v, want %v", got, want)
	}
}

func TestQuantileIsNearestRank(t *testing.T) {
	s := newSeries(100)
	for i := range 99 {
		s.add(clock.Time(i+1) * clock.Second)
	}
	for _, c := range []struct {
		percent, n int
		want       Float
	}{
		{50, 99, 50},        // the 49.5th
		{99, 99, 99},        // fewer than 100: the maximum
		{99, 100, 99},       // one infinite of 100: the 99th
		{99, 101, infinite}, // two of 101: the 100th
		{90, 100, 90},
		{50, 198, 99},
		{50, 199, infinite},
		{99, 0, undefined},
	} {
		got := s.quantile(c.percent, c.n)
		if !same(got, c.want) {
			t.Errorf("p%d of %d = %v, want %v", c.percent, c.n, got, c.want)
		}
	}
}
