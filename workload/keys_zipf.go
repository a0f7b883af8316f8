package workload

import "math"

// ZipfKeys gives the key of rank r (from 1) a rate proportional to
// 1/(r + offset)^exponent: Zipf's law, with an offset Zipf-Mandelbrot's.
type ZipfKeys struct {
	// Exponent of the law; 0: all keys alike.
	Exponent float64 `yaml:"exponent" jsonschema:"minimum=0,maximum=20"`
	// Offset is added to the rank (Zipf-Mandelbrot).
	Offset float64 `yaml:"offset" jsonschema:"minimum=0,maximum=1e9"`
	// Count is the number of keys.
	Count int `yaml:"count" jsonschema:"minimum=1,maximum=16777216"`
	// Top is how many of the most frequent keys are kept, with all of the
	// traffic; 0: all.
	Top int `yaml:"top" jsonschema:"minimum=0"`
	// Seed of what belongs to a key, such as its context.
	Seed uint64 `yaml:"seed" jsonschema:"minimum=0"`
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
