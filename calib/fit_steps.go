package calib

import (
	"math"

	"cacheroute/results"
)

// fitSteps fits a log of single steps, which needs no simulation.
func (f *fitter) fitSteps(g Group) (*Fit, error) {
	if len(g.Steps) < 2*f.count() {
		return nil, badBench("%s:%d: read %d steps, wanted at least %d", g.File, g.Steps[0].Line, len(g.Steps), 2*f.count())
	}
	f.opt.Refine = false
	f.fit.Steps = len(g.Steps)
	if f.opt.KVBlocks > 0 {
		if err := f.sizeCache(nil); err != nil {
			return nil, err
		}
	}
	if f.fit.MaxBatchedTokens = f.opt.MaxBatchedTokens; f.fit.MaxBatchedTokens == 0 {
		f.fit.MaxBatchedTokens = usualBudgets[0]
		f.fit.FoundFacts = append(f.fit.FoundFacts, "max_num_batched_tokens")
	}
	at := func(free float64) problem {
		var p problem
		for _, s := range g.Steps {
			p.add(f.form.features(load{s.Decodes, s.Context, s.Prefill, s.Work}, free), 1e3*s.Seconds)
		}
		return p
	}
	p := f.profile(at, 0, mostFree)
	q := at(p[f.freeAt()])
	f.bound = oddBeyond(q.residuals(p[:len(f.form.coefficients)]))
	f.identifyIn(p, f.withFree(p, at).x)
	p = f.profile(at, 0, mostFree)
	q = f.withFree(p, at)
	f.setCoefficients(p, f.intervals(p, q, 1))
	f.stepErrors(p, at)
	mixed := false
	for _, s := range g.Steps {
		mixed = mixed || s.Prefill > 0 && s.Decodes > 0
	}
	if !mixed {
		f.warn("no step holds both prompt tokens and decoding sequences: nothing says what a mixed step costs")
	}
	return f.fit, f.judge(p)
}

// folds is how many parts of a step log are held out in turn.
const folds = 10

// stepErrors notes the mean error, and that of steps held out.
func (f *fitter) stepErrors(p params, at func(free float64) problem) {
	n := len(f.form.coefficients)
	q := at(p[f.freeAt()])
	nan := results.Float(math.NaN())
	f.fit.Error = Errors{TTFT: nan, TPOT: results.Float(meanAbs(q.residuals(p[:n]))), OutputTokensPer: nan}
	sum := 0.0
	for k := range folds {
		inFold := func(i int) bool { return i%folds == k }
		near := p[f.freeAt()]
		theta := f.profile(func(free float64) problem { return at(free).without(inFold) }, near, near)
		out := at(theta[f.freeAt()]).without(func(i int) bool { return !inFold(i) })
		sum += meanAbs(out.residuals(theta[:n])) / folds
	}
	f.fit.HeldOut = Errors{TTFT: nan, TPOT: results.Float(sum), OutputTokensPer: nan}
}

func meanAbs(r []float64) float64 {
	s := 0.0
	for _, v := range r {
		s += math.Abs(v) / float64(len(r))
	}
	return s
}
