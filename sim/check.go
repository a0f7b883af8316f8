package sim

import (
	"fmt"

	"cacheroute/results"
)

// check holds the run to the laws of conservation.
func (f *fleet) check() error {
	sum := int64(0)
	for _, n := range f.ended {
		sum += n
	}
	open := 0
	for _, p := range f.slots {
		if p.open {
			open++
		}
	}
	switch {
	case f.arrived != sum || open != 0 || f.inFlight != 0 || f.waiting != 0:
		return fmt.Errorf("%d requests arrived, %d ended, %d are open, %d are counted in flight, %d without a first token",
			f.arrived, sum, open, f.inFlight, f.waiting)
	case f.area != f.sojourn:
		return fmt.Errorf("requests in flight over time sum to %d ps, their spans to %d ps (Little's law, modulo 2^64)", f.area, f.sojourn)
	}
	for i, e := range f.engines {
		if err := e.Check(); err != nil {
			return fmt.Errorf("destination %d: %w", i, err)
		}
	}
	return f.cfg.Collector.Check()
}

// totals sums what the destinations did.
func (f *fleet) totals() results.FleetTotals {
	t := results.FleetTotals{End: f.last, Requests: f.arrived}
	for _, e := range f.engines {
		c := e.Counters()
		t.Busy = append(t.Busy, c.Busy)
		t.Steps += c.Steps
		t.Preemptions += c.Preemptions
		t.PrefillTokens += c.Prefilled
		t.RecomputedTokens += c.Recomputed
		t.DecodeTokens += c.Decoded
	}
	return t
}
