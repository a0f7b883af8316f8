package policies

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// testEnv has keys of lognormal rates (sigma 1.65, as in the paper's Table 6)
// that sum to 3.3 requests/s a destination.
func testEnv(destinations, keys int, seed uint64) Env {
	rng := rand.New(rand.NewPCG(seed, 1))
	env := Env{Destinations: destinations, PrefillSecondsPerToken: 1e-4, Rand: rand.New(rand.NewPCG(seed, 2)), HashSeed: rng.Uint64()}
	sum := 0.0
	for k := range keys {
		env.KeyHashes = append(env.KeyHashes, hashOf(7, uint64(k), 0))
		env.Rates = append(env.Rates, math.Exp(1.65*rng.NormFloat64()))
		sum += env.Rates[k]
	}
	for k := range env.Rates {
		env.Rates[k] *= 3.3 * float64(destinations) / sum
	}
	return env
}

// allSpecs is every row of the table with its defaults, and the other values
// of each switch.
func allSpecs() map[string]Spec {
	specs := map[string]Spec{
		"flat-lb replacement":  &FlatLB{Replacement: true},
		"dualmap never warm":   &DualMap{Theta: 0, TimePerToken: 1, Vnodes: 1},
		"preble last min p2c":  &Preble{History: "last", HistoryExpiry: 1, CapBase: "min", CapFactor: 2, Admits: "after", Spill: "p2c"},
		"cacheroute replicas":  &CacheRoute{Slots: 5, QCap: 0.5, Admit: "skip", Placement: "random", Replication: true, Tie: "random", EnforceW: true, ColdInit: "none", Dispatch: "rr", Replan: "every"},
		"llm-d forgetful":      &LLMD{QueueWeight: 2, PrefixWeight: 1, BlockTokens: 64, MaxBlocks: 40, CapacityBlocks: 100},
		"cacheroute few slots": &CacheRoute{Slots: 1, QCap: 0.5, Admit: "stop", Placement: "lpt", Replication: true, Tie: "index", ColdInit: "uniform", Dispatch: "inflight", Replan: "late"},
	}
	for name, build := range Policies {
		specs[name] = build()
	}
	for _, hash := range []string{"rendezvous", "jump", "maglev"} {
		specs["sticky "+hash] = &Sticky{Hash: hash, Vnodes: 1}
	}
	for _, rule := range []string{"kubeai", "envoy", "sglang"} {
		specs["chwbl "+rule] = &CHWBL{Rule: rule, Epsilon: 0.1, Overflow: "next", Vnodes: 10}
	}
	return specs
}

// harness feeds a policy with the requests of an Env's keys. A request gets
// its first token after a quarter of its life and ends when `hold` more have
// arrived: 1.5 s at the rates of testEnv.
type harness struct {
	policy   Policy
	observer Observer
	view     *View
	env      Env
	rng      *rand.Rand
	popular  []int32 // keys in proportion to their rates
	request  workload.Request
	open     []workload.Request // the last `hold` requests, by index modulo hold
	at       []int              // their destinations
	gap      clock.Time
}

func newHarness(t testing.TB, spec Spec, env Env) *harness {
	t.Helper()
	if err := spec.Check(); err != nil {
		t.Fatal(err)
	}
	policy, err := spec.Build(env)
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{policy: policy, view: NewView(env.Destinations, 0), env: env, rng: rand.New(rand.NewPCG(3, 3))}
	h.observer, _ = policy.(Observer)
	h.view.Observe(crowd{h.view})
	sum := 0.0
	for k, rate := range env.Rates {
		for range 1 + int(200*rate) {
			h.popular = append(h.popular, int32(k))
		}
		sum += rate
	}
	h.gap = clock.FromSeconds(1 / sum)
	h.open = make([]workload.Request, 5*env.Destinations)
	h.at = make([]int, len(h.open))
	return h
}

// crowd is a fleet whose destinations run three requests at a time, each with a
// tenth of the KV blocks, and hold some part of every key's prompts.
type crowd struct{ view *View }

func (c crowd) Signal(i int) Signal {
	q := c.view.InFlight(i)
	return Signal{Waiting: max(0, q-3), Running: min(q, 3), KVUsage: float64(min(q, 3)) / 10}
}

func (crowd) Cached(r *workload.Request, i int) int { return (int(r.Key) + 7*i) % 5 * 800 }

func (h *harness) step() int {
	n, hold := h.request.Index, int64(len(h.open))
	if n >= hold {
		h.view.Done(h.at[n%hold])
		if h.observer != nil {
			h.observer.Done(&h.open[n%hold], h.at[n%hold], h.view.Now)
		}
	}
	if early := n - hold/4; early >= 0 && h.observer != nil {
		h.observer.FirstToken(&h.open[early%hold], h.at[early%hold], h.view.Now)
	}
	r := &h.request
	r.Reset()
	r.Index, r.Key = n, h.popular[h.rng.IntN(len(h.popular))]
	r.At = clock.Time(n) * h.gap
	r.Append(1, workload.Template, 1800)
	r.Append(100+uint64(r.Key), workload.Context, 1500)
	r.Append(1e9+8*uint64(r.Key)+uint64(h.rng.IntN(8)), workload.Retrieved, 700)
	r.Append(0, workload.Turn, 190)
	h.view.Advance(r.At)
	d := h.policy.Route(r, h.view)
	h.view.Dispatched(d)
	h.open[n%hold], h.at[n%hold] = *r, d
	r.Index++
	return d
}

// TestEveryPolicy walks the table: a policy builds from its defaults, stays in
// range, repeats itself under equal streams, does not allocate, and has no
// choice on a fleet of one.
func TestEveryPolicy(t *testing.T) {
	specs := allSpecs()
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		t.Run(name, func(t *testing.T) {
			a := newHarness(t, specs[name], testEnv(30, 128, 5))
			b := newHarness(t, specs[name], testEnv(30, 128, 5))
			used := map[int]bool{}
			for i := range 20_000 {
				d := a.step()
				if e := b.step(); d != e || d < 0 || d >= 30 {
					t.Fatalf("request %d went to %d, then to %d of 30", i, d, e)
				}
				used[d] = true
			}
			if len(used) < 20 {
				t.Errorf("only %d of 30 destinations used", len(used))
			}
			if n := testing.AllocsPerRun(5_000, func() { a.step() }); n != 0 {
				t.Errorf("%g allocations per request", n)
			}
			one := newHarness(t, specs[name], testEnv(1, 128, 5))
			for range 1_000 {
				if d := one.step(); d != 0 {
					t.Fatalf("destination %d of 1", d)
				}
			}
		})
	}
}

// TestChecks gives each bad value once: the text starts with the parameter.
func TestChecks(t *testing.T) {
	nan := math.NaN()
	for want, spec := range map[string]Spec{
		"hash: unknown value \"md5\", allowed: ring, rendezvous, jump, maglev": &Sticky{Hash: "md5", Vnodes: 1},
		"vnodes: ": &Sticky{Hash: "ring"},
		"rule: unknown value \"\", allowed: paper, kubeai, envoy, sglang": &CHWBL{Epsilon: 1, Vnodes: 1},
		"epsilon: must be between 0 and 1000, got NaN":                    &CHWBL{Rule: "paper", Epsilon: nan, Overflow: "next", Vnodes: 1},
		"theta_s: ":                      &DualMap{Theta: -1, Vnodes: 1},
		"time_per_token_s: ":             &DualMap{TimePerToken: math.Inf(1), Vnodes: 1},
		"history: unknown value \"all\"": &Preble{History: "all"},
		"history_expiry_s: ":             &Preble{History: "set", HistoryExpiry: nan},
		"cap_base: ":                     &Preble{History: "set"},
		"cap_factor: ":                   &Preble{History: "set", CapBase: "mean", CapFactor: -1},
		"admits: ":                       &Preble{History: "set", CapBase: "mean"},
		"spill: ":                        &Preble{History: "set", CapBase: "mean", Admits: "after"},
		"slots: ":                        &CacheRoute{},
		"q_cap_qps: ":                    &CacheRoute{Slots: 1, QCap: nan},
		"admit: ":                        &CacheRoute{Slots: 1},
		"placement: ":                    &CacheRoute{Slots: 1, Admit: "stop"},
		"tie: ":                          &CacheRoute{Slots: 1, Admit: "stop", Placement: "lpt"},
		"cold_init: ":                    &CacheRoute{Slots: 1, Admit: "stop", Placement: "lpt", Tie: "index"},
		"dispatch: ":                     &CacheRoute{Slots: 1, Admit: "stop", Placement: "lpt", Tie: "index", ColdInit: "none"},
		"replan: ":                       &CacheRoute{Slots: 1, Admit: "stop", Placement: "lpt", Tie: "index", ColdInit: "none", Dispatch: "rr"},
		"replan: keep":                   &CacheRoute{Slots: 1, Admit: "stop", Placement: "random", Tie: "index", ColdInit: "none", Dispatch: "rr", Replan: "keep"},
		"queue_weight: ":                 &LeastLoaded{QueueWeight: nan},
		"kv_weight: ":                    &LeastLoaded{KVWeight: -1},
		"prefix_weight: ":                &LLMDPrecise{PrefixWeight: math.Inf(1)},
		"block_tokens: ":                 &LLMD{},
		"max_blocks: ":                   &LLMD{BlockTokens: 16},
		"capacity_blocks: ":              &LLMD{BlockTokens: 16, MaxBlocks: 256},
	} {
		if err := spec.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%T: %v, want %q", spec, err, want)
		}
	}
}

// BenchmarkRoute is the cost of a decision and its accounts, harness included
// ("none" is the harness alone), on fleets whose load and keys are in
// proportion to their size.
func BenchmarkRoute(b *testing.B) {
	specs := map[string]Spec{"none": nothing{}}
	for name, build := range Policies {
		specs[name] = build()
	}
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		for _, fleet := range []int{30, 1000} {
			b.Run(fmt.Sprintf("%s/R=%d", name, fleet), func(b *testing.B) {
				h := newHarness(b, specs[name], testEnv(fleet, fleet*128/30, 5))
				for range 1500 * fleet { // fills the histories: 450 s of traffic
					h.step()
				}
				b.ReportAllocs()
				for b.Loop() {
					h.step()
				}
			})
		}
	}
}

// nothing sends every request to a destination by its index.
type nothing struct{}

func (nothing) About() string                          { return "the harness alone" }
func (nothing) Check() error                           { return nil }
func (n nothing) Build(Env) (Policy, error)            { return n, nil }
func (nothing) Route(r *workload.Request, v *View) int { return int(r.Index) % v.Destinations() }
