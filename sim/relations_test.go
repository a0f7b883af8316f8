package sim_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cacheroute/engine"
	"cacheroute/policies"
	"cacheroute/results"
	"cacheroute/sim"
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// busy is a small workload of threads with everything in it: at the loads of
// the tests below its caches evict, sequences are preempted, clients give up
// and some prompts are refused.
func busy(t rapid.TB) *workload.Synthetic {
	t.Helper()
	w, err := workload.NewSynthetic(workload.Spec{
		Keys:     &workload.ZipfKeys{Exponent: 0.6, Count: 40, Seed: 1},
		Arrivals: &workload.GammaArrivals{CV: 2},
		Prompt: workload.PromptSpec{
			TemplateTokens: 100, Variants: 4, StayProbability: 0.5,
			ContextTokens:   lognormal(150, 0.5),
			RetrievedTokens: workload.Tokens(50),
			TurnTokens:      lognormal(60, 1),
			Thread:          &workload.ThreadSpec{MeanRequests: 3, MaxHistoryTokens: 600},
		},
		Output: lognormal(40, 0.8),
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// cell configures one policy on the busy workload at 12 requests/s a
// destination for 40 seconds.
func cell(t rapid.TB, policy string, destinations int, s clock.Streams) sim.Config {
	t.Helper()
	w, qps := busy(t), 12*float64(destinations)
	rates, err := w.Rates(qps)
	if err != nil {
		t.Fatal(err)
	}
	cfg := sim.Config{
		Destinations: destinations,
		Engine: engine.Config{BlockTokens: 16, Blocks: 90, MaxBatchedTokens: 256, MaxSeqs: 24,
			Cost: price(5e9, 1e8, 1e5, 3e7, 1e4)},
		TTFTOverhead: 20 * clock.Millisecond,
		Deadline:     10 * clock.Second,
		End:          40 * clock.Second,
	}
	cfg.Policy, err = policies.Policies[policy]().Build(policies.Env{
		Destinations: destinations, KeyHashes: w.KeyHashes(), Rates: rates, PrefillSecondsPerToken: 3e-5,
		Rand: s.Rand("policy"), HashSeed: s.Uint64("policy/hash"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Source, err = w.Open(qps, s); err != nil {
		t.Fatal(err)
	}
	return cfg
}

func policyNames() []string {
	var names []string
	for name := range policies.Policies {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// The workload above does what its comment says; the relations below mean
// little without.
func TestBusyCellHasEverything(t *testing.T) {
	c := replay(t, cell(t, "cacheroute", 4, clock.Streams{Seed: 5})).cell
	t.Logf("%d completed, %d refused prompts, %d refused growths, %d timed out, %d preemptions, hit %.3f",
		c.Completed, c.RefusedPrompt, c.RefusedGrowth, c.TimedOut, c.Preemptions, c.KVHit)
	for name, n := range map[string]int64{
		"completed": c.Completed, "refused": c.RefusedPrompt + c.RefusedGrowth, "timed out": c.TimedOut, "preempted": c.Preemptions,
	} {
		if n == 0 {
			t.Errorf("no request was %s", name)
		}
	}
	if !(c.KVHit > 0.1 && c.KVHit < 0.9 && c.KVHitHistory > 0) {
		t.Errorf("hit is %v, that of history %v", c.KVHit, c.KVHitHistory)
	}
}

func TestOneDestinationMakesPoliciesEqual(t *testing.T) {
	s := clock.Streams{Seed: 11}
	want := replay(t, cell(t, "flat-lb", 1, s))
	for _, name := range policyNames() {
		got := replay(t, cell(t, name, 1, s))
		if !slices.Equal(got.records, want.records) {
			t.Errorf("%s: records differ from flat-lb's", name)
		}
		if got.fingerprint != want.fingerprint {
			t.Errorf("%s: fingerprint %x, flat-lb's is %x", name, got.fingerprint, want.fingerprint)
		}
		if diff := cmp.Diff(want.totals, got.totals); diff != "" {
			t.Errorf("%s: totals differ from flat-lb's (-flat-lb):\n%s", name, diff)
		}
	}
}

// renamed runs a policy in a fleet whose destinations have other numbers: the
// policy's destination i is the fleet's name[i]. The policy sees a view of its
// own, which renamed keeps in the policy's numbering and compares with the
// fleet's.
type renamed struct {
	t       *testing.T
	policy  policies.Policy
	view    *policies.View
	name    []int
	inverse []int
}

func newRenamed(t *testing.T, p policies.Policy, name []int) *renamed {
	r := &renamed{t: t, policy: p, view: policies.NewView(len(name), 0), name: name, inverse: make([]int, len(name))}
	for i, n := range name {
		r.inverse[n] = i
	}
	return r
}

func (p *renamed) Route(r *workload.Request, v *policies.View) int {
	for i, n := range p.name {
		if p.view.InFlight(i) != v.InFlight(n) {
			p.t.Fatalf("%d requests in flight on %d, the fleet says %d on %d", p.view.InFlight(i), i, v.InFlight(n), n)
		}
	}
	p.view.Observe(renamedFleet{v, p.name})
	p.view.Advance(v.Now)
	i := p.policy.Route(r, p.view)
	p.view.Dispatched(i)
	return p.name[i]
}

// renamedFleet is the fleet by its other numbers.
type renamedFleet struct {
	view *policies.View
	name []int
}

func (f renamedFleet) Signal(i int) policies.Signal { return f.view.Signal(f.name[i]) }

func (f renamedFleet) Cached(r *workload.Request, i int) int { return f.view.Cached(r, f.name[i]) }

// Looks implements policies.Insider.
func (p *renamed) Looks() {}

func (p *renamed) FirstToken(r *workload.Request, d int, now clock.Time) {
	if o, ok := p.policy.(policies.Observer); ok {
		o.FirstToken(r, p.inverse[d], now)
	}
}

func (p *renamed) Done(r *workload.Request, d int, now clock.Time) {
	p.view.Done(p.inverse[d])
	if o, ok := p.policy.(policies.Observer); ok {
		o.Done(r, p.inverse[d], now)
	}
}

// Other numbers for the destinations give the same requests the same fates at
// the renamed places, whatever the policy.
func TestRenamingDestinationsPermutesResults(t *testing.T) {
	s := clock.Streams{Seed: 12}
	name := []int{4, 0, 5, 2, 1, 3}
	for _, policy := range policyNames() {
		t.Run(policy, func(t *testing.T) {
			plain := replay(t, cell(t, policy, len(name), s))
			cfg := cell(t, policy, len(name), s)
			cfg.Policy = newRenamed(t, cfg.Policy, name)
			got := replay(t, cfg)

			want := slices.Clone(plain.records)
			for i := range want {
				want[i].Destination = int32(name[want[i].Destination])
			}
			if !slices.Equal(got.records, want) {
				t.Error("records differ by more than their destination")
			}
			busy := make([]clock.Time, len(name))
			for i, n := range name {
				busy[n] = plain.totals.Busy[i]
			}
			plain.totals.Busy = busy
			if diff := cmp.Diff(plain.totals, got.totals); diff != "" {
				t.Errorf("totals (-wanted):\n%s", diff)
			}
			if plain.cell.Imbalance != got.cell.Imbalance {
				t.Errorf("imbalance %v, wanted %v", got.cell.Imbalance, plain.cell.Imbalance)
			}
		})
	}
}

// Requests that meet no other are the reference string of a plain LRU: at every
// request a larger cache has all that a smaller one has. A prompt must not end
// at the border of a findable block: that block is computed again, its copy
// stays private, and the first one keeps its old place in the order.
func TestLargerCacheLosesNoHit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		block := rapid.SampledFrom([]int{2, 4, 16}).Draw(t, "block tokens")
		requests := drawScript(t, block)
		largest := int32(0)
		for i := range requests {
			r := &requests[i]
			r.At = clock.Time(i) * clock.Second
			for r.PromptTokens%int32(block) == 0 {
				output := r.Output
				r.Append(0, workload.Turn, 1)
				r.SetOutput(output.ID, output.Tokens)
			}
			largest = max(largest, r.PromptTokens+r.OutputTokens)
		}
		blocks := int(largest)/block + 1
		var smaller []results.Record
		for range 4 {
			got := replay(t, sim.Config{
				Engine: engine.Config{BlockTokens: block, Blocks: blocks, MaxBatchedTokens: 3 * block, MaxSeqs: 4, Cost: price(10, 0, 0, 1, 0)},
				Source: &script{requests: requests},
			}).records
			for i := range smaller {
				if a, b := hits(smaller[i]), hits(got[i]); a > b {
					t.Fatalf("request %d: %d tokens hit, now only %d with %d blocks", i, a, b, blocks)
				}
			}
			smaller = got
			blocks += rapid.IntRange(1, blocks).Draw(t, "more blocks")
		}
	})
}

func hits(r results.Record) (sum int32) {
	for _, n := range r.Hit {
		sum += n
	}
	return sum
}

// All prices, gaps and spans k times as long give all records k times as long.
func TestTimeScales(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requests := drawScript(t, 4)
		// The price halves the attention's coefficient, which is even here.
		coefficients := [5]float64{1 + rapid.Float64Range(0, 50).Draw(t, "base"), 1, 2, 3, 4}
		coefficients[0] = float64(int(coefficients[0]))
		deadline := clock.Time(rapid.SampledFrom([]int64{0, 200, 2000}).Draw(t, "deadline"))
		run := func(k clock.Time) history {
			scaled := slices.Clone(requests)
			for i := range scaled {
				scaled[i].At *= k
			}
			f := float64(k)
			return replay(t, sim.Config{
				Engine: engine.Config{BlockTokens: 4, Blocks: 60, MaxBatchedTokens: 24, MaxSeqs: 8,
					Cost: price(f*coefficients[0], f*coefficients[1], f*coefficients[2], f*coefficients[3], f*coefficients[4])},
				Source: &script{requests: scaled}, Deadline: k * deadline, TTFTOverhead: k * 3,
			})
		}
		k := clock.Time(rapid.SampledFrom([]int64{2, 7, 1000, 1e6}).Draw(t, "factor"))
		want, got := run(1), run(k)
		for i := range want.records {
			r := &want.records[i]
			r.Arrival, r.TTFT, r.E2E = k*r.Arrival, k*r.TTFT, k*r.E2E
		}
		if diff := cmp.Diff(want.records, got.records); diff != "" {
			t.Fatalf("records at %d times the scale (-wanted):\n%s", k, diff)
		}
		want.totals.Busy[0], want.totals.End = k*want.totals.Busy[0], k*want.totals.End
		if diff := cmp.Diff(want.totals, got.totals); diff != "" {
			t.Fatalf("totals at %d times the scale (-wanted):\n%s", k, diff)
		}
	})
}

// A run is its seed: it comes out the same twice, also when someone draws from
// another stream meanwhile.
func TestRunsRepeat(t *testing.T) {
	s := clock.Streams{Seed: 13}
	seen := map[uint64]string{}
	for _, name := range policyNames() {
		first := replay(t, cell(t, name, 5, s))
		cfg := cell(t, name, 5, s)
		policy, stranger := cfg.Policy, s.Rand("stranger")
		observer, _ := policy.(policies.Observer)
		wrapped := &nosy{route: func(r *workload.Request, v *policies.View) int {
			for range r.Index % 3 {
				stranger.Uint64()
				s.Rand("workload/keys").Uint64()
			}
			return policy.Route(r, v)
		}}
		if observer != nil {
			wrapped.first, wrapped.done = observer.FirstToken, observer.Done
		}
		cfg.Policy = wrapped
		second := replay(t, cfg)
		if first.fingerprint != second.fingerprint || !slices.Equal(first.records, second.records) {
			t.Errorf("%s: two runs differ", name)
		}
		if other := seen[first.fingerprint]; other != "" {
			t.Errorf("%s and %s have one fingerprint", name, other)
		}
		seen[first.fingerprint] = name
		if other := replay(t, cell(t, name, 5, clock.Streams{Seed: 14})); other.fingerprint == first.fingerprint {
			t.Errorf("%s: two seeds have one fingerprint", name)
		}
	}
}

// Every policy of one seed meets the same requests.
func TestPoliciesMeetTheSameRequests(t *testing.T) {
	asked := func(name string) []results.Record {
		all := replay(t, cell(t, name, 5, clock.Streams{Seed: 15})).records
		for i, r := range all {
			all[i] = results.Record{Index: r.Index, Arrival: r.Arrival, Key: r.Key, Prompt: r.Prompt, Output: r.Output}
		}
		return all
	}
	want := asked("flat-lb")
	for _, name := range policyNames() {
		if !slices.Equal(asked(name), want) {
			t.Errorf("%s meets other requests than flat-lb", name)
		}
	}
}
