package workload

import (
	"fmt"
	"iter"
	"math"
)

// RateWindow is the part of a trace that key rates are estimated from.
type RateWindow struct {
	// FromS and ToS are seconds of the recording from its first arrival; a request
	// at FromS counts, one at ToS does not.
	FromS, ToS float64
	// HalfLifeS halves the weight of a request with its age at ToS (an
	// exponentially weighted mean); 0: all requests of the window count alike.
	HalfLifeS float64
}

// EstimateRates is what a planner knows at the end of the window: the rate of
// each key, in requests per second of the recording, from the requests of the
// window alone. A key that did not come has rate 0.
func (t *Trace) EstimateRates(w RateWindow) ([]float64, error) {
	if !(w.FromS >= 0 && w.ToS > w.FromS) || !(w.HalfLifeS >= 0 && w.HalfLifeS <= math.MaxFloat64) {
		return nil, fmt.Errorf("window of rates: from %v s to %v s with a half-life of %v s, wanted a span of the recording and at least 0", w.FromS, w.ToS, w.HalfLifeS)
	}
	mass := w.ToS - w.FromS // the integral of the weight over the window
	if decay := w.decay(); decay > 0 {
		mass = -math.Expm1(-decay*mass) / decay
	}
	rates, seen := make([]float64, t.Keys()), 0
	for key, weight := range t.weights(w) {
		seen++
		rates[key] += weight / mass
	}
	if seen == 0 {
		return nil, fmt.Errorf("%s: no request from %v s to %v s, wanted some to estimate rates from", t.header.Path, w.FromS, w.ToS)
	}
	return rates, nil
}

// EffectiveRequests is how many requests that all count alike would tell as much
// as those of the window do (Kish): their number, or less with a half-life.
func (t *Trace) EffectiveRequests(w RateWindow) float64 {
	sum, squares := 0.0, 0.0
	for _, weight := range t.weights(w) {
		sum += weight
		squares += float64(weight * weight)
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / squares
}

func (w RateWindow) decay() float64 {
	if w.HalfLifeS == 0 {
		return 0
	}
	return math.Ln2 / w.HalfLifeS
}

// weights are the keys of the requests in the window, with what each counts.
func (t *Trace) weights(w RateWindow) iter.Seq2[int32, float64] {
	decay := w.decay()
	return func(yield func(int32, float64) bool) {
		for i := range t.rows {
			at := float64(t.rows[i].at) / 1e6
			if at >= w.FromS && at < w.ToS && !yield(t.rows[i].key, math.Exp(-decay*(w.ToS-at))) {
				return
			}
		}
	}
}

// KeyNames names the keys: as the file does, else by the hash of a key's leading
// blocks in hexadecimal.
func (t *Trace) KeyNames() []string {
	names := make([]string, len(t.hashes))
	copy(names, t.names)
	for i, h := range t.hashes {
		if names[i] == "" {
			names[i] = fmt.Sprintf("%016x", h)
		}
	}
	return names
}
