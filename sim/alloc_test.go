package sim_test

import (
	"runtime"
	"testing"

	"cacheroute/engine"
	"cacheroute/results"
	"cacheroute/sim"
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// A steady run allocates nothing per request: twice the requests take hardly
// more allocations. What remains is tables and rings that double and what each
// of the keys brings up once.
func TestSteadyRunAllocatesNothing(t *testing.T) {
	for _, name := range policyNames() {
		run := func(n int) (allocations, requests float64) {
			cfg := cell(t, name, 10, clock.Streams{Seed: 17})
			cfg.Engine.Blocks, cfg.Engine.MaxSeqs = 400, 64
			cfg.End = clock.FromSeconds(float64(n) / 120)
			cfg.Collector = results.NewCollector(results.Window{To: clock.Never}, 100, 10, 2*n)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			res, err := sim.Run(cfg)
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			return float64(after.Mallocs - before.Mallocs), float64(res.Totals.Requests)
		}
		few, n := run(20_000)
		many, twice := run(40_000)
		per := (many - few) / (twice - n)
		t.Logf("%s: %.0f allocations for %.0f requests, %.0f for %.0f", name, few, n, many, twice)
		if per > 0.02 {
			t.Errorf("%s: %.4f allocations a request", name, per)
		}
	}
}

// Neither do spans, whose steps are not events: ten times the tokens allocate
// nothing more.
func TestLongAnswersAllocateNothing(t *testing.T) {
	run := func(output int32) float64 {
		requests := make([]workload.Request, 2000)
		for i := range requests {
			requests[i] = ask(clock.Time(i)*8000, 50, output)
		}
		cfg := sim.Config{
			Destinations: 1, Engine: engine.Config{BlockTokens: 4, Blocks: 10_000, MaxBatchedTokens: 256, MaxSeqs: 16, Cost: price(100, 1, 0, 1, 0)},
			Source: &script{requests: numbered(requests...)}, Policy: byKey{}, End: clock.Never,
			Collector: results.NewCollector(results.Window{To: clock.Never}, 1, 1, 2000),
		}
		return testing.AllocsPerRun(1, func() {
			cfg.Source.(*script).next = 0
			if _, err := sim.Run(cfg); err != nil {
				t.Fatal(err)
			}
		})
	}
	short, long := run(50), run(500)
	t.Logf("%.0f and %.0f allocations", short, long)
	if long > short+20 {
		t.Errorf("answers ten times as long take %.0f allocations more", long-short)
	}
}
