// Package policies chooses a destination for each request and builds the
// routing table of the paper (Plan, Algorithm 1). A policy knows what a
// client-side router can know: the request's key and prompt identity, and the
// router's own count of requests in flight. Only an Insider also sees what
// engines report of themselves.
package policies

import (
	"math/rand/v2"

	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// Policies is the table of policies by name: a parameter struct with its
// defaults, to be decoded into. A policy is one file and one row here.
var Policies = map[string]func() Spec{
	"flat-lb":    func() Spec { return &FlatLB{} },
	"sticky":     func() Spec { return &Sticky{Hash: "ring", Vnodes: defaultVnodes} },
	"chwbl":      func() Spec { return &CHWBL{Rule: "paper", Epsilon: 0.25, Overflow: "next", Vnodes: defaultVnodes} },
	"dualmap":    func() Spec { return &DualMap{Theta: 1.75, Vnodes: defaultVnodes} },
	"preble":     func() Spec { return newPreble() },
	"cacheroute": func() Spec { return NewCacheRoute() },

	"random":        func() Spec { return &Random{} },
	"least-loaded":  func() Spec { return &LeastLoaded{QueueWeight: 2, KVWeight: 2} },
	"llm-d":         func() Spec { return newLLMD() },
	"llm-d-precise": func() Spec { return &LLMDPrecise{QueueWeight: 1, KVWeight: 1, PrefixWeight: 2} },
}

// Policy maps a request to a destination. One value serves one run.
type Policy interface {
	// Route returns the index of a destination, 0 <= index < v.Destinations().
	// It is called once a request, in order of arrival, before the view counts
	// the request as in flight. r is valid during the call only.
	Route(r *workload.Request, v *View) int
}

// Observer is a Policy that is told what the client sees of a request that it
// routed. r is the routed request, unchanged.
type Observer interface {
	// FirstToken is called when the first token of r arrives from destination.
	FirstToken(r *workload.Request, destination int, now clock.Time)
	// Done is called once for each routed request, when it completes, is
	// refused or is given up; the first token may never have come.
	Done(r *workload.Request, destination int, now clock.Time)
}

// Insider is a Policy that looks into the destinations through View.Signal or
// View.Cached. A client-side router cannot; one with metrics or KV events can.
type Insider interface {
	Policy
	// Looks is a marker: it does nothing.
	Looks()
}

// Spreader is a Policy of which it is known beforehand where the requests of a
// key go in the long run, whatever the load.
type Spreader interface {
	Policy
	// Spread is the destinations that share the requests of a key alike; nil: all.
	Spread(key int32) []int32
}

// Spec is the parameters of one policy, as a study gives them.
type Spec interface {
	// About is one line for a list.
	About() string
	// Check returns nil or an error whose text starts with the name of the
	// offending parameter and a colon.
	Check() error
	// Build makes the policy for one run. The spec has passed Check.
	Build(env Env) (Policy, error)
}

// Env is what a run offers to the builder of a policy.
type Env struct {
	Destinations int
	// KeyHashes names each key: an unseeded 64-bit hash by dense key index.
	KeyHashes []uint64
	// Rates is the expected rate of each key in requests per second at the
	// load of the run, by dense key index (paper section 3.1, lambda_b).
	Rates []float64
	// NextRates gives the rates of the interval after the one that it gave last,
	// first of that after Rates; an interval is Interval long. nil: the rates hold
	// for the whole run.
	NextRates func() []float64
	Interval  clock.Time
	// PrefillSecondsPerToken is the marginal price of one prefill token on an
	// idle destination, for policies that predict TTFT.
	PrefillSecondsPerToken float64
	// Rand is the policy's own stream, for ties and random choices.
	Rand *rand.Rand
	// HashSeed seeds the placement of keys on hash rings; it varies with the
	// seed of the run, as one ring is one sample of its imbalance.
	HashSeed uint64
}
