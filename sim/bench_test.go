package sim_test

import (
	"slices"
	"testing"

	"cacheroute/engine"
	"cacheroute/policies"
	"cacheroute/results"
	"cacheroute/sim"
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// fleet70B is 30 destinations of Llama-3.3-70B fp8 TP2 with the step costs
// fitted to public benches.
func fleet70B(b *testing.B, budget int) engine.Config {
	cost := engine.Linear{BaseMS: 16.66, SequenceMS: 0.0323, ContextMS: 6.5e-5, PrefillMS: 0.0756, AttentionMS: 2e-6}
	return engine.Config{BlockTokens: 16, Blocks: 40071, MaxBatchedTokens: budget, MaxSeqs: 256, Cost: cost.Build()}
}

func lognormal(mean, sigma float64) workload.Length {
	return workload.Length{Dist: &workload.LognormalLength{Name: "lognormal", Mean: mean, Sigma: sigma}}
}

func synthetic(b *testing.B, spec workload.Spec) *workload.Synthetic {
	spec.Arrivals = workload.ArrivalSpecs["poisson"]()
	w, err := workload.NewSynthetic(spec)
	if err != nil {
		b.Fatal(err)
	}
	return w
}

// table1 is the paper's flagship workload, with the top keys of the primary
// distribution.
func table1(b *testing.B, top int) *workload.Synthetic {
	return synthetic(b, workload.Spec{
		Keys: &workload.LognormalKeys{Sigma: 1.65, Count: 128824, Top: top, Seed: 1},
		Prompt: workload.PromptSpec{
			TemplateTokens: 1800, ContextTokens: workload.Tokens(1500), RetrievedTokens: workload.Tokens(700),
			Variants: 8, StayProbability: 0.33, TurnTokens: lognormal(190, 0.75),
		},
		Output: lognormal(150, 0.6),
	})
}

// longPrefix is the workload on which the throughput of another simulator of
// this kind is published.
func longPrefix(b *testing.B) *workload.Synthetic {
	return synthetic(b, workload.Spec{
		Keys:   &workload.ZipfKeys{Exponent: 0.5, Count: 128, Seed: 1},
		Prompt: workload.PromptSpec{ContextTokens: workload.Tokens(8000), RetrievedTokens: workload.Tokens(0), TurnTokens: workload.Tokens(500)},
		Output: workload.Tokens(200),
	})
}

// runCell simulates n requests and returns the cell.
func runCell(b *testing.B, w *workload.Synthetic, cfg sim.Config, policy string, qps float64, n int) results.Cell {
	streams := clock.Streams{Seed: 2}
	rates, err := w.Rates(qps)
	if err != nil {
		b.Fatal(err)
	}
	env := policies.Env{
		Destinations: cfg.Destinations, KeyHashes: w.KeyHashes(), Rates: rates,
		PrefillSecondsPerToken: 7.56e-5, Rand: streams.Rand("policy"), HashSeed: streams.Uint64("policy/hash"),
	}
	if cfg.Policy, err = policies.Policies[policy]().Build(env); err != nil {
		b.Fatal(err)
	}
	if cfg.Source, err = w.Open(qps, streams); err != nil {
		b.Fatal(err)
	}
	cfg.End = clock.FromSeconds(float64(n) / qps)
	cfg.Collector = results.NewCollector(results.Window{To: cfg.End}, w.Keys(), cfg.Destinations, n)
	res, err := sim.Run(cfg)
	if err != nil {
		b.Fatal(err)
	}
	return cfg.Collector.Cell(res.Totals)
}

func benchmarkPolicies(b *testing.B, w *workload.Synthetic, cfg sim.Config, qps float64, n int) {
	names := make([]string, 0, len(policies.Policies))
	for name := range policies.Policies {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			requests := int64(0)
			for b.Loop() {
				requests += int64(runCell(b, w, cfg, name, qps, n).Requests)
			}
			b.ReportMetric(float64(requests)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}

// BenchmarkTable1 is the table-1 cell at 100 QPS, generation and metrics
// included: the target is a million requests per CPU second for cacheroute.
func BenchmarkTable1(b *testing.B) {
	cfg := sim.Config{Destinations: 30, Engine: fleet70B(b, 8192), Deadline: 60 * clock.Second}
	benchmarkPolicies(b, table1(b, 128), cfg, 100, 200_000)
}

// BenchmarkLongPrefix has long prompts, chunked prefill and deep decode
// batches: the target is half a million requests per CPU second.
func BenchmarkLongPrefix(b *testing.B) {
	cfg := sim.Config{Destinations: 30, Engine: fleet70B(b, 2048)}
	benchmarkPolicies(b, longPrefix(b), cfg, 100, 100_000)
}

// BenchmarkFleet1000 scales fleet, load and keys by 33: the target is at most
// twice the time of a request at 30 destinations.
func BenchmarkFleet1000(b *testing.B) {
	cfg := sim.Config{Destinations: 1000, Engine: fleet70B(b, 8192), Deadline: 60 * clock.Second}
	benchmarkPolicies(b, table1(b, 128*33), cfg, 100*1000/30, 200_000)
}
