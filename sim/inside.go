package sim

import (
	"cacheroute/policies"
	"cacheroute/workload"
)

// inside lets the view of a run look into its destinations.
type inside struct{ f *fleet }

// Signal implements policies.Fleet.
func (x inside) Signal(i int) policies.Signal {
	waiting, running, usage := x.f.engines[i].Load(x.f.now)
	return policies.Signal{Waiting: waiting, Running: running, KVUsage: usage}
}

// Cached implements policies.Fleet.
func (x inside) Cached(r *workload.Request, i int) int { return x.f.engines[i].Cached(r, x.f.now) }
