package calib

import (
	"math"
	"runtime"
	"slices"
	"sync"

	"cacheroute/engine"
	"cacheroute/sim/clock"
)

// The second stage simulates each run as it was measured, closed loop and all,
// and moves the parameters by Gauss-Newton steps: the simulated means are close
// to linear in the costs, so a few steps of differences do what a general
// optimiser does in hundreds. Each step is the same robust, non-negative
// problem as the regression.
const (
	refineSteps = 12
	screenSteps = 2
	// ttftWeight is how much an error of TTFT counts beside one of TPOT. It is
	// small: means of TTFT hold the burst at a bench's start and convoys of
	// requests, to which costs should not be bent.
	ttftWeight = 0.05
	// readingWeight is the same when readings of a bench are compared.
	readingWeight = 0.2
	// refineBound is the least error that can be odd in this stage.
	refineBound = 0.01
)

// simulateRows simulates runs under the parameters, side by side.
func (f *fitter) simulateRows(p params, rows []BenchRow) []Simulated {
	cfg := f.cfg
	cfg.Cost = f.cost(p).Build()
	overhead := clock.Time(math.Round(p[f.overheadAt()] * float64(clock.Millisecond)))
	out := make([]Simulated, len(rows))
	var next sync.Mutex
	var all sync.WaitGroup
	i := 0
	for range min(runtime.GOMAXPROCS(0), len(rows)) {
		all.Go(func() {
			for {
				next.Lock()
				k := i
				i++
				next.Unlock()
				if k >= len(rows) {
					return
				}
				out[k] = simulateFor(cfg, overhead, rows[k].With(f.facts), f.opt.Seed)
			}
		})
	}
	all.Wait()
	f.opt.Tally.Runs.Add(int64(len(rows)))
	return out
}

// errors are the weighted relative errors of runs: TPOT, then TTFT, row by row.
func weighted(rows []BenchRow, got []Simulated, ttft float64) []float64 {
	r := make([]float64, 0, 2*len(rows))
	for i, row := range rows {
		r = append(r, 1-got[i].TPOTMean/row.TPOTMean, ttft*(1-got[i].TTFTMean/row.TTFTMean))
	}
	return r
}

// linearise asks for the measured figures, by the slopes of the simulation at p
// over differences of so many times the usual ones.
func (f *fitter) linearise(p params, wide float64) problem {
	base := f.simulateRows(p, f.rows)
	q := problem{x: make([][]float64, 2*len(f.rows)), y: weighted(f.rows, base, ttftWeight)}
	for i := range q.x {
		q.x[i] = make([]float64, f.count())
	}
	for j := range p {
		h := wide * f.step(p, j)
		if h == 0 {
			continue
		}
		moved := slices.Clone(p)
		moved[j] += h
		for i, s := range f.simulateRows(moved, f.rows) {
			row := f.rows[i]
			q.x[2*i][j] = (s.TPOTMean - base[i].TPOTMean) / h / row.TPOTMean
			q.x[2*i+1][j] = ttftWeight * (s.TTFTMean - base[i].TTFTMean) / h / row.TTFTMean
		}
	}
	for i, row := range q.x {
		for j, v := range row {
			q.y[i] += v * p[j]
		}
	}
	return q
}

// step is the difference by which a parameter is moved to find slopes: what
// changes the mean step by half a per cent. 0 for one that stays.
func (f *fitter) step(p params, j int) float64 {
	switch {
	case f.keep != nil && !f.keep[j]:
		return 0
	case j == f.freeAt():
		if !f.form.free {
			return 0
		}
		return 16
	case j == f.overheadAt():
		return 5
	}
	const part = 0.005
	step, feature := 0.0, 0.0
	for _, r := range f.rows {
		step += 1e3 * r.TPOTMean
		feature += f.form.meanStep(r.With(f.facts), float64(f.cfg.MaxBatchedTokens), p[f.freeAt()])[j]
	}
	if feature == 0 {
		return 0
	}
	return part * step / feature
}

// refine moves the parameters until the loss no longer falls. A simulation is
// not smooth, as convoys of requests form and break: where small differences
// mislead, larger ones are tried.
func (f *fitter) refine(p params, steps int) (params, float64) {
	defer f.opt.Tally.Done.Add(1)
	bound := math.Max(f.bound, huber*refineBound)
	best := f.loss(p, bound)
	for range steps {
		next, lower := p, best
		for _, wide := range []float64{1, 4, 16} {
			target, _ := f.believe(f.linearise(p, wide), p).robust(bound)
			if next, lower = f.towards(p, target, best, bound); lower < best {
				break
			}
		}
		settled := best-lower < 1e-3*best
		p, best = next, lower
		if settled {
			break
		}
	}
	return f.tuneOverhead(p), best
}

// mostOverhead bounds the overhead in steps: a warm first token of vLLM takes
// about three decode steps, of which the simulation has half a step of waiting
// and the step itself.
const mostOverhead = 2

// refineFully refines twice: the spread of the errors, which weighs the priors,
// falls with the first time.
func (f *fitter) refineFully(p params) params {
	for range 2 {
		p, _ = f.refine(p, refineSteps)
		f.bound = oddBeyond(weighted(f.rows, f.simulateRows(p, f.rows), ttftWeight))
	}
	return p
}

// tuneOverhead moves the overhead alone to where TTFT comes nearest, in squares:
// costs do not tell it, and TTFT counts for little in theirs.
func (f *fitter) tuneOverhead(p params) params {
	if !f.told(f.overheadAt()) {
		return p
	}
	const steps = 20
	best, lowest := p, norm(weighted(f.rows, f.simulateRows(p, f.rows), readingWeight))
	for i := range steps + 1 {
		try := slices.Clone(p)
		try[f.overheadAt()] = mostOverhead * p[0] * float64(i) / steps
		if l := norm(weighted(f.rows, f.simulateRows(try, f.rows), readingWeight)); l < lowest {
			best, lowest = try, l
		}
	}
	return best
}

// towards goes from p as far to target as lowers the loss below best.
func (f *fitter) towards(p params, target []float64, best, bound float64) (params, float64) {
	for _, part := range []float64{1, 0.5, 0.25, 0.1} {
		try := make(params, len(p))
		for j := range p {
			try[j] = p[j] + part*(target[j]-p[j])
		}
		try[f.freeAt()] = math.Min(try[f.freeAt()], mostFree)
		try[f.overheadAt()] = math.Min(try[f.overheadAt()], mostOverhead*try[0])
		if l := f.loss(try, bound); l < best {
			return try, l
		}
	}
	return p, best
}

func (f *fitter) loss(p params, bound float64) float64 {
	return huberLoss(weighted(f.rows, f.simulateRows(p, f.rows), ttftWeight), bound) + f.disbelief(p)
}

// simulateFor simulates a row. A run that cannot be simulated has figures that
// fit nothing.
func simulateFor(cfg engine.Config, overhead clock.Time, row BenchRow, seed uint64) Simulated {
	s, err := SimulateRow(cfg, overhead, row, seed)
	if err != nil || s.Completed == 0 {
		return Simulated{TTFTMean: 1e6, TPOTMean: 1e6, FreeTTFTMean: 1e6}
	}
	return s
}
