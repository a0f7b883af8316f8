package policies

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// plainPlan is Algorithm 1 with sets and scans, lines numbered as in the paper.
func plainPlan(in PlanInput) (sets map[int][]int32, load []float64) {
	free := in.Destinations * in.Rule.Slots
	keys := make([]int, len(in.Rates))
	for b := range keys {
		keys[b] = b
	}
	sort.SliceStable(keys, func(i, j int) bool { return in.Rates[keys[i]] > in.Rates[keys[j]] })
	copies, cold, stopped := map[int]int{}, 0.0, false
	for _, b := range keys { // 1 to 4
		k := 1
		if in.Rule.Replication && in.Rule.QCap > 0 {
			k = min(in.Destinations, max(1, int(math.Ceil(in.Rates[b]/in.Rule.QCap))))
		}
		stopped = stopped || in.Rates[b] == 0 || k > free && in.Rule.Admit == "stop"
		if stopped || k > free {
			cold += in.Rates[b]
			continue
		}
		copies[b] = k
		free -= k
	}
	load = make([]float64, in.Destinations)
	slots := make([]int, in.Destinations)
	if in.Rule.ColdInit == "uniform" { // 5
		for r := range load {
			load[r] = cold / float64(in.Destinations)
		}
	}
	sets = map[int][]int32{}
	for _, b := range keys { // 6
		for range copies[b] { // 7
			best := -1
			for r := range load {
				fits := !in.Rule.EnforceW || slots[r] < in.Rule.Slots
				if fits && !slices.Contains(sets[b], int32(r)) && (best < 0 || load[r] < load[best]) {
					best = r
				}
			}
			if best >= 0 {
				sets[b] = append(sets[b], int32(best))
			}
		}
		for _, r := range sets[b] { // 8 to 10
			load[r] += in.Rates[b] / float64(len(sets[b]))
			slots[r]++
		}
	}
	return sets, load
}

// drawPlan makes small inputs full of ties, zero rates and keys that need more
// destinations than there are.
func drawPlan(t *rapid.T) PlanInput {
	rule := NewCacheRoute()
	rule.Slots = rapid.IntRange(1, 4).Draw(t, "slots")
	rule.QCap = rapid.SampledFrom([]float64{0, 0.3, 1, 2}).Draw(t, "q_cap_qps")
	rule.Admit = rapid.SampledFrom([]string{"stop", "skip"}).Draw(t, "admit")
	rule.Replication = rapid.Bool().Draw(t, "replication")
	rule.EnforceW = rapid.Bool().Draw(t, "enforce_w")
	rule.ColdInit = rapid.SampledFrom([]string{"uniform", "none"}).Draw(t, "cold_init")
	rate := rapid.OneOf(rapid.SampledFrom([]float64{0, 0.5, 1, 1, 2, 3, 3, 12}), rapid.Float64Range(0, 5))
	return PlanInput{
		Rates:        rapid.SliceOfN(rate, rapid.SampledFrom([]int{0, 8}).Draw(t, "least"), 20).Draw(t, "rates"),
		Destinations: rapid.IntRange(1, 6).Draw(t, "destinations"),
		Seed:         rapid.Uint64().Draw(t, "seed"),
		Rule:         *rule,
	}
}

func TestPlanAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawPlan(t)
		got, err := Plan(in)
		if err != nil {
			t.Fatal(err)
		}
		sets, load := plainPlan(in)
		if !slices.Equal(got.Load, load) {
			t.Fatalf("load %v, want %v", got.Load, load)
		}
		for b := range in.Rates {
			if !slices.Equal(got.Assigned(b), sets[b]) {
				t.Fatalf("key %d at %v, want %v", b, got.Assigned(b), sets[b])
			}
		}
	})
}

// TestPlanInvariants holds for every placement and tie.
func TestPlanInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawPlan(t)
		byIndex, _ := Plan(in)
		in.Rule.Tie = rapid.SampledFrom([]string{"index", "random"}).Draw(t, "tie")
		in.Rule.Placement = rapid.SampledFrom([]string{"lpt", "random"}).Draw(t, "placement")
		got, _ := Plan(in)
		again, _ := Plan(in)
		if !slices.Equal(got.flat, again.flat) {
			t.Fatal("one input, two plans")
		}
		checkAccounts(t, in, &got)
		if !slices.Equal(got.Admitted, byIndex.Admitted) {
			t.Fatalf("placement changed admission: %v, %v", got.Admitted, byIndex.Admitted)
		}
		// Which of equals is chosen does not matter to the loads as a whole.
		if in.Rule.Placement == "lpt" && !in.Rule.EnforceW && !slices.Equal(sorted(got.Load), sorted(byIndex.Load)) {
			t.Fatalf("loads %v, by index %v", got.Load, byIndex.Load)
		}
	})
}

func sorted(x []float64) []float64 { return slices.Sorted(slices.Values(x)) }

func checkAccounts(t *rapid.T, in PlanInput, got *Table) {
	sum, slots, total := 0, make([]int, in.Destinations), 0.0
	infeasible := map[int]bool{}
	for _, x := range got.Infeasible {
		infeasible[x.Key] = true
	}
	for b, set := range got.All() {
		sum += len(set)
		for i, r := range set {
			slots[r]++
			if slices.Contains(set[:i], r) {
				t.Fatalf("key %d twice at %d", b, r)
			}
		}
		share := in.Rates[b] / float64(len(set))
		over := in.Rule.QCap > 0 && in.Rule.Replication && share > in.Rule.QCap*(1+1e-12)
		if len(set) == 0 || over && !infeasible[b] {
			t.Fatalf("key %d of %g requests/s at %v with q_cap %g", b, in.Rates[b], set, in.Rule.QCap)
		}
	}
	if sum != got.Assignments || sum > in.Destinations*in.Rule.Slots || !slices.Equal(slots, got.Slots) {
		t.Fatalf("%d assignments, %v slots; table says %d, %v", sum, slots, got.Assignments, got.Slots)
	}
	if in.Rule.EnforceW && slices.Max(slots) > in.Rule.Slots {
		t.Fatalf("slots %v exceed %d", slots, in.Rule.Slots)
	}
	for _, rate := range in.Rates {
		total += rate
	}
	placed := got.AdmittedRate
	if in.Rule.ColdInit == "uniform" {
		placed = total
	}
	for _, l := range got.Load {
		placed -= l
	}
	if math.Abs(placed) > 1e-9 || math.Abs(got.AdmittedRate+got.ColdRate-total) > 1e-9 {
		t.Fatalf("rates do not add up: admitted %g, cold %g, load %v, total %g", got.AdmittedRate, got.ColdRate, got.Load, total)
	}
}

// TestPlanExample is worked out by hand: q_cap 4 gives k = 2, 1, 1, 1, 1 and
// four slots leave the last key cold.
func TestPlanExample(t *testing.T) {
	rule := NewCacheRoute()
	rule.Slots, rule.QCap = 2, 4
	got, err := Plan(PlanInput{Rates: []float64{2, 8, 1, 3}, Destinations: 2, Rule: *rule})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]int32{{1}, {0, 1}, nil, {0}}
	for b, set := range want {
		if !slices.Equal(got.Assigned(b), set) {
			t.Errorf("key %d at %v, want %v", b, got.Assigned(b), set)
		}
	}
	if !slices.Equal(got.Load, []float64{7.5, 6.5}) || got.Replicated() != 1 || got.ColdRate != 1 {
		t.Errorf("load %v, %d replicated, cold %g", got.Load, got.Replicated(), got.ColdRate)
	}
	if got.Imbalance() != 7.5/7 || got.AdmittedShare() != 13./14 {
		t.Errorf("imbalance %g, admitted share %g", got.Imbalance(), got.AdmittedShare())
	}
	if w := got.Warnings(strconv.Itoa); len(w) != 1 || !strings.Contains(w[0], "2 of 2 destinations exceeds q_cap = 4") {
		t.Errorf("warnings %q", w)
	}
}

// TestPlanAdmission: the second key of two does not fit the last of three
// slots; the third does.
func TestPlanAdmission(t *testing.T) {
	for admit, want := range map[string][]int32{"stop": {0}, "skip": {0, 2}} {
		rule := NewCacheRoute()
		rule.Slots, rule.QCap, rule.Admit = 1, 1, admit
		got, err := Plan(PlanInput{Rates: []float64{2, 2, 1}, Destinations: 3, Rule: *rule})
		if err != nil || !slices.Equal(got.Admitted, want) {
			t.Errorf("%s: admitted %v, want %v (%v)", admit, got.Admitted, want, err)
		}
	}
}

// TestPlanClamp: a key that needs more destinations than there are gets all of
// them, and the plan says that it is infeasible.
func TestPlanClamp(t *testing.T) {
	rule := NewCacheRoute()
	rule.QCap = 1e-300
	got, err := Plan(PlanInput{Rates: []float64{1e300, 0}, Destinations: 3, Rule: *rule})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Assigned(0), []int32{0, 1, 2}) || !slices.Equal(got.Slots, []int{1, 1, 1}) {
		t.Errorf("%v, slots %v", got.Assigned(0), got.Slots)
	}
	want := []Infeasible{{Key: 0, Rate: 1e300, Wanted: math.Inf(1), Given: 3}}
	if !slices.Equal(got.Infeasible, want) || len(got.Warnings(strconv.Itoa)) != 2 {
		t.Errorf("infeasible %v, warnings %q", got.Infeasible, got.Warnings(strconv.Itoa))
	}
}

func TestPlanRefuses(t *testing.T) {
	for want, in := range map[string]PlanInput{
		"destinations: ": {Rule: *NewCacheRoute()},
		"slots: ":        {Destinations: 1},
		"rates: key 1: must be finite and not negative, got NaN": {Destinations: 1, Rates: []float64{1, math.NaN()}, Rule: *NewCacheRoute()},
		"rates: key 0: ": {Destinations: 1, Rates: []float64{-1}, Rule: *NewCacheRoute()},
	} {
		if _, err := Plan(in); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// lognormalRates are rates as fitted to the paper's Table 6.
func lognormalRates(keys int, rng *rand.Rand) []float64 {
	rates := make([]float64, keys)
	for b := range rates {
		rates[b] = math.Exp(1.65 * rng.NormFloat64())
	}
	return rates
}

// TestReplanChurn is Table 12 of the paper: planning from scratch after a
// lognormal step of 0.3 changes 94.5% of the key-to-destination sets, over five
// transitions from 92.5% to 98.0%. Ours has 20 draws of the top 128 keys.
func TestReplanChurn(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 0))
	plan := func(rates []float64) Table {
		table, err := Plan(PlanInput{Rates: rates, Destinations: 30, Rule: *NewCacheRoute()})
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	mean := 0.0
	for range 20 {
		rates := lognormalRates(128_824, rng)
		slices.Sort(rates)
		rates = rates[len(rates)-128:]
		before := plan(rates)
		for b := range rates {
			rates[b] *= math.Exp(0.3 * rng.NormFloat64())
		}
		after := plan(rates)
		mean += CompareTables(128, before.Assigned, after.Assigned).Cache / 20
	}
	if math.Abs(mean-0.945) > 0.015 {
		t.Errorf("churn %.3f, the paper has 0.945", mean)
	}
}

func TestCompareTables(t *testing.T) {
	before := [][]int32{{0}, {0, 1}, {2}, nil, nil}
	after := [][]int32{{0}, {1, 2}, nil, {1}, nil}
	got := CompareTables(5, func(b int) []int32 { return before[b] }, func(b int) []int32 { return after[b] })
	// By key: 1/1, 1/3, 0/1, 0/1, none; two of four counts changed.
	want := Churn{Keys: 4, Cache: (0 + 2./3 + 1 + 1) / 4, Pooled: 1 - 2./6, Count: 0.5}
	if off := math.Abs(got.Cache-want.Cache) + math.Abs(got.Pooled-want.Pooled); off > 1e-15 || got.Keys != want.Keys || got.Count != want.Count {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := CompareTables(1, func(int) []int32 { return nil }, func(int) []int32 { return nil }); got != (Churn{}) {
		t.Errorf("nothing admitted: %+v", got)
	}
}

// BenchmarkPlan plans the paper's 128,824 keys on 30 destinations (345 ms there,
// section 3.1) with the default slots and with slots for every key.
func BenchmarkPlan(b *testing.B) {
	rates := lognormalRates(128_824, rand.New(rand.NewPCG(1, 2)))
	for _, slots := range []int{5, 4295} {
		b.Run(fmt.Sprintf("slots=%d", slots), func(b *testing.B) {
			rule := NewCacheRoute()
			rule.Slots = slots
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Plan(PlanInput{Rates: rates, Destinations: 30, Rule: *rule}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
