package workload

import "math"

// ZipfKeys gives the key of rank r (from 1) a rate proportional to
// 1/(r + offset)^exponent: Zipf's law, with an offset Zipf-Mandelbrot's.
type ZipfKeys struct {
	Exponent float64 `yaml:"exponent"` // 0: all keys alike
	Offset   float64 `yaml:"offset"`
	Count    int     `yaml:"count"`
	Top      int     `yaml:"top"`  // most frequent keys kept and renormalised; 0: all
	Seed     uint64  `yaml:"seed"` // of what belongs to a key, such as its context
}

// About implements KeySpec.
func (s *ZipfKeys) About() string {
	return "rates by rank, 1/(rank + offset)^exponent: exponent, offset, count, top, seed"
}

// Check implements KeySpec.
func (s *ZipfKeys) Check() error {
	return first(between("exponent", s.Exponent, 0, 20), between("offset", s.Offset, 0, 1e9), checkCount(s.Count, s.Top))
}

// Build implements KeySpec.
func (s *ZipfKeys) Build() (*Keys, error) {
	weight := make([]float64, s.Count)
	for i := range weight {
		weight[i] = math.Pow(float64(i+1)+s.Offset, -s.Exponent)
	}
	return selectTop(weight, nil, s.Top, s.Seed)
}
