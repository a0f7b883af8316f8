package sim_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cacheroute/engine"
	"cacheroute/engine/oracle"
	"cacheroute/policies"
	"cacheroute/results"
	"cacheroute/sim"
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// script is a source that replays given requests.
type script struct {
	requests []workload.Request
	next     int
}

func (s *script) Next(r *workload.Request) bool {
	if s.next == len(s.requests) {
		return false
	}
	*r = s.requests[s.next]
	s.next++
	return true
}

// byKey routes a key to one destination.
type byKey struct{}

func (byKey) Route(r *workload.Request, v *policies.View) int { return int(r.Key) % v.Destinations() }

// looking routes by all that a view tells of the destinations, so that a
// difference in it is a difference in the run.
type looking struct{}

func (looking) Looks() {}

func (looking) Route(r *workload.Request, v *policies.View) int {
	best, most := 0, math.Inf(-1)
	for i := range v.Destinations() {
		s := v.Signal(i)
		score := float64(v.Cached(r, i)) - 1.5*float64(s.Waiting) - 0.7*float64(s.Running) - 3*s.KVUsage
		if score > most {
			best, most = i, score
		}
	}
	return best
}

// audited checks an engine's whole state after every step.
type audited struct{ engine.Destination }

func (a audited) Finish(now clock.Time, out []engine.Outcome) []engine.Outcome {
	out = a.Destination.Finish(now, out)
	if err := a.Check(); err != nil {
		panic(err)
	}
	return out
}

// drawScript makes a small workload that shares segments in every way: common
// and per-key segments of several lengths under one identity, whole prompts
// repeated, answers that later prompts hold (even before they are complete).
func drawScript(t *rapid.T, block int) []workload.Request {
	n := rapid.IntRange(1, 60).Draw(t, "requests")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	gap := rapid.SampledFrom([]int64{0, 3, 20, 100, 1000}).Draw(t, "mean gap")
	longest := rapid.IntRange(1, 6*block).Draw(t, "longest segment")
	answers := rapid.IntRange(1, 8*block).Draw(t, "longest answer")
	var all []workload.Request
	at := clock.Time(0)
	for i := range n {
		var r workload.Request
		at += clock.Time(float64(gap) * rng.ExpFloat64())
		r.Index, r.At, r.Key = int64(i), at, int32(rng.IntN(3))
		if rng.IntN(3) > 0 {
			r.Append(1, workload.Template, int32(longest))
		}
		for range rng.IntN(4) {
			id := uint64(2 + rng.IntN(5))
			length := int32(1 + int(id)*longest/7)
			if rng.IntN(4) == 0 {
				length = int32(1 + rng.IntN(longest)) // another length under the same identity
			}
			r.Append(id, workload.Context, length)
		}
		if k := len(all); k > 0 && rng.IntN(4) == 0 {
			earlier := all[rng.IntN(k)]
			r.Prompt, r.PromptTokens = slices.Clone(earlier.Prompt), earlier.PromptTokens
			if earlier.Output.ID != 0 && rng.IntN(3) > 0 {
				r.Append(earlier.Output.ID, workload.History, earlier.OutputTokens)
			}
		}
		if r.PromptTokens == 0 || rng.IntN(2) == 0 {
			r.Append(0, workload.Turn, int32(1+rng.IntN(longest)))
		}
		out := uint64(0)
		if rng.IntN(2) == 0 {
			out = uint64(1000 + i)
		}
		r.SetOutput(out, int32(1+rng.IntN(answers)))
		all = append(all, r)
	}
	return all
}

type outcome struct {
	records     []results.Record
	fingerprint uint64
	counters    []engine.Counters
}

func play(t *rapid.T, cfg sim.Config, requests []workload.Request, make func(engine.Config) engine.Destination) outcome {
	var all []engine.Destination
	cfg.NewDestination = func(c engine.Config) engine.Destination {
		d := audited{make(c)}
		all = append(all, d)
		return d
	}
	var out outcome
	cfg.Source = &script{requests: requests}
	cfg.Collector = results.NewCollector(results.Window{To: clock.Never}, 16, cfg.Destinations, len(requests))
	cfg.Each = func(r *results.Record) { out.records = append(out.records, *r) }
	res, err := sim.Run(cfg)
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	out.fingerprint = res.Fingerprint
	for _, d := range all {
		c := d.Counters()
		c.Evicted = 0 // the plain cache also names blocks that nobody can find
		out.counters = append(out.counters, c)
	}
	return out
}

// stepwise hides that a model can price spans, so that each step is an event.
type stepwise struct{ engine.CostModel }

// The fast destination agrees with the plain one record by record, whatever
// the workload, prices, limits and cache size; with and without decode spans.
func TestEngineAgreesWithOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		block := rapid.SampledFrom([]int{1, 2, 3, 4, 16}).Draw(t, "block tokens")
		requests := drawScript(t, block)
		largest := 1
		for _, r := range requests {
			largest = max(largest, (int(r.PromptTokens)+block-1)/block)
		}
		seqs := rapid.IntRange(1, 12).Draw(t, "max sequences")
		var cost engine.CostSpec = &engine.Linear{
			BaseMS:      rapid.SampledFrom([]float64{1e-9, 5e-9, 5e-8}).Draw(t, "base"),
			SequenceMS:  rapid.SampledFrom([]float64{0, 1e-9}).Draw(t, "sequence"),
			ContextMS:   rapid.SampledFrom([]float64{0, 1e-9, 3e-9}).Draw(t, "context"),
			PrefillMS:   rapid.SampledFrom([]float64{0, 2e-9}).Draw(t, "prefill"),
			AttentionMS: rapid.SampledFrom([]float64{0, 1e-9}).Draw(t, "attention"),
		}
		if rapid.Bool().Draw(t, "overlap") {
			l := cost.(*engine.Linear)
			cost = &engine.Overlap{BaseMS: l.BaseMS, SequenceMS: l.SequenceMS, ContextMS: l.ContextMS, PrefillMS: l.PrefillMS,
				AttentionMS: l.AttentionMS, FreeTokens: rapid.IntRange(0, 20).Draw(t, "free tokens")}
		}
		cfg := sim.Config{
			Destinations: rapid.IntRange(1, 2).Draw(t, "destinations"),
			Engine: engine.Config{
				BlockTokens:      block,
				Blocks:           rapid.IntRange(max(1, largest-2), 3*largest+40).Draw(t, "blocks"),
				MaxBatchedTokens: seqs + rapid.IntRange(0, 20*block).Draw(t, "budget beyond sequences"),
				MaxSeqs:          seqs,
				Cost:             cost.Build(),
				NoPrefixCaching:  rapid.IntRange(0, 3).Draw(t, "no prefix caching") == 0,
			},
			Policy:         rapid.SampledFrom([]policies.Policy{byKey{}, looking{}}).Draw(t, "policy"),
			SignalInterval: clock.Time(rapid.SampledFrom([]int64{0, 0, 40}).Draw(t, "signal interval")),
			End:            clock.Never,
			Deadline:       clock.Time(rapid.SampledFrom([]int64{0, 0, 50, 500, 5000}).Draw(t, "deadline")),
			Limit:          clock.Time(rapid.SampledFrom([]int64{0, 0, 0, 70, 700, 7000}).Draw(t, "limit")),
			TTFTOverhead:   7,
		}
		want := play(t, cfg, requests, func(c engine.Config) engine.Destination { return oracle.New(c) })
		fast := func(c engine.Config) engine.Destination { return engine.New(c) }
		if diff := cmp.Diff(want, play(t, cfg, requests, fast), cmp.AllowUnexported(outcome{})); diff != "" {
			t.Fatalf("engine differs from oracle (-oracle +engine):\n%s", diff)
		}
		cfg.Engine.Cost = stepwise{cfg.Engine.Cost}
		if diff := cmp.Diff(want, play(t, cfg, requests, fast), cmp.AllowUnexported(outcome{})); diff != "" {
			t.Fatalf("engine without spans differs from oracle:\n%s", diff)
		}
	})
}
