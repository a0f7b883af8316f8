package policies

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"cacheroute/workload"
)

// admits is each rule in exact fractions: x in flight there, m in all.
func admits(rule string, c *big.Rat, x, m, n int) bool {
	ceil := func(r *big.Rat) *big.Rat {
		q := new(big.Int).Div(new(big.Int).Neg(r.Num()), r.Denom()) // floor(-r)
		return new(big.Rat).SetInt(q.Neg(q))
	}
	scaled := func(m int) *big.Rat { return new(big.Rat).Mul(c, big.NewRat(int64(m), int64(n))) }
	load := big.NewRat(int64(x), 1)
	switch rule {
	case "paper":
		return big.NewRat(int64(x)+1, 1).Cmp(ceil(scaled(m+1))) <= 0
	case "kubeai":
		return m == 0 || load.Cmp(scaled(m+1)) <= 0
	case "envoy":
		slots := ceil(new(big.Rat).Mul(c, big.NewRat(int64(m)+1, 1)))
		per := ceil(slots.Mul(slots, big.NewRat(1, int64(n))))
		return x <= 1 || load.Cmp(per) <= 0
	default: // sglang
		return load.Cmp(scaled(m)) <= 0
	}
}

func TestCHWBLAgainstScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "destinations")
		hundredths := rapid.IntRange(0, 150).Draw(t, "epsilon_percent")
		s := &CHWBL{
			Rule:    rapid.SampledFrom([]string{"paper", "kubeai", "envoy", "sglang"}).Draw(t, "rule"),
			Epsilon: float64(hundredths) / 100, Vnodes: 5,
			Overflow: rapid.SampledFrom([]string{"next", "least_loaded"}).Draw(t, "overflow"),
		}
		env := testEnv(n, 10, rapid.Uint64().Draw(t, "seed"))
		p, _ := s.Build(env)
		v := NewView(n, 0)
		for range 60 {
			key := int32(rapid.IntRange(0, 9).Draw(t, "key"))
			walk := plainWalk(env, s.Vnodes, env.HashSeed, key)
			want := walk[0]
			for _, d := range walk {
				if admits(s.Rule, big.NewRat(100+int64(hundredths), 100), v.InFlight(d), v.Total(), n) {
					want = d
					break
				}
				if s.Overflow == "least_loaded" { // the home does not admit it
					want = slices.MinFunc(walk, func(a, b int) int { return v.InFlight(a) - v.InFlight(b) })
					break
				}
			}
			got := p.Route(&workload.Request{Key: key}, v)
			if got != want {
				t.Fatalf("key %d went to %d, want %d of walk %v", key, got, want, walk)
			}
			v.Dispatched(got)
			if d := rapid.IntRange(0, n-1).Draw(t, "done"); v.InFlight(d) > 0 {
				v.Done(d)
			}
		}
	})
}

// TestCHWBLCaps has the most requests in flight on one of 30 destinations with
// c = 1.25, worked out by hand for 31 and 120 requests.
func TestCHWBLCaps(t *testing.T) {
	for rule, want := range map[string][2]int64{"paper": {2, 5}, "kubeai": {2, 6}, "envoy": {3, 6}, "sglang": {2, 5}} {
		for i, m := range []int64{30, 119} {
			if got := loadLimits[rule](1_250_000, m, 30) + 1; got != want[i] {
				t.Errorf("%s: %d in flight at m = %d, want %d", rule, got, m, want[i])
			}
		}
	}
	// 1.1*300/30 is 11: a float gives 11.000000000000002 and a cap of 12.
	if got := loadLimits["paper"](million+millionths(0.1), 299, 30) + 1; got != 11 {
		t.Errorf("cap %d, want 11", got)
	}
}
