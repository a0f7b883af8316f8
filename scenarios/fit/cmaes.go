package fit

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// cmaes is the covariance matrix adaptation evolution strategy with rank-one
// and rank-mu updates and cumulative step-size control (Hansen, "The CMA
// Evolution Strategy: A Tutorial", arXiv 1604.00772, figure 6). It is ours
// because a search has to stop and go on between two generations, and because
// optimize.CmaEsChol of gonum 0.17 draws its samples without the step size, so
// that it does not converge here.
type cmaes struct {
	n, population int
	weights       []float64 // of the best, falling, sum 1
	muEff         float64
	cSigma, dSigma, cc, c1, cMu,
	chi float64 // expected length of a standard normal vector

	mean         []float64
	sigma        float64
	cov          *mat.SymDense
	basis        mat.Dense // eigenvectors of cov
	axes         []float64 // square roots of its eigenvalues
	pathC, pathS []float64
	generation   int
	rng          *rand.Rand
}

// newCMAES starts at mean with standard deviation sigma along every axis.
func newCMAES(mean []float64, sigma float64, population int, rng *rand.Rand) *cmaes {
	n := len(mean)
	c := &cmaes{
		n: n, population: population, mean: slices.Clone(mean), sigma: sigma, rng: rng,
		cov: mat.NewSymDense(n, nil), pathC: make([]float64, n), pathS: make([]float64, n),
	}
	mu := population / 2
	sum, squares := 0.0, 0.0
	for i := range mu {
		w := math.Log(float64(population+1)/2) - math.Log(float64(i+1))
		c.weights = append(c.weights, w)
		sum += w
	}
	for i := range c.weights {
		c.weights[i] /= sum
		squares += c.weights[i] * c.weights[i]
	}
	c.muEff = 1 / squares
	d := float64(n)
	c.cSigma = (c.muEff + 2) / (d + c.muEff + 5)
	c.dSigma = 1 + 2*max(0, math.Sqrt((c.muEff-1)/(d+1))-1) + c.cSigma
	c.cc = (4 + c.muEff/d) / (d + 4 + 2*c.muEff/d)
	c.c1 = 2 / ((d+1.3)*(d+1.3) + c.muEff)
	c.cMu = min(1-c.c1, 2*(c.muEff-2+1/c.muEff)/((d+2)*(d+2)+c.muEff))
	c.chi = math.Sqrt(d) * (1 - 1/(4*d) + 1/(21*d*d))
	for i := range n {
		c.cov.SetSym(i, i, 1)
	}
	c.decompose()
	return c
}

// ask draws a generation.
func (c *cmaes) ask() [][]float64 {
	points := make([][]float64, c.population)
	z := mat.NewVecDense(c.n, nil)
	var y mat.VecDense
	for k := range points {
		for i := range c.n {
			z.SetVec(i, c.axes[i]*c.rng.NormFloat64())
		}
		y.MulVec(&c.basis, z)
		points[k] = make([]float64, c.n)
		for i := range c.n {
			points[k][i] = c.mean[i] + c.sigma*y.AtVec(i)
		}
	}
	return points
}

// tell moves the distribution towards the best points of the generation.
func (c *cmaes) tell(points [][]float64, losses []float64) {
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(losses[a], losses[b]) })
	c.generation++

	step := mat.NewVecDense(c.n, nil) // of the mean, in units of sigma
	for k, w := range c.weights {
		for i, x := range points[order[k]] {
			step.SetVec(i, step.AtVec(i)+w*(x-c.mean[i])/c.sigma)
		}
	}
	length := c.lengthen(step)
	stalled := 1.0
	if length/math.Sqrt(1-math.Pow(1-c.cSigma, 2*float64(c.generation)))/c.chi >= 1.4+2/float64(c.n+1) {
		stalled = 0
	}
	for i := range c.n {
		c.pathC[i] = (1-c.cc)*c.pathC[i] + stalled*math.Sqrt(c.cc*(2-c.cc)*c.muEff)*step.AtVec(i)
	}
	c.adapt(points, order, stalled)
	for i := range c.n {
		c.mean[i] += c.sigma * step.AtVec(i)
	}
	c.sigma *= math.Exp(c.cSigma / c.dSigma * (length/c.chi - 1))
	c.decompose()
}

// lengthen adds a step to the path of the step size and returns its length.
func (c *cmaes) lengthen(step *mat.VecDense) float64 {
	var inner, whitened mat.VecDense
	inner.MulVec(c.basis.T(), step)
	for i := range c.n {
		inner.SetVec(i, inner.AtVec(i)/c.axes[i])
	}
	whitened.MulVec(&c.basis, &inner)
	length := 0.0
	for i := range c.n {
		c.pathS[i] = (1-c.cSigma)*c.pathS[i] + math.Sqrt(c.cSigma*(2-c.cSigma)*c.muEff)*whitened.AtVec(i)
		length += c.pathS[i] * c.pathS[i]
	}
	return math.Sqrt(length)
}

// adapt updates the covariance before the mean moves.
func (c *cmaes) adapt(points [][]float64, order []int, stalled float64) {
	keep := 1 - c.c1 - c.cMu + (1-stalled)*c.c1*c.cc*(2-c.cc)
	for i := range c.n {
		for j := i; j < c.n; j++ {
			x := keep*c.cov.At(i, j) + c.c1*c.pathC[i]*c.pathC[j]
			for k, w := range c.weights {
				p := points[order[k]]
				x += c.cMu * w * (p[i] - c.mean[i]) * (p[j] - c.mean[j]) / (c.sigma * c.sigma)
			}
			c.cov.SetSym(i, j, x)
		}
	}
}

func (c *cmaes) decompose() {
	var e mat.EigenSym
	if !e.Factorize(c.cov, true) {
		panic("fit: the covariance has no eigenvectors")
	}
	c.axes = e.Values(nil)
	for i, v := range c.axes {
		c.axes[i] = math.Sqrt(max(v, 1e-20))
	}
	e.VectorsTo(&c.basis)
}
