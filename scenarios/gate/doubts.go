package gate

import (
	"fmt"
	"slices"
	"strings"

	"cacheroute/policies"
	"cacheroute/scenarios"
)

// unevenPlan is the largest over the mean planned load of a destination from
// which on a plan is called uneven: its fullest destination then fills when the
// fleet has two thirds of the load that it could take.
const unevenPlan = 1.5

// doubts are what a reader should know before acting on the verdict, first what
// the plan itself may be the reason of.
func (g *gate) doubts(m *measured, p *Plan) []string {
	all := []string{}
	if doubt := g.skewDoubt(p); doubt != "" {
		all = append(all, doubt)
	}
	all = append(all, g.runner.Notices...)
	for i := range m.knees {
		none := 0
		for _, k := range m.knees[i] {
			if k.load == 0 {
				none++
			}
		}
		if none > 0 {
			all = append(all, fmt.Sprintf("%s meets the objective at no load in %d of %d replicates, which count as 0", g.label(i), none, len(g.seeds)))
		}
		if slices.ContainsFunc(m.knees[i], func(k knee) bool { return k.most }) {
			all = append(all, fmt.Sprintf("%s meets the objective at every load tried in some replicates: its capacity is a lower bound", g.label(i)))
		}
	}
	if doubt := scenarios.RateDoubt(g.trained.Requests); doubt != "" {
		all = append(all, doubt)
	}
	if t := g.runner.Trace(); t != nil && strings.Contains(t.Header().KeyRule, "auto") {
		all = append(all, fmt.Sprintf("the key rule %s was chosen on the whole recording", t.Header().KeyRule))
	}
	if g.Others != nil {
		all = append(all, fmt.Sprintf("not compared: %s; the gate judges one candidate against one baseline, which should be what is in production (--baseline, --candidate)", strings.Join(g.Others, ", ")))
	}
	return all
}

// skewDoubt words that the plan sends a destination more than its share: one key
// alone is more and none may be copied, or the fullest destination is far above
// the mean for another reason. Empty: neither, or no plan.
func (g *gate) skewDoubt(p *Plan) string {
	if p == nil {
		return ""
	}
	candidate := g.runner.Study.Policies[1]
	rule := candidate.Spec.(*policies.CacheRoute)
	times := p.Busiest * float64(g.runner.Study.Fleet.Destinations)
	single := rule.QCap == 0 || !rule.Replication
	var text string
	switch {
	case single && times > 1:
		text = fmt.Sprintf("skewed: the busiest key alone is %.3g times a destination's share of the traffic, and the plan gives every key one destination", times)
	case p.Balance > unevenPlan:
		text = fmt.Sprintf("skewed: the planned load of the fullest destination is %.3g times the mean", p.Balance)
	default:
		return ""
	}
	cure := "--set policies.%[1]s.q_cap_qps=N, the requests/s that one destination serves within the objective (cacheroute qcap measures it on a study), gives busy keys more of them"
	switch {
	case !rule.Replication:
		cure = "--set policies.%[1]s.replication=true together with " + cure
	case rule.QCap > 0:
		cure = "a lower q_cap: " + cure
	}
	return text + "; " + fmt.Sprintf(cure+", each in a slot of its own, so --set policies.%[1]s.slots=N must leave room", candidate.Label)
}
