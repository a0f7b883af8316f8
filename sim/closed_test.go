package sim_test

import (
	"math"
	"testing"

	"cacheroute/engine"
	"cacheroute/engine/oracle"
	"cacheroute/policies"
	"cacheroute/results"
	"cacheroute/sim"
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// runClosed runs clients in a closed loop on two destinations and returns the
// spans of all requests and the fingerprint.
func runClosed(t *testing.T, clients int, think string, make func(engine.Config) engine.Destination) (spans []clock.Time, print uint64) {
	t.Helper()
	w, err := workload.NewSynthetic(workload.Spec{
		Keys:     &workload.ZipfKeys{Count: 4, Exponent: 1, Seed: 1},
		Arrivals: &workload.ClosedArrivals{ThinkS: 0.5, Think: think},
		Prompt:   workload.PromptSpec{ContextTokens: workload.Tokens(100), TurnTokens: workload.Tokens(30)},
		Output:   workload.Tokens(20),
	})
	if err != nil {
		t.Fatal(err)
	}
	streams := clock.Streams{Seed: 5}
	source, err := w.Open(float64(clients), streams)
	if err != nil {
		t.Fatal(err)
	}
	policy, err := policies.Policies["flat-lb"]().Build(policies.Env{Destinations: 2, Rand: streams.Rand("policy")})
	if err != nil {
		t.Fatal(err)
	}
	cost := engine.Linear{BaseMS: 5, SequenceMS: 0.1, ContextMS: 1e-4, PrefillMS: 0.05}
	out, err := sim.Run(sim.Config{
		Destinations: 2, Source: source, Policy: policy, NewDestination: make, TTFTOverhead: clock.Millisecond, ClientOverhead: 30 * clock.Millisecond,
		Engine:    engine.Config{BlockTokens: 16, Blocks: 200, MaxBatchedTokens: 512, MaxSeqs: 16, Cost: cost.Build()},
		End:       60 * clock.Second,
		Collector: results.NewCollector(results.Window{To: clock.Never}, 4, 2, 100),
		Each:      func(r *results.Record) { spans = append(spans, r.E2E) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return spans, out.Fingerprint
}

// The interactive response time law: each client is always either thinking or
// waiting, so throughput is clients / (response + think time), in a window of
// 60 s but for the round under way at its end.
func TestClosedLoopResponseTimeLaw(t *testing.T) {
	for _, think := range []string{"constant", "exponential"} {
		for _, clients := range []int{1, 7, 60} {
			spans, print := runClosed(t, clients, think, nil)
			mean := 0.0
			for _, s := range spans {
				mean += s.Seconds() / float64(len(spans))
			}
			want := 60 * float64(clients) / (mean + 0.5)
			tolerance := 1.5*float64(clients) + 4*math.Sqrt(float64(len(spans))) // rounds cut at the end; thinking is random
			if think == "constant" {
				tolerance = 1.5 * float64(clients)
			}
			if math.Abs(float64(len(spans))-want) > tolerance {
				t.Errorf("%d clients, %s: %d requests, the law says %.0f ± %.0f", clients, think, len(spans), want, tolerance)
			}
			if _, plain := runClosed(t, clients, think, func(c engine.Config) engine.Destination { return oracle.New(c) }); plain != print {
				t.Errorf("%d clients, %s: the plain destination has another fingerprint", clients, think)
			}
		}
	}
}
