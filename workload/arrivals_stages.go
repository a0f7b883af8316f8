package workload

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"cacheroute/sim/clock"
	"cacheroute/workload/lines"
)

// StagedArrivals is a course of rates, scaled so that its mean over time equals
// the offered load. Nothing arrives after the last stage.
type StagedArrivals struct {
	// Stages follow each other; only the proportions of their rates count.
	Stages []Stage `yaml:"stages" jsonschema:"required,minItems=1"`
	// Spacing inside a stage: poisson, or constant: equal gaps, the first
	// request half a gap after the start.
	Spacing string `yaml:"spacing" jsonschema:"enum=poisson,enum=constant"`
	// PauseS is how long nothing arrives between two stages. A bench that waits
	// for all answers before it begins its next stage is a pause that is long
	// enough for them.
	PauseS float64 `yaml:"pause_s" jsonschema:"minimum=0,maximum=1e6"`
}

// Stage is a rate for a while.
type Stage struct {
	// QPS is the rate of the stage in requests per second, before scaling.
	QPS float64 `yaml:"qps" jsonschema:"required,minimum=0,maximum=1e9"`
	// DurationS is how long the stage lasts.
	DurationS float64 `yaml:"duration_s" jsonschema:"required,minimum=1e-6,maximum=1e6"`
}

// About implements ArrivalSpec.
func (*StagedArrivals) About() string {
	return "a course of rates: stages [{qps, duration_s}], spacing constant or poisson, pause_s"
}

// Check implements ArrivalSpec.
func (s *StagedArrivals) Check() error {
	if s.Spacing != "poisson" && s.Spacing != "constant" {
		return fmt.Errorf("spacing: read %s, wanted poisson or constant", lines.Excerpt([]byte(s.Spacing)))
	}
	if len(s.Stages) == 0 {
		return errors.New("stages: missing")
	}
	for i, st := range s.Stages {
		at := fmt.Sprintf("stages[%d].", i)
		if err := first(between(at+"qps", st.QPS, 0, 1e9), between(at+"duration_s", st.DurationS, 1e-6, 1e6)); err != nil {
			return err
		}
	}
	if err := between("pause_s", s.PauseS, 0, 1e6); err != nil {
		return err
	}
	requests, seconds := s.sums()
	if !(requests > 0) || !(seconds <= 1e6) {
		return fmt.Errorf("stages: must hold requests within 1e+06 s, got %v requests in %v s", requests, seconds)
	}
	return nil
}

// sums are the requests and the seconds of the whole course as it is written.
func (s *StagedArrivals) sums() (requests, seconds float64) {
	for _, st := range s.Stages {
		requests += float64(st.QPS * st.DurationS)
		seconds += st.DurationS
	}
	return requests, seconds + float64(s.PauseS*float64(len(s.Stages)-1))
}

// QPS is the mean rate of the course as it is written: at this load its stages
// have their own rates.
func (s *StagedArrivals) QPS() float64 {
	requests, seconds := s.sums()
	return requests / seconds
}

// Requests is how many requests the course as it is written has in the mean.
func (s *StagedArrivals) Requests() float64 {
	requests, _ := s.sums()
	return requests
}

// Starts are the instants in seconds at which the stages begin.
func (s *StagedArrivals) Starts() []float64 {
	starts := make([]float64, len(s.Stages))
	for i := range s.Stages[1:] {
		starts[i+1] = starts[i] + s.Stages[i].DurationS + s.PauseS
	}
	return starts
}

// Build implements ArrivalSpec.
func (s *StagedArrivals) Build() (ArrivalProcess, error) { return s, nil }

// GapCV implements ArrivalProcess.
func (s *StagedArrivals) GapCV() float64 { return math.NaN() }

// Start implements ArrivalProcess.
func (s *StagedArrivals) Start(qps float64, rng *rand.Rand) Arrivals {
	a := &staged{stages: make([]stage, len(s.Stages))}
	scale := qps / s.QPS()
	var count float64
	for i, from := range s.Starts() {
		st := s.Stages[i]
		rate := st.QPS * scale
		a.stages[i] = stage{from: from * float64(clock.Second), before: count, period: meanGap(rate)}
		count += float64(rate * st.DurationS)
		a.stages[i].until = count
	}
	if s.Spacing == "poisson" {
		a.rng = rng
	}
	return a
}

// staged walks through the expected number of requests, on which arrivals of
// any course of rates are those of a constant rate 1.
type staged struct {
	stages []stage
	rng    *rand.Rand // nil: constant spacing
	count  float64    // expected number of requests up to the last one
	drawn  float64
	at     clock.Time
}

type stage struct {
	from          float64 // picoseconds
	period        float64 // mean gap in picoseconds
	before, until float64 // expected number of requests at its ends
}

func (s *staged) Next() (clock.Time, bool) {
	if s.rng != nil {
		s.count += s.rng.ExpFloat64()
	} else {
		s.count = s.drawn + 0.5
		s.drawn++
	}
	for len(s.stages) > 0 && s.count >= s.stages[0].until {
		s.stages = s.stages[1:]
	}
	if len(s.stages) == 0 {
		return 0, false
	}
	st := &s.stages[0]
	at := toGap(st.from + float64((s.count-st.before)*st.period))
	gap := at - s.at
	s.at = at
	return gap, true
}
