package scenarios

import (
	"context"
	"errors"
	"math"
	"slices"

	"cacheroute/results"
)

// SearchOptions says how cells are run of which none is stored, such as those of
// a search for a knee.
type SearchOptions struct {
	Workers int // parallel runs; 0: one for each CPU
	Tally   *Tally
}

// rungs are what a search tries, the easiest first: loads that rise or fleets
// that shrink. They are fixed beforehand, so that all policies and seeds meet
// at the same ones and no number of workers changes what is found.
type rungs []float64

// near is how many rungs from the i-th the next 10 % are: the seeds of a study
// have their knees about as far apart.
func (r rungs) near(i int) int {
	n := 1
	for i+n < len(r)-1 && math.Abs(math.Log(r[i+n]/r[i])) < math.Log(1.1) {
		n++
	}
	return n
}

// geometric are numbers from a to b of which each is at most (1 + precision)
// times the one before, rounded.
func geometric(a, b, precision float64, round func(float64) float64) (r rungs) {
	steps := math.Ceil(math.Log(b/a)/math.Log1p(precision) - 1e-9)
	for i := 0.0; i <= steps; i++ {
		x := a
		if i > 0 {
			x = b
		}
		if i > 0 && i < steps {
			x = round(a * math.Pow(b/a, i/steps))
		}
		r = append(r, x)
	}
	return slices.Compact(r)
}

// course is the search for the knees of one policy with one seed.
type course struct {
	rungs
	run   func(rung float64) (results.Cell, error)
	tried map[int]results.Cell // by rung
}

// last returns the last rung that passes, -1 if none does. Rungs before it are
// taken to pass and those behind it to fail, but what another objective has
// tried is known: the bracket is between the last that is known to pass and the
// first behind it that is known to fail. From a start the search widens its steps
// until it has both, without one it halves.
func (c *course) last(passes func(*results.Cell) bool, start int) (int, error) {
	lo, hi := -1, len(c.rungs)
	for i := range c.rungs {
		cell, ok := c.tried[i]
		switch {
		case ok && passes(&cell):
			lo, hi = i, len(c.rungs)
		case ok && hi == len(c.rungs):
			hi = i
		}
	}
	stride := 0
	if start >= 0 {
		stride = c.near(start)
	}
	for hi-lo > 1 {
		at := (lo + hi) / 2
		switch {
		case start < 0 || lo >= 0 && hi < len(c.rungs):
		case lo < 0 && hi == len(c.rungs):
			at = start
		case lo < 0:
			at, stride = max(hi-stride, 0), 2*stride
		default:
			at, stride = min(lo+stride, len(c.rungs)-1), 2*stride
		}
		cell, err := c.run(c.rungs[at])
		if err != nil {
			return 0, err
		}
		c.tried[at] = cell
		if passes(&cell) {
			lo = at
		} else {
			hi = at
		}
	}
	return lo, nil
}

// search seeks the knees of every policy, seed and objective, and returns what
// was tried, by policy, then seed. cell is how a rung is run.
func (r *Runner) search(ctx context.Context, steps rungs, o SearchOptions, cell func(rung float64) (*Runner, float64)) ([]course, error) {
	s := r.Study
	m := &s.Measure
	seeds := len(s.Seeds)
	all := make([]course, len(s.Policies)*seeds)
	knees := make([][]int, len(all)) // by objective
	plan := r.planSearch(steps, o.Tally, len(all), cell)
	one := func(ctx context.Context, task int) error {
		c := &all[task]
		*c = course{rungs: steps, tried: map[int]results.Cell{}, run: func(rung float64) (results.Cell, error) {
			runner, load := cell(rung)
			at := Cell{Policy: &s.Policies[task/seeds], LoadQPS: load, Seed: s.Seeds[task%seeds]}
			o.Tally.Current.Store(&at)
			found, _, err := runner.Run(ctx, at, o.Tally, nil)
			o.Tally.Done.Add(1)
			return found, err
		}}
		for i, slo := range m.SLOs {
			start := -1
			if first := knees[task/seeds*seeds]; task%seeds > 0 {
				start = max(0, first[i])
			}
			knee, err := c.last(func(cell *results.Cell) bool { return cell.Passes(slo, m.MaxFailureRate) }, start)
			if err != nil {
				return err
			}
			knees[task] = append(knees[task], knee)
		}
		plan.end(c)
		return nil
	}
	// The first seed of a policy tells the others where to begin.
	err := Deal(ctx, o.Workers, len(s.Policies), func(ctx context.Context, i int) error { return one(ctx, i*seeds) })
	if err == nil && seeds > 1 {
		err = Deal(ctx, o.Workers, len(s.Policies)*(seeds-1), func(ctx context.Context, i int) error { return one(ctx, i/(seeds-1)*seeds+i%(seeds-1)+1) })
	}
	if err == nil && ctx.Err() != nil {
		err = errors.New("interrupted; nothing was written")
	}
	return all, err
}

// searchPlan keeps the tally's account of what is left, which no search knows: a
// course is expected to halve its rungs, and is counted as it was at its end.
type searchPlan struct {
	tally    *Tally
	halvings int64
	requests float64 // of a run in the middle
}

func (r *Runner) planSearch(steps rungs, tally *Tally, courses int, cell func(float64) (*Runner, float64)) *searchPlan {
	runner, load := cell(steps[len(steps)/2])
	m := &r.Study.Measure
	p := &searchPlan{tally, int64(math.Ceil(math.Log2(float64(len(steps) + 1)))), runner.requests(load, m.span(load))}
	tally.Cells.Store(int64(courses) * p.halvings)
	tally.Expected.Store(int64(float64(courses) * float64(p.halvings) * p.requests))
	return p
}

func (p *searchPlan) end(c *course) {
	requests := int64(-p.requests * float64(p.halvings))
	for _, cell := range c.tried {
		requests += cell.RunRequests
	}
	p.tally.Cells.Add(int64(len(c.tried)) - p.halvings)
	p.tally.Expected.Add(requests)
}
