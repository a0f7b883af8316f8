package calib

import (
	"math"
)

// meanSteps asks, for each row, that the mean step be its TPOT: a linear
// problem of relative errors for a given number of free tokens.
func (f *fitter) meanSteps(free float64) problem {
	var p problem
	for _, r := range f.rows {
		r = r.With(f.facts)
		p.add(f.form.meanStep(r, float64(f.cfg.MaxBatchedTokens), free), 1e3*r.TPOTMean)
	}
	return p
}

// add puts in a row that asks for ms, as a relative error.
func (p *problem) add(features []float64, ms float64) {
	x := make([]float64, len(features))
	for j, v := range features {
		x[j] = v / ms
	}
	p.x, p.y = append(p.x, x), append(p.y, 1)
}

// mostFree bounds the search for free tokens: at the peaks of compute and memory
// an H100 computes 295 tokens in bf16 while it reads its weights.
const mostFree = 512

// regress fits the mean steps; the overhead stays 0.
func (f *fitter) regress() params { return f.profile(f.meanSteps, 0, mostFree) }

// profile solves for the coefficients and, around that, for the free tokens
// between two bounds. The loss is not convex in them: a grid finds the valley, a
// line search its bottom.
func (f *fitter) profile(at func(free float64) problem, lo, hi float64) params {
	p := make(params, f.count())
	solve := func(free float64) (theta []float64, loss float64) {
		q := at(free).only(f.keep)
		theta, _ = q.robust(f.bound)
		r := q.residuals(theta)
		bound := f.bound
		if bound == 0 {
			bound = huber * scaleFloor
		}
		return theta, huberLoss(r, bound)
	}
	theta, best := solve(lo)
	if f.form.free {
		const grid = 32
		free := lo
		for x := lo + grid; x <= hi; x += grid {
			if _, loss := solve(x); loss < best {
				best, free = loss, x
			}
		}
		bottom := golden(math.Max(0, free-grid), free+grid, func(x float64) float64 { _, loss := solve(x); return loss })
		if _, loss := solve(bottom); loss < best {
			free = bottom
		}
		p[f.freeAt()] = free
		theta, _ = solve(free)
	}
	copy(p, theta)
	return p
}

// golden finds the minimum of a function with one valley by golden-section
// search.
func golden(lo, hi float64, f func(float64) float64) float64 {
	ratio := (math.Sqrt(5) - 1) / 2
	a, b := hi-ratio*(hi-lo), lo+ratio*(hi-lo)
	fa, fb := f(a), f(b)
	for range 24 {
		if fa <= fb {
			hi, b, fb = b, a, fa
			a = hi - ratio*(hi-lo)
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + ratio*(hi-lo)
			fb = f(b)
		}
	}
	return (lo + hi) / 2
}

// only zeroes the columns that the rows do not tell; nil keeps all.
func (p problem) only(keep []bool) problem {
	if keep == nil {
		return p
	}
	q := problem{y: p.y, x: make([][]float64, len(p.x))}
	for i, row := range p.x {
		q.x[i] = make([]float64, len(row))
		for j, v := range row {
			if keep[j] {
				q.x[i][j] = v
			}
		}
	}
	return q
}
