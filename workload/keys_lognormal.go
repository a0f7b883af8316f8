package workload

import (
	"math"

	"cacheroute/sim/clock"
)

// LognormalKeys draws the rate of each key from one lognormal distribution.
// Sigma 1.65 over 128,824 keys reproduces the paper's Table 6: Gini 0.756
// (erf(sigma/2) = 0.757), the top 4 % of keys with 47 % of the traffic, no key
// above 0.3 %.
type LognormalKeys struct {
	Sigma float64 `yaml:"sigma"`
	Count int     `yaml:"count"` // keys drawn
	Top   int     `yaml:"top"`   // most frequent keys kept and renormalised; 0: all
	Seed  uint64  `yaml:"seed"`  // of the population, not of the run
}

// About implements KeySpec.
func (s *LognormalKeys) About() string {
	return "rates drawn from a lognormal distribution: sigma, count, top, seed"
}

// Check implements KeySpec.
func (s *LognormalKeys) Check() error {
	return first(between("sigma", s.Sigma, 0, 10), checkCount(s.Count, s.Top))
}

// Build implements KeySpec.
func (s *LognormalKeys) Build() (*Keys, error) {
	rng := clock.Streams{Seed: s.Seed}.Rand("workload/population")
	weight := make([]float64, s.Count)
	for i := range weight {
		weight[i] = math.Exp(s.Sigma * rng.NormFloat64())
	}
	return selectTop(weight, nil, s.Top, s.Seed)
}
