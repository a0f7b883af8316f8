package policies

import (
	"math/rand/v2"

	"cacheroute/workload"
)

// FlatLB is power of two choices over the whole fleet, the paper's baseline
// and the serving of its cold tail (section 3.1; Mitzenmacher 2001): draw two
// destinations uniformly, take the one with fewer requests in flight, the tie
// at random. It knows nothing of keys.
//
// The paper does not say how the two are drawn. Our reading is two different
// ones, as in SGLang, Ray Serve and AIBrix; the theory and Envoy's
// LEAST_REQUEST draw with replacement, which differs once in R draws.
type FlatLB struct {
	// Replacement lets the second choice be the first again.
	Replacement bool `yaml:"replacement"`
}

// About implements Spec.
func (s *FlatLB) About() string {
	return "power of two choices: of two random destinations the one with fewer requests in flight"
}

// Check implements Spec; every value is good.
func (s *FlatLB) Check() error { return nil }

// Build implements Spec.
func (s *FlatLB) Build(env Env) (Policy, error) {
	return &twoChoices{rng: env.Rand, replacement: s.Replacement}, nil
}

type twoChoices struct {
	rng         *rand.Rand
	replacement bool
}

func (p *twoChoices) Route(_ *workload.Request, v *View) int { return p.pick(v) }

// Spread implements Spreader.
func (p *twoChoices) Spread(int32) []int32 { return nil }

// pick draws an ordered pair, each order of two destinations as likely as the
// other. Taking the first at a tie is therefore a fair coin.
func (p *twoChoices) pick(v *View) int {
	n := v.Destinations()
	if n == 1 {
		return 0
	}
	i := p.rng.IntN(n)
	var j int
	if p.replacement {
		j = p.rng.IntN(n)
	} else if j = p.rng.IntN(n - 1); j >= i {
		j++
	}
	if v.InFlight(j) < v.InFlight(i) {
		return j
	}
	return i
}
