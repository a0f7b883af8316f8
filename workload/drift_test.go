package workload

import (
	"math"
	"slices"
	"testing"

	"cacheroute/sim/clock"
)

func drifting(d DriftSpec) Spec {
	s := small()
	s.Keys = &LognormalKeys{Sigma: 1.65, Count: 2000, Seed: 1}
	s.Drift = &d
	return s
}

// The steps of the logarithms are normal with the asked deviation, up to the
// common factor that keeps the offered load; whales stay.
func TestDriftSteps(t *testing.T) {
	w, _ := open(t, drifting(DriftSpec{Sigma: 0.3, IntervalS: 10, Seed: 5}), 50, 1)
	before, err := w.Rates(50)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 4; n++ {
		after, err := w.RatesAfter(50, n)
		if err != nil {
			t.Fatal(err)
		}
		sum, mean, square, k := 0.0, 0.0, 0.0, float64(w.keys.Len())
		for i := range after {
			sum += after[i]
			if i < w.keys.Len() {
				x := math.Log(after[i] / before[i])
				mean += x / k
				square += x * x / k
			} else if after[i] != before[i] {
				t.Errorf("step %d: whale %d moves from %v to %v", n, i, before[i], after[i])
			}
		}
		if math.Abs(sum-50) > 1e-9 {
			t.Errorf("step %d: the rates sum to %v, want 50", n, sum)
		}
		// The deviation of 2000 draws has a standard error of 1.6 %.
		if sd := math.Sqrt(square - mean*mean); math.Abs(sd-0.3) > 0.3*0.06 {
			t.Errorf("step %d has deviation %.4f, want 0.3", n, sd)
		}
		before = after
	}
}

// The interval that a run begins in, the policy's rates one by one and the
// random access are the same walk.
func TestDriftIsOneWalk(t *testing.T) {
	spec := DriftSpec{Sigma: 0.5, IntervalS: 10, Seed: 5}
	w, _ := open(t, drifting(spec), 50, 1)
	interval, next := w.Drift(50)
	if interval != 10*clock.Second {
		t.Errorf("interval %v", interval)
	}
	for n := 1; n <= 3; n++ {
		want, err := w.RatesAfter(50, n)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(next(), want) {
			t.Errorf("interval %d: the rates one by one are others", n)
		}
		spec.First = n
		later, _ := open(t, drifting(spec), 50, 1)
		if got, err := later.Rates(50); err != nil || !slices.Equal(got, want) {
			t.Errorf("first: %d: other rates, %v", n, err)
		}
	}
}

// What comes in an interval follows the rates of that interval, and not those
// of the one before; without a step nothing differs from a run without drift.
func TestDriftingArrivals(t *testing.T) {
	const qps, seconds = 2000, 40
	w, source := open(t, drifting(DriftSpec{Sigma: 1, IntervalS: seconds, Seed: 5}), qps, 3)
	counts := make([][]float64, 3)
	for i := range counts {
		counts[i] = make([]float64, w.Keys())
	}
	var r Request
	for source.Next(&r) && r.At < 3*seconds*clock.Second {
		counts[r.At/(seconds*clock.Second)][r.Key]++
	}
	// chi2 over the keys of some traffic, per degree of freedom: near 1.
	chi2 := func(count []float64, rates []float64) float64 {
		sum, n := 0.0, 0.0
		for k, rate := range rates {
			if want := rate * seconds; want >= 5 {
				sum += (count[k] - want) * (count[k] - want) / want
				n++
			}
		}
		return sum / n
	}
	for i, count := range counts {
		rates, err := w.RatesAfter(qps, i)
		if err != nil {
			t.Fatal(err)
		}
		if x := chi2(count, rates); x > 1.2 {
			t.Errorf("interval %d: chi2 %.2f against its rates", i, x)
		}
		other, err := w.RatesAfter(qps, (i+1)%3)
		if err != nil {
			t.Fatal(err)
		}
		if x := chi2(count, other); x < 3 {
			t.Errorf("interval %d: chi2 %.2f against the rates of another interval", i, x)
		}
	}
}

// A walk that stands still is no drift, to the last request.
func TestDriftOfNothing(t *testing.T) {
	still := drifting(DriftSpec{IntervalS: 1})
	plain := still
	plain.Drift = nil
	_, a := open(t, still, 50, 2)
	_, b := open(t, plain, 50, 2)
	for i, r := range take(a, 500) {
		var want Request
		if b.Next(&want); r.At != want.At || r.Key != want.Key {
			t.Fatalf("request %d: key %d at %v, without drift key %d at %v", i, r.Key, r.At, want.Key, want.At)
		}
	}
}
