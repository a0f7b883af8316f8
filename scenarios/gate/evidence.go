package gate

import (
	"fmt"
	"math"
	"slices"

	"cacheroute/results"
)

// What a verdict rests on at least; below, it is inconclusive whatever the
// intervals say.
const (
	// Of under 100 requests the p99 by nearest rank is the slowest, which grows
	// with the length of the window and so estimates nothing. From there on its
	// noise shows in the interval over the replicates.
	leastRequests = 100
	// Five replicates of a plan that changes nothing all agree once in 16 times,
	// four once in 8. The interval of fewer holds only if the differences are
	// normal, which so few cannot contradict.
	leastReplicates = 5
)

// Evidence is how much a verdict rests on, and what it needs.
type Evidence struct {
	Replicates      int   `json:"replicates"`
	LeastReplicates int   `json:"least_replicates"`
	Requests        int64 `json:"requests"` // in the smallest of the runs compared and of those at the knees
	LeastRequests   int64 `json:"least_requests"`
	// HitsUnknown: a recording does not say what prompts share, so that none hits.
	HitsUnknown bool `json:"hits_unknown"`
	// KneeAbove is the load up to which the baseline meets the objective in some
	// replicate, as the ladder ends there; 0: all of its knees were found.
	KneeAbove float64 `json:"baseline_knee_above_qps"`
}

// evidence counts what a verdict at the loads rests on. A knee of 0 has no run.
func (g *gate) evidence(m *measured, loads ...float64) Evidence {
	t := g.runner.Trace()
	e := Evidence{
		Replicates: len(g.seeds), LeastReplicates: leastReplicates, Requests: math.MaxInt64, LeastRequests: leastRequests,
		HitsUnknown: t != nil && !t.HitsKnown(),
	}
	for _, k := range m.knees[0] {
		if k.most {
			e.KneeAbove = max(e.KneeAbove, k.load)
		}
	}
	for i := range m.cells {
		if c := &m.cells[i]; slices.Contains(loads, c.LoadQPS) {
			e.Requests = min(e.Requests, c.Requests)
		}
	}
	for _, k := range slices.Concat(m.knees[:]...) {
		if k.load > 0 {
			e.Requests = min(e.Requests, k.requests)
		}
	}
	return e
}

// lacks says what there is too little of; none: it is enough.
func (e Evidence) lacks() (all []string) {
	if e.Replicates < e.LeastReplicates {
		all = append(all, fmt.Sprintf("too little evidence: %d of at least %d replicates: fewer agree by chance too often", e.Replicates, e.LeastReplicates))
	}
	if e.Requests < e.LeastRequests {
		all = append(all, fmt.Sprintf("too little evidence: %d of at least %d requests in the smallest run: of fewer the p99 is the slowest", e.Requests, e.LeastRequests))
	}
	if e.HitsUnknown {
		all = append(all, "too little evidence: hits are unknown, as the trace does not say what prompts share: every prompt is computed whole, so no affinity can win")
	}
	if e.KneeAbove > 0 {
		all = append(all, fmt.Sprintf("too little evidence: the baseline meets the objective up to %s requests/s, where the ladder ends: too few requests to fill a queue", digits(results.Float(e.KneeAbove))))
	}
	return all
}

// words says how much there is.
func (e Evidence) words() string {
	return fmt.Sprintf("replicates: %d (at least %d); requests in the smallest run: %d (at least %d)", e.Replicates, e.LeastReplicates, e.Requests, e.LeastRequests)
}

// remedies say what to set for enough.
func (g *gate) remedies(e Evidence) (all []string) {
	recorded := g.runner.Trace() != nil
	if e.Replicates < e.LeastReplicates {
		seeds := fmt.Sprintf("at least %d seeds (--seeds), or %d without the flag", e.LeastReplicates, fewestSeeds)
		if recorded {
			seeds = fmt.Sprintf("at least %d windows (--windows)", e.LeastReplicates)
		}
		all = append(all, seeds)
	}
	if e.Requests < e.LeastRequests {
		times := float64(e.LeastRequests) / float64(max(1, e.Requests))
		// The knee of a longer window is lower, so some more than in proportion.
		longer := 1.25 * times * g.runner.Study.Measure.DurationS
		window := fmt.Sprintf("a longer window: --set measure.duration_s=%.0f", math.Ceil(longer))
		if recorded {
			window = fmt.Sprintf("longer windows: fewer of them (--windows), a shorter --train, or a recording of about %s times the length", digits(results.Float(times)))
		}
		all = append(all, window)
	}
	if e.HitsUnknown {
		all = append(all, "what prompts share, stated as --set workload.trace.prompt.key_tokens=TOKENS (of a trace without a study also --assume key=TOKENS); all hits then rest on it")
	}
	if e.KneeAbove > 0 {
		all = append(all, "a knee, from more requests in a window or from fewer destinations (--set fleet.destinations=N)")
	}
	return all
}
