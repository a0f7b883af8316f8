package calib

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// problem is a linear least-squares problem: row i asks that x[i].theta be
// y[i], theta not below 0. Rows are scaled so that an error of 1 means 100 %.
type problem struct {
	x [][]float64
	y []float64
}

// without leaves out the rows that drop names.
func (p problem) without(drop func(i int) bool) problem {
	var q problem
	for i := range p.y {
		if !drop(i) {
			q.x, q.y = append(q.x, p.x[i]), append(q.y, p.y[i])
		}
	}
	return q
}

// residuals is what theta leaves of y.
func (p problem) residuals(theta []float64) []float64 {
	r := make([]float64, len(p.y))
	for i, row := range p.x {
		r[i] = p.y[i]
		for j, v := range row {
			r[i] -= v * theta[j]
		}
	}
	return r
}

// Huber's bound in standard deviations, with 95 % efficiency on normal errors
// (Huber 1964), and the factor that makes the median of absolute normal errors
// their standard deviation.
const (
	huber     = 1.345
	madFactor = 1.4826
)

// scaleFloor is the least spread of errors that is told apart from noise: below
// it no row is an outlier.
const scaleFloor = 2e-4

// robust solves by iteratively reweighted least squares with Huber's weights,
// so that a few odd rows do not move the rest. A residual beyond bound is odd;
// a bound of 0 is taken from the spread of the residuals. It returns the weights
// too.
func (p problem) robust(bound float64) (theta, weight []float64) {
	weight = make([]float64, len(p.y))
	for i := range weight {
		weight[i] = 1
	}
	theta = p.nnls(weight)
	for range 30 {
		r := p.residuals(theta)
		limit := bound
		if limit == 0 {
			limit = oddBeyond(r)
		}
		for i := range r {
			weight[i] = math.Min(1, limit/math.Abs(r[i]))
		}
		next := p.nnls(weight)
		moved := 0.0
		for j := range next {
			moved = math.Max(moved, math.Abs(next[j]-theta[j])/(math.Abs(theta[j])+1e-300))
		}
		theta = next
		if moved < 1e-7 {
			break
		}
	}
	return theta, weight
}

// oddBeyond is Huber's bound for residuals of their spread.
func oddBeyond(r []float64) float64 { return huber * math.Max(scaleFloor, madFactor*medianAbs(r)) }

// huberLoss is what robust minimises.
func huberLoss(r []float64, bound float64) float64 {
	sum := 0.0
	for _, v := range r {
		if a := math.Abs(v); a <= bound {
			sum += a * a / 2
		} else {
			sum += bound * (a - bound/2)
		}
	}
	return sum
}

func medianAbs(x []float64) float64 {
	a := make([]float64, len(x))
	for i, v := range x {
		a[i] = math.Abs(v)
	}
	slices.Sort(a)
	if n := len(a); n%2 == 0 {
		return (a[n/2-1] + a[n/2]) / 2
	}
	return a[len(a)/2]
}

// nnls minimises the weighted squares with theta >= 0 by the active-set method
// of Lawson and Hanson (Solving Least Squares Problems, 1974, chapter 23). It is
// written out here, as gonum has least squares without bounds only. Columns are
// scaled to length 1, so that tolerances have no unit; one QR decomposition
// turns many rows into as many as there are columns.
func (p problem) nnls(weight []float64) []float64 {
	m, n := len(p.y), len(p.x[0])
	length := make([]float64, n)
	for i, row := range p.x {
		for j, v := range row {
			length[j] += weight[i] * v * v
		}
	}
	for j := range n {
		if length[j] = math.Sqrt(length[j]); length[j] == 0 {
			length[j] = 1
		}
	}
	all := mat.NewDense(max(m, n+1), n+1, nil) // the last column is y
	for i, row := range p.x {
		w := math.Sqrt(weight[i])
		for j, v := range row {
			all.Set(i, j, w*v/length[j])
		}
		all.Set(i, n, w*p.y[i])
	}
	var qr mat.QR
	var r mat.Dense
	qr.Factorize(all)
	qr.RTo(&r)
	theta := activeSet(mat.DenseCopyOf(r.Slice(0, n+1, 0, n)), mat.NewVecDense(n+1, mat.Col(nil, n, r.Slice(0, n+1, 0, n+1))))
	for j := range theta {
		theta[j] /= length[j]
	}
	return theta
}

// activeSet is Lawson and Hanson's loop on columns of length 1.
func activeSet(a *mat.Dense, b *mat.VecDense) []float64 {
	const tolerance = 1e-11
	_, n := a.Dims()
	theta, free := make([]float64, n), make([]bool, n)
	for range 10 * n {
		var r, g mat.VecDense
		r.MulVec(a, mat.NewVecDense(n, theta))
		r.SubVec(b, &r)
		g.MulVec(a.T(), &r)
		best := -1
		for j := range n {
			if !free[j] && g.AtVec(j) > tolerance && (best < 0 || g.AtVec(j) > g.AtVec(best)) {
				best = j
			}
		}
		if best < 0 {
			break
		}
		free[best] = true
		if !descend(a, b, theta, free) {
			free[best] = false // it adds nothing that can be told apart
			break
		}
	}
	return theta
}

// descend moves theta to the optimum over the free coefficients, fixing those
// at 0 that would pass it on the way.
func descend(a *mat.Dense, b *mat.VecDense, theta []float64, free []bool) bool {
	for {
		z, ok := solveFree(a, b, free)
		if !ok {
			return false
		}
		step := 1.0
		for j, f := range free {
			if f && z[j] <= 0 {
				step = math.Min(step, theta[j]/(theta[j]-z[j]))
			}
		}
		for j, f := range free {
			if !f {
				continue
			}
			theta[j] += step * (z[j] - theta[j])
			if step < 1 && theta[j] <= 1e-15 {
				theta[j], free[j] = 0, false
			}
		}
		if step == 1 {
			return true
		}
	}
}

// solveFree is plain least squares over the free columns.
func solveFree(a *mat.Dense, b *mat.VecDense, free []bool) ([]float64, bool) {
	m, n := a.Dims()
	var columns []int
	for j, f := range free {
		if f {
			columns = append(columns, j)
		}
	}
	z := make([]float64, n)
	if len(columns) == 0 {
		return z, true
	}
	if len(columns) > m {
		return nil, false
	}
	sub := mat.NewDense(m, len(columns), nil)
	for k, j := range columns {
		sub.SetCol(k, mat.Col(nil, j, a))
	}
	var qr mat.QR
	qr.Factorize(sub)
	var x mat.VecDense
	if err := qr.SolveVecTo(&x, false, b); err != nil {
		return nil, false // columns that depend on each other
	}
	for k, j := range columns {
		z[j] = x.AtVec(k)
	}
	return z, true
}
