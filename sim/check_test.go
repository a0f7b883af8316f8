package sim

import (
	"testing"

	"cacheroute/engine"
	"cacheroute/policies"
	"cacheroute/results"
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

type ticks struct{ n int64 }

func (s *ticks) Next(r *workload.Request) bool {
	r.Reset()
	r.Index, r.At = s.n, clock.Time(30*s.n)
	r.Append(0, workload.Turn, 10)
	r.SetOutput(0, 3)
	s.n++
	return s.n <= 20
}

type first struct{}

func (first) Route(*workload.Request, *policies.View) int { return 0 }

// Each sum that the final check compares is counted on its own: one off in any
// of them is found.
func TestCheckFindsEachBrokenSum(t *testing.T) {
	for name, spoil := range map[string]func(f *fleet){
		"arrived":   func(f *fleet) { f.arrived++ },
		"ended":     func(f *fleet) { f.ended[results.TimedOut]++ },
		"open":      func(f *fleet) { f.slots[0].open = true },
		"in flight": func(f *fleet) { f.inFlight-- },
		"waiting":   func(f *fleet) { f.waiting++ },
		"area":      func(f *fleet) { f.area++ },
		"sojourn":   func(f *fleet) { f.sojourn-- },
		"collector": func(f *fleet) { f.cfg.Collector.Add(&results.Record{}) },
		"untouched": nil,
	} {
		cost := engine.Linear{BaseMS: 1e-8, PrefillMS: 1e-9}
		f := newFleet(Config{
			Destinations: 1, Engine: engine.Config{BlockTokens: 4, Blocks: 40, MaxBatchedTokens: 64, MaxSeqs: 8, Cost: cost.Build()},
			Source: &ticks{}, Policy: first{}, End: clock.Never,
			Collector: results.NewCollector(results.Window{To: clock.Never}, 1, 1, 0),
		})
		f.prepare()
		f.loop()
		fine := spoil == nil
		if spoil != nil {
			spoil(f)
		}
		if err := f.check(); (err == nil) != fine {
			t.Errorf("%s: %v", name, err)
		}
	}
}
