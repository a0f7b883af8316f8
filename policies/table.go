package policies

import (
	"fmt"
	"iter"
	"slices"
)

// Table is the routing table T of one control interval and its accounts.
type Table struct {
	// Admitted holds the admitted keys in the order of placement, by falling
	// rate.
	Admitted    []int32
	Assignments int // sum of k_b over the admitted keys, <= R*W
	// AdmittedRate and ColdRate are the sums of lambda_b over the admitted
	// keys and over the others, in requests/s.
	AdmittedRate, ColdRate float64
	// Load is L, the planned load of each destination in requests/s; it
	// contains an equal share of ColdRate unless cold_init is none.
	Load []float64
	// Slots is the number of keys on each destination. Algorithm 1 limits
	// only the sum.
	Slots []int
	QCap  float64 // in requests/s; 0: taken to be above every rate
	// Infeasible lists admitted keys whose load per assignment exceeds q_cap.
	Infeasible []Infeasible

	spans []span // by key
	flat  []int32
}

// span is the part of Table.flat that holds T(b); n is 0 for a cold key.
type span struct{ at, n int }

// Infeasible is an admitted key that did not get its k_b destinations.
type Infeasible struct {
	Key    int
	Rate   float64 // in requests/s
	Wanted float64 // k_b of Eq. 1, a whole number of any size
	Given  int
}

// Keys is the number of keys that were planned, admitted or not.
func (t *Table) Keys() int { return len(t.spans) }

// Assigned is T(b), the different destinations of a key in order of choice;
// empty if the key was not admitted. The caller must not change it.
func (t *Table) Assigned(key int) []int32 {
	s := t.spans[key]
	return t.flat[s.at : s.at+s.n : s.at+s.n]
}

// All yields the admitted keys in order of placement with their T(b).
func (t *Table) All() iter.Seq2[int, []int32] {
	return func(yield func(int, []int32) bool) {
		for _, b := range t.Admitted {
			if !yield(int(b), t.Assigned(int(b))) {
				return
			}
		}
	}
}

// AdmittedShare is the share of the traffic that the admitted keys carry; 0
// when there is no traffic.
func (t *Table) AdmittedShare() float64 {
	if t.AdmittedRate == 0 {
		return 0
	}
	return t.AdmittedRate / (t.AdmittedRate + t.ColdRate)
}

// Imbalance is the largest planned load over the mean, 1 when there is none.
func (t *Table) Imbalance() float64 { return maxOverMean(t.Load) }

// ImbalanceUnder is the largest over the mean load if keys had other rates than
// those that were planned; what is not admitted goes to all destinations alike.
func (t *Table) ImbalanceUnder(rates []float64) float64 {
	load := make([]float64, len(t.Load))
	cold := 0.0
	for b, rate := range rates {
		set := t.Assigned(b)
		if len(set) == 0 {
			cold += rate
		}
		for _, r := range set {
			load[r] += rate / float64(len(set))
		}
	}
	for r := range load {
		load[r] += cold / float64(len(load))
	}
	return maxOverMean(load)
}

func maxOverMean(load []float64) float64 {
	sum := 0.0
	for _, l := range load {
		sum += l
	}
	if sum == 0 {
		return 1
	}
	return slices.Max(load) / (sum / float64(len(load)))
}

// Replicated is the number of admitted keys with more than one destination.
func (t *Table) Replicated() int {
	n := 0
	for _, b := range t.Admitted {
		if t.spans[b].n > 1 {
			n++
		}
	}
	return n
}

// Assumptions says what the plan took for granted, a line each.
func (t *Table) Assumptions() []string {
	if t.QCap > 0 {
		return nil
	}
	return []string{"q_cap is not set: taken to be above the rate of every key, so that each has one destination"}
}

// Warnings says why the plan cannot hold its load targets, a line each; none if
// it can. A key is called what name says.
func (t *Table) Warnings(name func(key int) string) []string {
	var w []string
	if n := len(t.Infeasible); n > 0 {
		x := t.Infeasible[0]
		w = append(w, fmt.Sprintf("infeasible: %d keys exceed q_cap = %.6g requests/s on each of their destinations, first key %s: %.6g requests/s need %.6g destinations and have %d",
			n, t.QCap, name(x.Key), x.Rate, x.Wanted, x.Given))
	}
	over := 0
	for _, l := range t.Load {
		if t.QCap > 0 && l > t.QCap {
			over++
		}
	}
	if over > 0 {
		w = append(w, fmt.Sprintf("infeasible: the planned load of %d of %d destinations exceeds q_cap = %.6g requests/s, the highest is %.6g",
			over, len(t.Load), t.QCap, slices.Max(t.Load)))
	}
	return w
}
