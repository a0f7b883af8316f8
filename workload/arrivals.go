package workload

import (
	"math"
	"math/rand/v2"

	"cacheroute/sim/clock"
)

// ArrivalSpecs is the table of arrival processes: what a study may name, with
// the defaults of each.
var ArrivalSpecs = map[string]func() ArrivalSpec{
	"poisson":   func() ArrivalSpec { return &PoissonArrivals{} },
	"gamma":     func() ArrivalSpec { return &GammaArrivals{CV: 1.9} },
	"bootstrap": func() ArrivalSpec { return &BootstrapArrivals{BlockLength: 50} },
	"constant":  func() ArrivalSpec { return &ConstantArrivals{} },
	"stages":    func() ArrivalSpec { return &StagedArrivals{Spacing: "poisson"} },
	"closed":    func() ArrivalSpec { return &ClosedArrivals{Think: "constant"} },
}

// ArrivalSpec is the parameters of one arrival process.
type ArrivalSpec interface {
	// About is one line for a list.
	About() string
	// Check returns nil or an error that begins with the parameter's name and a
	// colon. It reads no file.
	Check() error
	// Build reads what the process needs. The spec has passed Check.
	Build() (ArrivalProcess, error)
}

// ArrivalProcess is a process ready to start at any offered load. It is
// immutable and shared by all cells of a study.
type ArrivalProcess interface {
	// Start begins the arrivals of one cell with a mean rate of qps.
	Start(qps float64, rng *rand.Rand) Arrivals
	// GapCV is the coefficient of variation of the gaps, NaN where it depends
	// on the course of a run.
	GapCV() float64
}

// Arrivals yields the gaps between requests, the first one from the start of
// the run, until ok is false.
type Arrivals interface {
	Next() (gap clock.Time, ok bool)
}

// toGap rounds a gap in picoseconds to the nearest integer: the error has mean
// 0, so that rates do not drift. Gaps beyond the range of the clock end there.
func toGap(ps float64) clock.Time {
	if ps >= math.MaxInt64/2 {
		return clock.Never / 2
	}
	return clock.Time(float64(ps) + 0.5) // rounded first: no fused multiply-add
}

// meanGap is the mean gap in picoseconds.
func meanGap(qps float64) float64 { return float64(clock.Second) / qps }

// PoissonArrivals are independent of each other: exponential gaps.
type PoissonArrivals struct{}

// About implements ArrivalSpec.
func (PoissonArrivals) About() string { return "independent arrivals, exponential gaps" }

// Check implements ArrivalSpec.
func (PoissonArrivals) Check() error { return nil }

// Build implements ArrivalSpec.
func (p PoissonArrivals) Build() (ArrivalProcess, error) { return p, nil }

// GapCV implements ArrivalProcess.
func (PoissonArrivals) GapCV() float64 { return 1 }

// Start implements ArrivalProcess.
func (PoissonArrivals) Start(qps float64, rng *rand.Rand) Arrivals {
	return &poisson{meanGap(qps), rng}
}

type poisson struct {
	mean float64
	rng  *rand.Rand
}

func (p *poisson) Next() (clock.Time, bool) { return toGap(p.mean * p.rng.ExpFloat64()), true }

// ConstantArrivals are arrivals with equal gaps; the first request comes half a gap after
// the start.
type ConstantArrivals struct{}

// About implements ArrivalSpec.
func (ConstantArrivals) About() string { return "equal gaps" }

// Check implements ArrivalSpec.
func (ConstantArrivals) Check() error { return nil }

// Build implements ArrivalSpec.
func (c ConstantArrivals) Build() (ArrivalProcess, error) { return c, nil }

// GapCV implements ArrivalProcess.
func (ConstantArrivals) GapCV() float64 { return 0 }

// Start implements ArrivalProcess.
func (ConstantArrivals) Start(qps float64, _ *rand.Rand) Arrivals {
	return &spaced{period: meanGap(qps)}
}

// spaced rounds instants instead of gaps, so that no error adds up.
type spaced struct {
	period float64 // picoseconds
	count  float64 // requests so far, exact below 2^53
	at     clock.Time
}

func (s *spaced) Next() (clock.Time, bool) {
	at := toGap((s.count + 0.5) * s.period)
	gap := at - s.at
	s.at, s.count = at, s.count+1
	return gap, true
}
