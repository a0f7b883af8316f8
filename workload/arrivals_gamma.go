package workload

import (
	"math"
	"math/rand/v2"

	"cacheroute/sim/clock"
)

// GammaArrivals is a renewal process with gamma gaps of a given coefficient of
// variation (paper, Appendix D: 1.9).
type GammaArrivals struct {
	// CV is the standard deviation of the gaps over their mean; 1 is poisson.
	CV float64 `yaml:"cv" jsonschema:"minimum=0.001,maximum=100"`
}

// About implements ArrivalSpec.
func (*GammaArrivals) About() string { return "independent gamma gaps: cv" }

// Check implements ArrivalSpec.
func (g *GammaArrivals) Check() error { return between("cv", g.CV, 0.001, 100) }

// Build implements ArrivalSpec.
func (g *GammaArrivals) Build() (ArrivalProcess, error) { return g, nil }

// GapCV implements ArrivalProcess.
func (g *GammaArrivals) GapCV() float64 { return g.CV }

// Start implements ArrivalProcess.
func (g *GammaArrivals) Start(qps float64, rng *rand.Rand) Arrivals {
	shape := 1 / (g.CV * g.CV)
	return &gamma{scale: meanGap(qps) / shape, draw: newGammaDraw(shape), rng: rng}
}

type gamma struct {
	scale float64
	draw  gammaDraw
	rng   *rand.Rand
}

func (g *gamma) Next() (clock.Time, bool) { return toGap(g.scale * g.draw.sample(g.rng)), true }

// gammaDraw samples the gamma distribution with scale 1 by Marsaglia and Tsang,
// "A simple method for generating gamma variables" (ACM TOMS 26, 2000). A shape
// below 1 is drawn as gamma(shape + 1) * U^(1/shape), section 6 there.
type gammaDraw struct {
	d, c  float64
	boost float64 // 1/shape, 0 if the shape is at least 1
}

func newGammaDraw(shape float64) gammaDraw {
	var g gammaDraw
	if shape < 1 {
		g.boost = 1 / shape
		shape++
	}
	g.d = shape - 1.0/3
	g.c = 1 / math.Sqrt(9*g.d)
	return g
}

func (g gammaDraw) sample(rng *rand.Rand) float64 {
	for {
		x := rng.NormFloat64()
		v := 1 + float64(g.c*x)
		if v <= 0 {
			continue
		}
		v = v * v * v
		u := 1 - rng.Float64() // in (0, 1]
		x2 := x * x
		if u >= 1-float64(0.0331*float64(x2*x2)) && math.Log(u) >= float64(x2/2)+float64(g.d*(1-v+math.Log(v))) {
			continue
		}
		if g.boost == 0 {
			return g.d * v
		}
		return g.d * v * math.Exp(-g.boost*rng.ExpFloat64()) // U^boost
	}
}
