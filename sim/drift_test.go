package sim_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cacheroute/engine"
	"cacheroute/engine/oracle"
	"cacheroute/policies"
	"cacheroute/sim"
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// driftingKeys is a dozen keys, one of them a whale, whose rates move every two
// seconds.
func driftingKeys(t rapid.TB, seed uint64) *workload.Synthetic {
	t.Helper()
	w, err := workload.NewSynthetic(workload.Spec{
		Keys:     &workload.ZipfKeys{Exponent: 1, Count: 12, Seed: seed},
		Whales:   &workload.WhaleSpec{Count: 1, TrafficShare: 0.3},
		Drift:    &workload.DriftSpec{Sigma: 0.7, IntervalS: 2, Seed: seed},
		Arrivals: workload.ArrivalSpecs["poisson"](),
		Prompt: workload.PromptSpec{TemplateTokens: 40, ContextTokens: workload.Tokens(90), RetrievedTokens: workload.Tokens(50),
			Variants: 3, StayProbability: 0.5, TurnTokens: workload.Tokens(20)},
		Output: workload.Tokens(8),
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Under drift and new tables the fast destination agrees with the plain one,
// record by record, in what it does and in what was installed.
func TestReplanAgreesWithOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const qps, destinations = 40, 4
		seed := rapid.Uint64Range(0, 1<<20).Draw(t, "seed")
		w := driftingKeys(t, seed)
		source, err := w.Open(qps, clock.Streams{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		var requests []workload.Request
		for r := (workload.Request{}); source.Next(&r) && r.At < 9*clock.Second; {
			one := r
			one.Prompt = slices.Clone(r.Prompt)
			requests = append(requests, one)
		}
		rule := policies.NewCacheRoute()
		rule.Slots, rule.QCap = 3, 5
		rule.Replan = rapid.SampledFrom([]string{"every", "late", "keep"}).Draw(t, "replan")
		if rule.Replan != "keep" {
			rule.Placement = rapid.SampledFrom([]string{"lpt", "random"}).Draw(t, "placement")
		}
		rule.Dispatch = rapid.SampledFrom([]string{"inflight", "rr"}).Draw(t, "dispatch")
		cfg := sim.Config{
			Destinations: destinations,
			Engine: engine.Config{BlockTokens: 16, Blocks: rapid.IntRange(20, 120).Draw(t, "blocks"), MaxBatchedTokens: 256, MaxSeqs: 8,
				Cost: price(20e9, 1e9, 1e6, 1e8, 0)},
			End: clock.Never, Deadline: 3 * clock.Second,
		}
		run := func(make func(engine.Config) engine.Destination) (outcome, []policies.Install) {
			rates, err := w.Rates(qps)
			if err != nil {
				t.Fatal(err)
			}
			interval, next := w.Drift(qps)
			cfg.Policy, err = rule.Build(policies.Env{Destinations: destinations, KeyHashes: w.KeyHashes(), Rates: rates, NextRates: next, Interval: interval,
				Rand: clock.Streams{Seed: seed}.Rand("policy"), HashSeed: seed})
			if err != nil {
				t.Fatal(err)
			}
			return play(t, cfg, requests, make), cfg.Policy.(policies.Replanned).Installs()
		}
		want, planned := run(func(c engine.Config) engine.Destination { return oracle.New(c) })
		got, installed := run(func(c engine.Config) engine.Destination { return engine.New(c) })
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(outcome{})); diff != "" {
			t.Fatalf("engine differs from oracle (-oracle +engine):\n%s", diff)
		}
		if diff := cmp.Diff(planned, installed); diff != "" || len(planned) != 4 {
			t.Fatalf("%d tables were installed, want 4; with the plain engine others:\n%s", len(planned), diff)
		}
	})
}
