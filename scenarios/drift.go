package scenarios

import (
	"fmt"
	"math"

	"cacheroute/policies"
	"cacheroute/results"
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// maxIntervals bounds the intervals of drift of a run: each is planned,
// measured and listed by itself.
const maxIntervals = 1000

// checkDrift checks what only a study with a drift is held to.
func (s *Study) checkDrift(c *checker) {
	m, d := &s.Measure, s.Workload.Synthetic.Drift
	c.within("measure.edge_s", m.EdgeS, 0, maxSpanS)
	if s.Workload.Trace != nil || d == nil {
		c.want(m.EdgeS == 0, "measure.edge_s: read without workload.drift, whose intervals have edges")
		for i := range s.Policies {
			rule, ok := s.Policies[i].Spec.(*policies.CacheRoute)
			c.want(!ok || rule.Replan == "never", "policies.%d.replan: read without workload.drift, wanted never, as there is nothing to plan again for", i)
		}
		return
	}
	if d.Check() != nil {
		return // said with the workload
	}
	c.want(m.EdgeS <= d.IntervalS/2, "measure.edge_s: must be at most half of workload.drift.interval_s = %v, got %v", d.IntervalS, m.EdgeS)
	span := m.WarmupS + m.DurationS
	if a := s.staged(); a != nil && m.ByStage && a.Check() == nil {
		last := len(a.Stages) - 1
		span = a.Starts()[last] + a.Stages[last].DurationS
	}
	c.want(!(span > maxIntervals*d.IntervalS), "workload.drift.interval_s: %v s are %.4g intervals in a run of %v s, wanted at most %d",
		d.IntervalS, span/d.IntervalS, span, maxIntervals)
}

// interval is how long rates hold and the edge that is measured by itself; an
// edge of 0 without a drift. The study has passed Check.
func (s *Study) interval() (interval, edge clock.Time) {
	d := s.Workload.Synthetic.Drift
	if d == nil {
		return clock.Never, 0
	}
	interval = d.Interval()
	if s.Measure.EdgeS > 0 {
		return interval, clock.FromSeconds(s.Measure.EdgeS)
	}
	return interval, max(1, interval/10)
}

// drift tells a policy how the rates of its keys will move at the given load.
func (r *Runner) drift(env *policies.Env, qps float64) {
	if w, ok := r.load.(*workload.Synthetic); ok && r.Study.Workload.Synthetic.Drift != nil {
		env.Interval, env.NextRates = w.Drift(qps)
	}
}

// noteDrift writes what a policy installed to the intervals of its cell. With
// moving rates no one Gini coefficient was asked for.
func noteDrift(cell *results.Cell, p policies.Policy) {
	if len(cell.Intervals) > 0 {
		cell.AskedGini = results.Float(math.NaN())
	}
	replanned, ok := p.(policies.Replanned)
	if !ok {
		return
	}
	at := map[float64]*results.DriftInterval{}
	for i := range cell.Intervals {
		at[float64(cell.Intervals[i].FromS)] = &cell.Intervals[i]
	}
	for _, x := range replanned.Installs() {
		row := at[x.At.Seconds()]
		if row == nil {
			continue // before the measured window
		}
		row.Install = &results.Install{
			Keys: results.Float(float64(x.KeysMoved) / float64(max(1, x.Keys))), Traffic: results.Float(x.TrafficMoved),
			Sets: results.Float(x.Cache), Pairs: results.Float(x.Pooled), Counts: results.Float(x.Count),
			ImbalanceStale: results.Float(x.ImbalanceStale), ImbalanceFresh: results.Float(x.ImbalanceFresh),
		}
	}
}

// driftWords says how the rates of keys move.
func driftWords(d *workload.DriftSpec) string {
	text := fmt.Sprintf("rates that take a lognormal step of sigma %v each %v s", d.Sigma, d.IntervalS)
	if d.First > 0 {
		text += fmt.Sprintf(", %s taken before", count(d.First, "step"))
	}
	return text
}
