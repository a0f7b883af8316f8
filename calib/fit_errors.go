package calib

import (
	"math"
	"slices"

	"cacheroute/results"
)

// report fills in coefficients and errors of a fit of closed-loop runs.
func (f *fitter) report(p params) {
	each := 1
	if f.opt.Refine {
		each = 2
	}
	f.setCoefficients(p, f.intervals(p, f.design(p), each))
	f.fit.Rows = f.rowErrors(p, slices.Concat(f.rows, f.full, f.odd))
	for i := range f.full {
		f.fit.Rows[len(f.rows)+i].Measured.KVBound = true
	}
	for i := range f.odd {
		f.fit.Rows[len(f.rows)+len(f.full)+i].Odd = true
	}
	f.fit.Error = mape(f.fit.Rows)
	slices.SortStableFunc(f.fit.Rows, func(a, b RowError) int { return a.Line - b.Line })
	if e := f.fit.Error.TPOT; e > poorFit {
		f.warn("the rows are %.0f %% off the fit on average: they are not of one engine, or not as this cost model has it", 100*e)
	}
	f.warnOfLoad()
}

// poorFit is a mean error of TPOT of which a reader must hear.
const poorFit = 0.1

// rowErrors puts the fit beside measured rows; without simulation it has a TPOT
// only.
func (f *fitter) rowErrors(p params, rows []BenchRow) []RowError {
	out := make([]RowError, len(rows))
	var got []Simulated
	if f.opt.Refine {
		got = f.simulateRows(p, rows)
	}
	for i, r := range rows {
		as := r.With(f.facts)
		e := RowError{Row: r, Line: r.Line, Measured: as.measured()}
		if f.opt.Refine {
			e.Fit = as.simulated(got[i])
		} else {
			nan := results.Float(math.NaN())
			e.Fit = Figures{TTFT: nan, OutputTokensPer: nan}
			for j, v := range f.form.meanStep(as, float64(f.cfg.MaxBatchedTokens), p[f.freeAt()]) {
				e.Fit.TPOT += results.Float(v * p[j] / 1e3)
			}
		}
		out[i] = e
	}
	return out
}

// setApart takes out the rows that no mean step explains: they would pull the
// fit the harder, the fewer others speak for their lengths.
func (f *fitter) setApart() {
	const least, spreads = 0.25, 8
	f.facts = Facts{LengthRatio: f.opt.Facts.LengthRatio}
	if f.cfg.MaxBatchedTokens == 0 {
		f.cfg.MaxBatchedTokens = usualBudgets[0]
	}
	p := f.regress()
	r := f.meanSteps(p[f.freeAt()]).residuals(p[:len(f.form.coefficients)])
	limit := math.Max(least, spreads*medianAbs(r))
	var rows []BenchRow
	for i, row := range f.rows {
		if math.Abs(r[i]) <= limit {
			rows = append(rows, row)
			continue
		}
		f.odd = append(f.odd, row)
		f.warn("line %d does not fit the others and is left out: TPOT %.1f ms, %.1f ms by the others", row.Line, 1e3*row.TPOTMean, 1e3*row.TPOTMean*(1-r[i]))
	}
	f.rows = rows
}

// mape is the mean absolute relative errors of the rows in the fit.
func mape(rows []RowError) Errors {
	var sum meanErrors
	for _, e := range rows {
		if !e.Measured.KVBound && !e.Odd {
			sum.add(e.Fit.against(e.Measured))
		}
	}
	return sum.mean().Errors
}

// holdOut fits without each shape in turn and predicts it. The facts of the
// bench stay as they were found with all shapes. An overhead that does not help
// to predict is none: convoys of requests form and break with it, and a fit to
// them does not carry over.
func (f *fitter) holdOut(p params) params {
	errors, shapes := f.predictShapes()
	if o := f.overheadAt(); f.opt.Refine && f.told(o) && p[o] > 0 {
		g := *f
		g.keep = slices.Clone(f.keep)
		g.keep[o] = false
		q := slices.Clone(p)
		q[o] = 0
		q, _ = g.refine(q, refineSteps)
		needed := score(g.rowErrors(q, f.rows)) > overheadNeeded*score(f.rowErrors(p, f.rows))
		if without, by := g.predictShapes(); !needed && score(without) < score(errors) {
			f.note("no TTFT overhead: a fit without one predicts left-out shapes better than one with %.3g s", p[o]/1e3)
			p, errors, shapes, f.keep = q, without, by, g.keep
		}
	}
	f.fit.Shapes = shapes
	f.fit.HeldOut = mape(errors)
	if len(shapes) < 2 {
		f.warn("all rows are of one shape: nothing says how the costs hold at other lengths")
	}
	return p
}

// overheadNeeded is how many times larger the errors of a fit without a TTFT
// overhead are where the rows show that there is one, whatever shapes that are
// left out say: a few of them say little.
const overheadNeeded = 1.5

// score is an error by which fits are compared.
func score(rows []RowError) float64 {
	e := mape(rows)
	return float64(e.TPOT + readingWeight*e.TTFT)
}

// predictShapes predicts each shape from a fit to the others, made from the start.
func (f *fitter) predictShapes() (all []RowError, shapes []ShapeError) {
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
		q := g.regress()
		if f.opt.Refine {
			g.bound = oddBeyond(g.meanSteps(q[g.freeAt()]).residuals(q[:len(g.form.coefficients)]))
			q = g.refineFully(q)
		}
		errors := g.rowErrors(q, out)
		all = append(all, errors...)
		shapes = append(shapes, ShapeError{Input: shape.Input, Output: shape.Output, Rows: len(errors), Error: mape(errors)})
	}
	return all, shapes
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
