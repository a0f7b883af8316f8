package calib

import (
	"math"
	"slices"
)

// report fills in coefficients and errors of a fit of closed-loop runs.
func (f *fitter) report(p params) {
	each := 1
	if f.opt.Refine {
		each = 2
	}
	f.setCoefficients(p, f.intervals(p, f.design(p), each))
	rows := slices.Concat(f.rows, f.full)
	f.fit.Rows = f.rowErrors(p, rows)
	for i := range f.full {
		f.fit.Rows[len(f.rows)+i].KVBound = true
	}
	f.markOdd()
	f.fit.TPOTError, f.fit.TTFTError = mape(f.fit.Rows)
	f.holdOut(p)
	slices.SortStableFunc(f.fit.Rows, func(a, b RowError) int { return a.Line - b.Line })
	f.warnOfLoad()
}

// rowErrors puts the fit beside measured rows; without simulation it has no TTFT.
func (f *fitter) rowErrors(p params, rows []BenchRow) []RowError {
	out := make([]RowError, len(rows))
	var got []Simulated
	if f.opt.Refine {
		got = f.simulateRows(p, rows)
	}
	for i, r := range rows {
		e := RowError{Row: r, Line: r.Line, TTFT: r.TTFTMean, TPOT: r.TPOTMean}
		if f.opt.Refine {
			e.FitTTFT, e.FitTPOT, e.simulated = got[i].TTFTMean, got[i].TPOTMean, got[i]
		} else {
			for j, v := range f.form.meanStep(r.With(f.facts), float64(f.cfg.MaxBatchedTokens), p[f.freeAt()]) {
				e.FitTPOT += v * p[j] / 1e3
			}
		}
		out[i] = e
	}
	return out
}

func (e RowError) tpot() float64 { return math.Abs(e.FitTPOT/e.TPOT - 1) }
func (e RowError) ttft() float64 { return math.Abs(e.FitTTFT/e.TTFT - 1) }

// markOdd marks the rows that no fit of the others explains.
func (f *fitter) markOdd() {
	const least, spreads = 0.25, 8
	var all []float64
	for _, e := range f.fit.Rows {
		if !e.KVBound {
			all = append(all, e.tpot())
		}
	}
	limit := math.Max(least, spreads*medianAbs(all))
	for i := range f.fit.Rows {
		e := &f.fit.Rows[i]
		if e.Odd = !e.KVBound && e.tpot() > limit; e.Odd {
			f.warn("line %d does not fit the others: TPOT %.1f ms, %.1f ms by the fit; it has little weight and is left out of the mean errors", e.Line, 1e3*e.TPOT, 1e3*e.FitTPOT)
		}
	}
}

// mape is the mean absolute relative errors of the rows in the fit.
func mape(rows []RowError) (tpot, ttft float64) {
	n := 0.0
	for _, e := range rows {
		if !e.KVBound && !e.Odd {
			tpot += e.tpot()
			ttft += e.ttft()
			n++
		}
	}
	n = math.Max(1, n)
	return tpot / n, ttft / n
}

// holdOut fits without each shape in turn and predicts it. The facts of the
// bench stay as they were found with all shapes.
func (f *fitter) holdOut(p params) {
	odd := map[int]bool{}
	for _, e := range f.fit.Rows {
		odd[e.Line] = e.Odd
	}
	var all []RowError
	for _, shape := range f.shapes() {
		g := *f
		g.rows = nil
		var out []BenchRow
		for _, r := range f.rows {
			if r.Shape() == shape {
				out = append(out, r)
			} else {
				g.rows = append(g.rows, r)
			}
		}
		if len(g.rows) < fewestRows {
			continue
		}
		var q params
		if f.opt.Refine {
			q, _ = g.refine(p, refineSteps)
		} else {
			q = g.regress()
		}
		errors := g.rowErrors(q, out)
		allOdd := true
		for i := range errors {
			errors[i].Odd = odd[errors[i].Line]
			allOdd = allOdd && errors[i].Odd
		}
		all = append(all, errors...)
		e := ShapeError{Input: shape.Input, Output: shape.Output, Rows: len(errors), Odd: allOdd}
		e.TPOT, e.TTFT = mape(errors)
		f.fit.Shapes = append(f.fit.Shapes, e)
	}
	f.fit.HeldOutTPOT, f.fit.HeldOutTTFT = mape(all)
	if len(f.fit.Shapes) < 2 {
		f.warn("all rows are of one shape: nothing says how the costs hold at other lengths")
	}
}

// shapes lists the shapes of the rows in the fit, in order of the file.
func (f *fitter) shapes() []Shape {
	var all []Shape
	for _, r := range f.rows {
		if !slices.Contains(all, r.Shape()) {
			all = append(all, r.Shape())
		}
	}
	return all
}

// saturated is the growth of throughput, over that of clients, below which an
// engine has little left to give.
const saturated = 0.35

// warnOfLoad warns if no run comes near saturation: a fit on light load
// under-predicts the steps of a busy engine by up to 16 %.
func (f *fitter) warnOfLoad() {
	if len(f.full) > 0 {
		return
	}
	rate := func(r BenchRow) float64 {
		return float64(r.Concurrency) / (r.TTFTMean + r.TPOTMean*math.Max(0, r.Output.Mean-1))
	}
	for _, a := range f.rows {
		for _, b := range f.rows {
			clients := float64(b.Concurrency) / float64(a.Concurrency)
			if a.Shape() == b.Shape() && clients >= 1.5 && rate(b)/rate(a)-1 < saturated*(clients-1) {
				return
			}
		}
	}
	f.warn("no run saturates the engine: costs fitted to light load were seen to be 16 %% too low for a busy engine; add runs with more clients")
}
