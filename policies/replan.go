package policies

import (
	"slices"

	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// Install is a routing table that replaced another while a run went on.
type Install struct {
	At clock.Time // start of the interval
	Churn
	// KeysMoved is the keys whose destinations are others than before, and
	// TrafficMoved their share of the traffic in the interval.
	KeysMoved    int
	TrafficMoved float64
	// ImbalanceStale and ImbalanceFresh are the largest over the mean planned
	// load under the rates of the interval: had the old table stayed, and with
	// the new one.
	ImbalanceStale, ImbalanceFresh float64
}

// Replanned is a Policy whose table may be replaced during a run.
type Replanned interface {
	Policy
	// Installs lists the tables that have replaced another so far.
	Installs() []Install
}

// replanning is cacheRoute with a new table at the start of each interval of
// drift. A table is swapped between two decisions: requests in flight stay
// where they are, and no KV moves (paper, section 3.2).
type replanning struct {
	cacheRoute
	in       PlanInput // its rates are those of the interval
	interval clock.Time
	next     func() []float64 // rates of the interval that begins
	at       clock.Time       // start of the next interval
	installs []Install
}

func (p *replanning) Route(r *workload.Request, v *View) int {
	for v.Now >= p.at {
		p.install()
	}
	return p.cacheRoute.Route(r, v)
}

// Installs implements Replanned.
func (p *replanning) Installs() []Install { return p.installs }

// install plans the interval that has begun.
func (p *replanning) install() {
	before, rates := p.in, p.next()
	p.in.Rates = rates
	var table Table
	var err error
	switch p.in.Rule.Replan {
	case "late":
		table, err = Plan(before)
	case "keep":
		table, err = Keep(p.in, &p.table)
	default:
		table, err = Plan(p.in)
	}
	if err != nil {
		panic("policies: drift made rates that cannot be planned: " + err.Error())
	}
	p.installs = append(p.installs, newInstall(p.at, rates, &p.table, &table))
	p.table = table
	clear(p.turn) // of sets that are gone
	p.at += p.interval
}

// newInstall compares two tables under the rates of an interval.
func newInstall(at clock.Time, rates []float64, before, after *Table) Install {
	x := Install{At: at, Churn: CompareTables(len(rates), before.Assigned, after.Assigned)}
	moved, all := 0.0, 0.0
	for b, rate := range rates {
		all += rate
		if !sameSet(before.Assigned(b), after.Assigned(b)) {
			x.KeysMoved++
			moved += rate
		}
	}
	if all > 0 {
		x.TrafficMoved = moved / all
	}
	x.ImbalanceStale, x.ImbalanceFresh = before.ImbalanceUnder(rates), after.ImbalanceUnder(rates)
	return x
}

// sameSet compares sets of destinations, none twice in either.
func sameSet(a, b []int32) bool {
	if len(a) != len(b) {
		return false
	}
	for _, r := range a {
		if !slices.Contains(b, r) {
			return false
		}
	}
	return true
}
