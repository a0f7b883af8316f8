package paper

import (
	"fmt"
	"slices"

	"cacheroute/results"
)

const driftIntervals = 6

// intervals are those of each seed of a study of one policy and load, all of
// which the window holds.
func (e *entry) intervals() map[uint64][]results.DriftInterval {
	all := map[uint64][]results.DriftInterval{}
	for _, c := range e.cells {
		if len(c.Intervals) != driftIntervals {
			panic(fmt.Sprintf("paper: study %s measured %d intervals of drift, wanted %d", e.name, len(c.Intervals), driftIntervals))
		}
		all[c.Seed] = c.Intervals
	}
	return all
}

// drifted is a figure of Table 12 at a transition, or the mean over those that
// the paper means: all five for churn, the three measured ones for the rest.
func drifted(b *bench, e *entry, s source) (Number, string) {
	old := b.byName[companions[e.name]]
	if old.runner == nil {
		return Number{}, old.reason
	}
	fresh, stale := e.intervals(), old.intervals()
	at := []int{s.At}
	switch {
	case s.At == 0 && s.Kind == "churn":
		at = []int{1, 2, 3, 4, 5}
	case s.At == 0:
		at = []int{1, 3, 5}
	}
	var values []float64
	for _, seed := range e.study.Seeds {
		sum := 0.0
		for _, i := range at {
			sum += float64(driftFigure(s.Figure, &fresh[seed][i], &stale[seed][i]))
		}
		values = append(values, sum/float64(len(at)))
	}
	if slices.Min(values) == slices.Max(values) { // the plan knows no seeds
		values = values[:1]
	}
	return Number{Interval: results.NewInterval(values), Censor: results.CensorNone}, ""
}

func driftFigure(name string, fresh, stale *results.DriftInterval) results.Float {
	switch name {
	case "sets":
		return 100 * fresh.Install.Sets
	case "counts":
		return 100 * fresh.Install.Counts
	case "hit loss":
		return 100 * (fresh.KVHit - stale.KVHit)
	case "p99 loss":
		return 1e3 * (stale.TTFTP99 - fresh.TTFTP99)
	}
	return 100 * fresh.Dip
}
