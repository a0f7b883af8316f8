package calib

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"cacheroute/results"
)

// design is the equations of the fit around p, a column for each parameter.
func (f *fitter) design(p params) problem {
	if f.opt.Refine {
		return f.linearise(p, 4)
	}
	return f.withFree(p, f.meanSteps)
}

// withFree adds the slope of the free tokens, and an empty column for the
// overhead, to a regression.
func (f *fitter) withFree(p params, at func(free float64) problem) problem {
	const h = 1
	q, more := at(p[f.freeAt()]), at(p[f.freeAt()]+h)
	n := len(f.form.coefficients)
	for i := range q.x {
		slope := 0.0
		for j := range n {
			slope += (more.x[i][j] - q.x[i][j]) / h * p[j]
		}
		q.x[i] = append(q.x[i], slope, 0)
		q.y[i] += slope * p[f.freeAt()]
	}
	return q
}

// names are the parameters' names.
func (f *fitter) names() []string {
	return append(slices.Clone(f.form.coefficients), "free_tokens", "ttft_overhead_s")
}

// told is the least sine of the angle between the column of a parameter and
// those before it at which the rows tell them apart.
const told = 0.01

// identify settles which parameters the rows tell. They are taken in order of
// their weight in practice: one whose column the earlier ones make up is left to
// its prior, if it has one and priors count, else fixed at 0.
func (f *fitter) identify(p params) {
	f.keep = nil
	f.identifyIn(p, f.design(p).x)
}

func (f *fitter) identifyIn(p params, x [][]float64) {
	n := len(f.form.coefficients)
	order := []int{0, 3, 2, f.overheadAt(), 1, 4, f.freeAt()}
	f.keep, f.prior = make([]bool, f.count()), make([]bool, f.count())
	var kept [][]float64
	for _, j := range order {
		if j == f.freeAt() && !f.form.free || j == f.overheadAt() && !f.opt.Refine {
			continue
		}
		column := make([]float64, len(x))
		for i := range x {
			column[i] = x[i][j]
		}
		length := norm(column)
		if length == 0 && j == f.freeAt() && p[j] == 0 {
			f.keep[j] = true // no step comes near enough to be free
			continue
		}
		rest := orthogonal(column, kept)
		if length == 0 || norm(rest)/length < told {
			f.prior[j] = f.opt.Refine && hasPrior(j)
			f.keep[j] = f.prior[j]
			if !f.keep[j] {
				p[j] = 0
			}
			if j < n {
				f.warn("%s cannot be told from these rows: %s; runs of other lengths would tell it", f.names()[j], f.untold(j))
			}
			continue
		}
		f.keep[j] = true
		kept = append(kept, scaled(rest, 1/norm(rest)))
	}
}

// untold is what stands for a parameter that the rows do not tell.
func (f *fitter) untold(j int) string {
	switch {
	case f.prior[j]:
		return "a prior from dense models stands in"
	case j == f.overheadAt() && f.opt.Refine:
		return "none: shapes left out of the fit are predicted better without"
	case j == f.overheadAt():
		return "not fitted without simulation"
	}
	return "set to 0, its part lies in the others"
}

// orthogonal is what of v lies outside an orthonormal basis.
func orthogonal(v []float64, basis [][]float64) []float64 {
	r := slices.Clone(v)
	for range 2 { // twice is enough (Kahan)
		for _, b := range basis {
			dot := 0.0
			for i := range r {
				dot += r[i] * b[i]
			}
			for i := range r {
				r[i] -= dot * b[i]
			}
		}
	}
	return r
}

func norm(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s = math.Hypot(s, x)
	}
	return s
}

func scaled(v []float64, by float64) []float64 {
	for i := range v {
		v[i] *= by
	}
	return v
}

// confidence is that of the printed intervals, two-sided.
const confidence = 0.99

// intervals are half-widths for the parameters around p: the wider of normal
// theory and the jackknife, which leaves out parts of the data in turn. each is
// how many equations stand together.
func (f *fitter) intervals(p params, q problem, each int) []float64 {
	q = f.withoutPriors(q, p)
	rows := len(q.y) / each
	parameters := 0
	for j := range p {
		if f.told(j) && !f.byPrior(j) {
			parameters++
		}
	}
	t := distuv.StudentsT{Sigma: 1, Nu: math.Max(1, float64(rows-parameters))}.Quantile(1 - (1-confidence)/2)
	bound := math.Max(f.bound, oddBeyond(q.residuals(p)))
	normal, jack := f.normalErrors(p, q, bound), jackknife(q, each, bound)
	half := make([]float64, len(p))
	for j := range half {
		half[j] = t * math.Max(normal[j], jack[j])
	}
	return half
}

func (f *fitter) told(j int) bool    { return f.keep == nil || f.keep[j] }
func (f *fitter) byPrior(j int) bool { return f.prior != nil && f.prior[j] }

// withoutPriors takes what a prior stands in for as known.
func (f *fitter) withoutPriors(q problem, p params) problem {
	q = q.only(f.keep)
	y := slices.Clone(q.y)
	for i, row := range q.x {
		for j := range row {
			if f.byPrior(j) {
				y[i] -= row[j] * p[j]
				row[j] = 0
			}
		}
	}
	q.y = y
	return q
}

// normalErrors are the standard errors of weighted least squares.
func (f *fitter) normalErrors(p params, q problem, bound float64) []float64 {
	r := q.residuals(p)
	var columns []int
	length := make([]float64, len(p))
	for j := range p {
		for i := range q.x {
			length[j] = math.Hypot(length[j], q.x[i][j])
		}
		if f.told(j) && !f.byPrior(j) && length[j] > 0 {
			columns = append(columns, j)
		}
	}
	out := make([]float64, len(p))
	k := len(columns)
	if len(r) <= k {
		for _, j := range columns {
			out[j] = math.Inf(1)
		}
		return out
	}
	a := mat.NewSymDense(k, nil)
	variance := 0.0
	for i, row := range q.x {
		w := math.Min(1, bound/math.Abs(r[i]))
		variance += w * r[i] * r[i] / float64(len(r)-k)
		for x, j := range columns {
			for y := range x + 1 {
				l := columns[y]
				a.SetSym(x, y, a.At(x, y)+w*row[j]/length[j]*row[l]/length[l])
			}
		}
	}
	var chol mat.Cholesky
	var inverse mat.SymDense
	if !chol.Factorize(a) || chol.InverseTo(&inverse) != nil {
		for _, j := range columns {
			out[j] = math.Inf(1)
		}
		return out
	}
	for x, j := range columns {
		out[j] = math.Sqrt(variance*inverse.At(x, x)) / length[j]
	}
	return out
}

// parts is how many parts of the data the jackknife leaves out at most.
const parts = 60

// jackknife is the standard errors by leaving out parts of the rows in turn.
func jackknife(q problem, each int, bound float64) []float64 {
	rows := len(q.y) / each
	groups := min(rows, parts)
	all := make([][]float64, groups)
	for g := range all {
		all[g], _ = q.without(func(i int) bool { return i/each%groups == g }).robust(bound)
	}
	out := make([]float64, len(q.x[0]))
	for j := range out {
		mean, squares := 0.0, 0.0
		for _, t := range all {
			mean += t[j] / float64(groups)
		}
		for _, t := range all {
			squares += (t[j] - mean) * (t[j] - mean)
		}
		out[j] = math.Sqrt(squares * float64(groups-1) / float64(groups))
	}
	return out
}

// setCoefficients notes the parameters with their intervals.
func (f *fitter) setCoefficients(p params, half []float64) {
	for j, name := range f.names() {
		c := Coefficient{Name: name, Value: p[j], Lo: results.Float(math.Max(0, p[j]-half[j])), Hi: results.Float(p[j] + half[j])}
		if !f.told(j) || f.byPrior(j) {
			c.Untold, c.Lo, c.Hi = f.untold(j), 0, 0
		}
		switch {
		case j == f.overheadAt():
			c.Value, c.Lo, c.Hi = c.Value/1e3, c.Lo/1e3, c.Hi/1e3
			f.fit.Overhead = c
		case j == f.freeAt() && !f.form.free:
		default:
			f.fit.Coefficients = append(f.fit.Coefficients, c)
		}
	}
}
