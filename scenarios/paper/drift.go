package paper

import (
	"encoding/json"
	"fmt"
	"slices"

	"cacheroute/results"
)

const driftIntervals = 6

// interval is an interval of a drift by the names of summary.json.
type interval struct {
	KVHit   float64 `json:"kv_hit"`
	TTFTP99 float64 `json:"ttft_p99_s"`
	Dip     float64 `json:"dip"`
	Install struct {
		Sets   float64 `json:"sets"`
		Counts float64 `json:"counts"`
	} `json:"install"`
}

// intervals are those of each seed of a study of one policy and load.
func (e *entry) intervals() (map[uint64][]interval, error) {
	all := map[uint64][]interval{}
	for _, c := range e.cells {
		text, err := json.Marshal(&c)
		if err != nil {
			return nil, err
		}
		var cell struct{ Intervals []interval }
		if err := json.Unmarshal(text, &cell); err != nil {
			return nil, err
		}
		if len(cell.Intervals) != driftIntervals {
			return nil, fmt.Errorf("study %s measured %d intervals of drift, wanted %d", e.name, len(cell.Intervals), driftIntervals)
		}
		all[c.Seed] = cell.Intervals
	}
	return all, nil
}

// drifted is a figure of Table 12 at a transition, or the mean over those that
// the paper means: all five for churn, the three measured ones for the rest.
func drifted(b *bench, e *entry, s source) (Number, string) {
	old := b.byName[companions[e.name]]
	if old.runner == nil {
		return Number{}, old.reason
	}
	fresh, err := e.intervals()
	if err != nil {
		return Number{}, err.Error()
	}
	stale, err := old.intervals()
	if err != nil {
		return Number{}, err.Error()
	}
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
			sum += driftFigure(s.Figure, fresh[seed][i], stale[seed][i])
		}
		values = append(values, sum/float64(len(at)))
	}
	if slices.Min(values) == slices.Max(values) { // the plan knows no seeds
		values = values[:1]
	}
	return Number{Interval: results.NewInterval(values), Censor: results.CensorNone}, ""
}

func driftFigure(name string, fresh, stale interval) float64 {
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
