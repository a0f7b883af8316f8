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
	// Sigma of the logarithm of the rates.
	Sigma float64 `yaml:"sigma" jsonschema:"minimum=0,maximum=10"`
	// Count is the number of keys drawn.
	Count int `yaml:"count" jsonschema:"minimum=1,maximum=16777216"`
	// Top is how many of the most frequent keys are kept, with all of the
	// traffic; 0: all.
	Top int `yaml:"top" jsonschema:"minimum=0"`
	// Seed of the population, not of the run.
	Seed uint64 `yaml:"seed" jsonschema:"minimum=0"`
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
