package workload

import (
	"math"
	"math/rand/v2"
	"slices"

	"cacheroute/sim/clock"
)

// DriftSpec lets the rates of the population's keys move while a run goes on
// (paper, App. E): they hold for an interval, then the logarithm of each takes
// a normal step of its own. All are rescaled so that the offered load stays;
// whales keep their rates. The walk belongs to the population: all cells of a
// study have the same.
type DriftSpec struct {
	// Sigma of a step of the logarithm of a rate; the paper has 0.3.
	Sigma float64 `yaml:"sigma" jsonschema:"required,minimum=0,maximum=10"`
	// IntervalS is how long the rates hold between two steps.
	IntervalS float64 `yaml:"interval_s" jsonschema:"required,minimum=0.001,maximum=1e6"`
	// First is how many steps the rates have taken when a run begins.
	First int `yaml:"first" jsonschema:"minimum=0,maximum=1000"`
	// Seed of the walk, not of the run.
	Seed uint64 `yaml:"seed" jsonschema:"minimum=0"`
}

// Check returns nil or an error that begins with the parameter's name.
func (d *DriftSpec) Check() error {
	return first(between("sigma", d.Sigma, 0, 10), between("interval_s", d.IntervalS, 1e-3, 1e6), between("first", float64(d.First), 0, 1000))
}

// Interval is how long the rates hold; for ever without a drift.
func (d *DriftSpec) Interval() clock.Time {
	if d == nil {
		return clock.Never
	}
	return clock.FromSeconds(d.IntervalS)
}

// Walk is the shares of the traffic of drifting keys.
type Walk struct {
	// Share by key; the sum is 1. The next step changes it in place.
	Share []float64

	sigma float64
	rng   *rand.Rand
}

// Walk starts from shares whose sum is 1, with the first steps done. Without a
// drift the shares stay.
func (d *DriftSpec) Walk(share []float64) *Walk {
	w := &Walk{Share: slices.Clone(share)}
	if d == nil {
		return w
	}
	w.sigma, w.rng = d.Sigma, clock.Streams{Seed: d.Seed}.Rand("workload/drift")
	w.Steps(d.First)
	return w
}

// Steps goes on by n intervals.
func (w *Walk) Steps(n int) {
	if w.rng == nil {
		return
	}
	for range n {
		sum := 0.0
		for i := range w.Share {
			w.Share[i] *= math.Exp(w.sigma * w.rng.NormFloat64())
			sum += w.Share[i]
		}
		for i := range w.Share {
			w.Share[i] /= sum
		}
	}
}

// RatesAfter is the rates after so many intervals of a run.
func (w *Synthetic) RatesAfter(qps float64, intervals int) ([]float64, error) {
	walk := w.spec.Drift.Walk(w.keys.Share)
	walk.Steps(intervals)
	return w.rates(qps, walk.Share)
}

// Drift says how long the rates of the keys hold, for ever if they do not drift,
// and gives the rates of the next interval each time that it is asked. The load
// is one that Rates does not refuse.
func (w *Synthetic) Drift(qps float64) (interval clock.Time, next func() []float64) {
	walk := w.spec.Drift.Walk(w.keys.Share)
	return w.spec.Drift.Interval(), func() []float64 {
		walk.Steps(1)
		rates, err := w.rates(qps, walk.Share)
		if err != nil {
			panic("workload: rates of a refused load: " + err.Error())
		}
		return rates
	}
}
