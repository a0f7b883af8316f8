// Package sim runs one simulation: it alone owns time and the order of events.
// Workload, policy and destinations are state machines that it calls.
package sim

import (
	"fmt"

	"cacheroute/engine"
	"cacheroute/policies"
	"cacheroute/results"
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// Config is one run: a fleet of equal destinations, a stream of requests and
// a policy that routes them.
type Config struct {
	Destinations int
	Engine       engine.Config
	Source       workload.Source
	Policy       policies.Policy
	Collector    *results.Collector

	// TTFTOverhead is what a client sees on top of the destination's time to
	// first token: network, tokenisation, the client itself. It delays what is
	// recorded, not the destination.
	TTFTOverhead clock.Time
	// ClientOverhead is what a client needs after the last token before it is
	// done with the request: a part of E2E, not of TPOT, and no matter of the
	// deadline.
	ClientOverhead clock.Time
	// SignalInterval is the age to which the router's view of the loads may
	// grow before it is refreshed; 0: always fresh.
	SignalInterval clock.Time
	// Deadline is the span after which a client gives a request up; 0: never.
	Deadline clock.Time
	// End closes the arrivals: a request at or after it is not sent. The run
	// then goes on until the fleet is empty.
	End clock.Time
	// Limit stops the run after the events of that instant, whatever is in
	// flight; 0: never.
	Limit clock.Time

	// Each, if not nil, is called with the record of every request, those
	// outside the measured window included, as it ends. It must not keep it.
	Each func(*results.Record)

	// NewDestination makes a destination; nil means engine.New. Tests pass
	// the plain one.
	NewDestination func(engine.Config) engine.Destination
}

// Result is what a run leaves beside the records in its collector.
type Result struct {
	// Fingerprint is a rolling hash of all arrivals, routing decisions, first
	// tokens and ends with their instants. Equal runs have equal ones.
	Fingerprint uint64
	Totals      results.FleetTotals
}

func (c Config) check() error {
	if err := c.Engine.Check(); err != nil {
		return err
	}
	switch {
	case c.Destinations < 1:
		return fmt.Errorf("destinations: must be at least 1, got %d", c.Destinations)
	case c.Source == nil || c.Policy == nil || c.Collector == nil:
		return fmt.Errorf("sim: a run needs a source, a policy and a collector")
	case c.TTFTOverhead < 0 || c.ClientOverhead < 0 || c.SignalInterval < 0 || c.Deadline < 0 || c.Limit < 0:
		return fmt.Errorf("sim: a span of the run is negative")
	case c.End <= 0:
		return fmt.Errorf("sim: the run must have an end, got %v", c.End)
	case c.Deadline > 0 && c.Deadline <= c.TTFTOverhead:
		return fmt.Errorf("deadline: %v is not above the TTFT overhead of %v, so every request would fail", c.Deadline, c.TTFTOverhead)
	}
	return nil
}

// Run simulates until the source is dry and the fleet is empty. An error is a
// bad configuration or a conservation law that does not hold: then no number
// of the run can be trusted.
func Run(cfg Config) (Result, error) {
	if err := cfg.check(); err != nil {
		return Result{}, err
	}
	f := newFleet(cfg)
	f.prepare()
	if err := f.loop(); err != nil {
		return Result{}, fmt.Errorf("sim: %w", err)
	}
	if err := f.check(); err != nil {
		return Result{}, fmt.Errorf("conservation: %w", err)
	}
	return Result{Fingerprint: f.print, Totals: f.totals()}, nil
}
