package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"cacheroute/scenarios"
)

// Options says how to run a search.
type Options struct {
	Workers int // parallel points; 0: one for each CPU
	// Generations bounds those of every stage; 0: as the spec says.
	Generations int
	Journal     *Journal // of what was evaluated; nil: none
	Tally       *scenarios.Tally
	// Generation, if not nil, is told of each one as it ends.
	Generation func(Progress)
}

// Progress is where a search is.
type Progress struct {
	Stage, Stages           int // from 1
	Start                   string
	Generation, Generations int
	Loss, Best              float64 // of this generation, of this start and stage
	StepSize                float64
}

// Optimum is the best point that one start found in its last stage.
type Optimum struct {
	Start  string            `json:"start"`
	Stage  int               `json:"stage"` // its last, from 1
	Loss   float64           `json:"loss"`
	Values map[string]string `json:"values"`
	Scores []Score           `json:"scores"`

	at []float64
}

// Result is a finished search.
type Result struct {
	Spec        *Spec     `json:"-"`
	Optima      []Optimum `json:"optima"` // of the last stage by rising loss, then those that were left behind
	Parameters  []Profile `json:"parameters"`
	Evaluations int       `json:"evaluations"`
}

// walker is one start on its way through the stages.
type walker struct {
	name  string
	index int
	start []float64
	best  Optimum // of its last stage
}

// point is an evaluated point.
type point struct {
	at   []float64
	loss float64
}

// Search runs all stages of all starts. The result does not depend on workers
// or interruptions.
func (s *Spec) Search(ctx context.Context, o Options) (*Result, error) {
	walkers, err := s.walkers()
	if err != nil {
		return nil, err
	}
	out := &Result{Spec: s}
	var last []point
	for n := range s.Stages {
		if keep := s.Stages[n].Keep; keep > 0 && keep < len(walkers) {
			for _, w := range walkers[keep:] {
				out.Optima = append(out.Optima, w.best)
			}
			walkers = walkers[:keep]
		}
		last = last[:0]
		for _, w := range walkers {
			points, err := s.walk(ctx, w, n, &o)
			if err != nil {
				return nil, err
			}
			last = append(last, points...)
			out.Evaluations += len(points)
		}
		if !slices.ContainsFunc(walkers, func(w *walker) bool { return w.best.Loss < hopeless }) {
			return nil, scenarios.Badf("%s: no point that was tried serves a single request, wanted bounds under which prompts fit and clients wait", s.Study)
		}
		slices.SortStableFunc(walkers, func(a, b *walker) int { return cmp.Compare(a.best.Loss, b.best.Loss) })
	}
	finals := make([]Optimum, len(walkers))
	for i, w := range walkers {
		finals[i] = w.best
	}
	out.Optima = append(finals, out.Optima...)
	out.Parameters = s.profiles(out.Optima[0], last)
	return out, nil
}

// Generations is how many a search has at most, each stage bounded by most if
// that is above 0.
func (s *Spec) Generations(most int) int {
	n, walkers := 0, len(s.Starts)+s.RandomStarts
	for _, g := range s.Stages {
		if g.Keep > 0 {
			walkers = min(walkers, g.Keep)
		}
		n += walkers * g.bounded(most)
	}
	return n
}

// bounded is the number of generations, at most so many if that is above 0.
func (g *Stage) bounded(most int) int {
	if most > 0 {
		return min(g.Generations, most)
	}
	return g.Generations
}

// randomStart is the name of one.
func randomStart(i int) string { return fmt.Sprintf("random-%d", i+1) }

func (s *Spec) walkers() ([]*walker, error) {
	var all []*walker
	for _, start := range s.Starts {
		u, err := s.point(start.At)
		if err != nil {
			return nil, err
		}
		all = append(all, &walker{name: start.Name, start: u, best: Optimum{at: u}})
	}
	rng := rand.New(rand.NewPCG(s.Seed, 0))
	for i := range s.RandomStarts {
		u := make([]float64, len(s.Parameters))
		for k := range u {
			u[k] = rng.Float64()
		}
		all = append(all, &walker{name: randomStart(i), start: u, best: Optimum{at: u}})
	}
	for i, w := range all {
		w.index = i
	}
	return all, nil
}

// walk runs one stage of one start and leaves its best point in it.
func (s *Spec) walk(ctx context.Context, w *walker, stage int, o *Options) ([]point, error) {
	g := &s.Stages[stage]
	generations := g.bounded(o.Generations)
	// A stage before with less of the table may have led astray: begin where the
	// start itself was if that is better now.
	all, err := s.evaluated(ctx, [][]float64{w.best.at, w.start}, generation{w.name, stage, 0}, o)
	if err != nil {
		return nil, err
	}
	best := all[0]
	if all[1].loss < best.loss {
		best = all[1]
	}
	rng := rand.New(rand.NewPCG(s.Seed, uint64(1+stage*1000+w.index)))
	c := newCMAES(best.at, g.Step, s.Population, rng)
	for n := range generations {
		points := c.ask()
		these, err := s.evaluated(ctx, points, generation{w.name, stage, n + 1}, o)
		if err != nil {
			return nil, err
		}
		losses := make([]float64, len(these))
		for i, p := range these {
			losses[i] = p.loss
			if p.loss < best.loss {
				best = p
			}
		}
		all = append(all, these...)
		if o.Generation != nil {
			o.Generation(Progress{stage + 1, len(s.Stages), w.name, n + 1, generations, slices.Min(losses), best.loss, c.sigma})
		}
		c.tell(points, losses)
	}
	loss, scores, err := s.evaluate(ctx, best.at, g, o.Tally)
	if err != nil {
		return nil, err
	}
	w.best = Optimum{Start: w.name, Stage: stage + 1, Loss: loss, Values: s.values(best.at), Scores: scores, at: best.at}
	return all, nil
}

// evaluated gives points their losses, from the journal if it has them.
func (s *Spec) evaluated(ctx context.Context, points [][]float64, key generation, o *Options) ([]point, error) {
	losses, known := o.Journal.find(key, points)
	if !known {
		var err error
		if losses, err = s.losses(ctx, points, &s.Stages[key.Stage], o); err != nil {
			return nil, err
		}
		if err := o.Journal.put(key, points, losses); err != nil {
			return nil, err
		}
	}
	all := make([]point, len(points))
	for i := range all {
		all[i] = point{points[i], losses[i]}
	}
	return all, nil
}

// values are the parameters at a point.
func (s *Spec) values(u []float64) map[string]string {
	v := map[string]string{}
	for i := range s.Parameters {
		v[s.Parameters[i].Path] = s.Parameters[i].value(u[i])
	}
	return v
}

// losses evaluates a generation in parallel.
func (s *Spec) losses(ctx context.Context, points [][]float64, g *Stage, o *Options) ([]float64, error) {
	workers := cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	losses := make([]float64, len(points))
	errs := make([]error, len(points))
	inner, stop := context.WithCancel(ctx)
	defer stop()
	next := make(chan int)
	var group sync.WaitGroup
	for range min(workers, len(points)) {
		group.Go(func() {
			for i := range next {
				if losses[i], _, errs[i] = s.evaluate(inner, points[i], g, o.Tally); errs[i] != nil {
					stop()
				}
			}
		})
	}
	for i := range points {
		next <- i
	}
	close(next)
	group.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return nil, err
		}
	}
	return losses, nil
}
