package clock_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"cacheroute/sim/clock"
)

func words(rng *rand.Rand, n int) []uint64 {
	w := make([]uint64, n)
	for i := range w {
		w[i] = rng.Uint64()
	}
	return w
}

// correlation is Pearson's, of the words as fractions of 2^64.
func correlation(a, b []uint64) float64 {
	var x, y, xx, yy, xy float64
	for i := range a {
		u, v := float64(a[i])/(1<<64)-0.5, float64(b[i])/(1<<64)-0.5
		x, y, xx, yy, xy = x+u, y+v, xx+u*u, yy+v*v, xy+u*v
	}
	n := float64(len(a))
	return (xy - x*y/n) / math.Sqrt((xx-x*x/n)*(yy-y*y/n))
}

func TestStreamIsSeedAndName(t *testing.T) {
	s := clock.Streams{Seed: 7}
	a := fmt.Sprint(words(s.Rand("workload/keys"), 10))
	if b := fmt.Sprint(words(clock.Streams{Seed: 7}.Rand("workload/keys"), 10)); a != b {
		t.Errorf("one name, two streams: %s and %s", a, b)
	}
	if a, b := s.Uint64("policy/hash"), (clock.Streams{Seed: 7}).Uint64("policy/hash"); a != b {
		t.Errorf("one name, two words: %x and %x", a, b)
	}
	// A seed is eight bytes in front of the name: none can be read as the other.
	shifted := clock.Streams{Seed: uint64('k')}
	if shifted.Uint64("x") == s.Uint64("x") || shifted.Uint64("") == shifted.Uint64("\x00") {
		t.Error("two names, one word")
	}
}

// Streams of other names and of adjacent seeds are uncorrelated with each other,
// also at a lag of one word: over n words |r| stays below 5/sqrt(n).
func TestStreamsAreUncorrelated(t *testing.T) {
	const n = 8000
	var streams [][]uint64
	var names []string
	for _, seed := range []uint64{0, 1, 2, 3, 1 << 32, math.MaxUint64} {
		for _, name := range []string{"workload/arrivals", "workload/keys", "policy", "policy/hash", ""} {
			streams = append(streams, words(clock.Streams{Seed: seed}.Rand(name), n))
			names = append(names, fmt.Sprintf("%d %q", seed, name))
		}
	}
	limit := 5 / math.Sqrt(n-1)
	for i, a := range streams {
		for j, b := range streams {
			if r := correlation(a[1:], b[:n-1]); math.Abs(r) > limit {
				t.Errorf("stream %s and stream %s one word earlier: correlation %.3f", names[i], names[j], r)
			}
			if r := correlation(a, b); i < j && math.Abs(r) > limit {
				t.Errorf("streams %s and %s: correlation %.3f", names[i], names[j], r)
			}
		}
	}
}

func TestDrawingMoreShiftsNoOtherStream(t *testing.T) {
	s := clock.Streams{Seed: 3}
	want := fmt.Sprint(words(s.Rand("workload/lengths"), 100))
	other, lengths := s.Rand("workload/keys"), s.Rand("workload/lengths")
	var got []uint64
	for i := range 100 {
		words(other, i)
		words(s.Rand("policy"), 3)
		got = append(got, lengths.Uint64())
	}
	if fmt.Sprint(got) != want {
		t.Error("drawing from other streams changed this one")
	}
}
