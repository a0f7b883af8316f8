package scenarios

import (
	"context"
	"maps"
	"math"
	"slices"

	"cacheroute/results"
)

// Bounds of the precision of a search.
const (
	minPrecision = 1e-4
	maxPrecision = 1
)

// checkSearch refuses a study whose load cannot be sought.
func (r *Runner) checkSearch() error {
	s := r.Study
	switch {
	case s.Measure.ByStage:
		return Badf("%s: read measure.by_stage, wanted a load that is offered by itself", s.Name)
	case r.trace == nil && math.IsNaN(r.load.Asked(s.LoadsQPS[0]).QPS):
		return Badf("%s: read arrivals of name %s, whose rate follows from the answers, wanted offered loads", s.Name, s.Workload.Synthetic.Arrivals.Name)
	}
	return nil
}

// Capacity seeks the knees of the study between its lowest and its highest load,
// to a relative precision. The summary holds what was tried.
func (r *Runner) Capacity(ctx context.Context, precision float64, o SearchOptions) (*results.Summary, error) {
	if err := checkPrecision(precision); err != nil {
		return nil, err
	}
	if err := r.checkSearch(); err != nil {
		return nil, err
	}
	lowest, highest := slices.Min(r.Study.LoadsQPS), slices.Max(r.Study.LoadsQPS)
	steps := geometric(lowest, highest, precision, func(x float64) float64 { return digits(x, 4) })
	courses, err := r.search(ctx, steps, o, func(load float64) (*Runner, float64) { return r, load })
	if err != nil {
		return nil, err
	}
	var cells []results.Cell
	for _, c := range courses {
		for _, i := range slices.Sorted(maps.Keys(c.tried)) {
			cells = append(cells, c.tried[i])
		}
	}
	s := results.SummariseSearch(r.Study.Name, cells, r.Study.Measure.SLOs, r.Study.Measure.MaxFailureRate)
	return &s, nil
}

func checkPrecision(p float64) error {
	if !(p >= minPrecision && p <= maxPrecision) {
		return Badf("--precision %v: wanted between %v and %v", p, minPrecision, maxPrecision)
	}
	return nil
}

// FleetSize seeks how few destinations, between two numbers, take the one load of
// the study within its objectives.
func (r *Runner) FleetSize(ctx context.Context, from, to int, precision float64, o SearchOptions) (*results.FleetSizes, error) {
	s := r.Study
	if err := checkPrecision(precision); err != nil {
		return nil, err
	}
	if err := r.checkSearch(); err != nil {
		return nil, err
	}
	steps := geometric(float64(from), float64(to), precision, math.Round)
	slices.Reverse(steps)
	for _, n := range []int{from, to} {
		if err := r.withDestinations(n).Study.Check(); err != nil {
			return nil, err
		}
		if err := r.withDestinations(n).rehearse(); err != nil {
			return nil, bad(err)
		}
	}
	load := s.LoadsQPS[0]
	courses, err := r.search(ctx, steps, o, func(n float64) (*Runner, float64) { return r.withDestinations(int(n)), load })
	if err != nil {
		return nil, err
	}
	f := &results.FleetSizes{Study: s.Name, LoadQPS: load, From: from, To: to}
	for i, c := range courses {
		tried := make([]results.FleetTried, 0, len(c.tried))
		for _, at := range slices.Backward(slices.Sorted(maps.Keys(c.tried))) {
			tried = append(tried, results.FleetTried{Destinations: int(steps[at]), Cell: c.tried[at]})
		}
		f.Courses = append(f.Courses, results.FleetCourse{Policy: s.Policies[i/len(s.Seeds)].Label, Seed: s.Seeds[i%len(s.Seeds)], Tried: tried})
	}
	f.Summarise(s.Measure.SLOs, s.Measure.MaxFailureRate)
	return f, nil
}

// withDestinations is the same study on a fleet of another size.
func (r *Runner) withDestinations(n int) *Runner {
	study, runner := *r.Study, *r
	study.Fleet.Destinations = n
	runner.Study = &study
	return &runner
}
