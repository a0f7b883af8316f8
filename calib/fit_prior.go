package calib

import (
	"math"
	"slices"
)

// Closed-loop means tell some coefficients badly: attention from prefill when
// prompts are of like length, cached context from sequences when requests are.
// Where the rows are silent, weak priors from the shapes of dense transformers
// speak: one equation each, which counts as much as one row does at a deviation
// of one spread. They hold between 8B and 405B, bf16 and fp8.
//
//   - attention costs 4*layers*heads*head_dim FLOP for a prompt token and a token
//     of its context, the layers 2*parameters FLOP for a prompt token: a ratio of
//     2e-5 to 4e-5;
//   - cached context is read at the rate of the weights: 2*layers*kv_heads*head_dim*bytes
//     over bytes of all weights is 1e-6 to 8e-6 of the base of a step;
//   - a decoding sequence costs its sampling and bookkeeping: 0 to 0.08 ms in
//     linear fits of vLLM on H100, whatever the model;
//   - 100 to 160 tokens of a step are free in bf16 on H100, 0 to 40 in fp8.
type prior struct {
	coefficient, of int     // by place among the parameters; of -1: 1
	ratio, spread   float64 // of the one over the other
}

var priors = []prior{
	{coefficient: 4, of: 3, ratio: 3e-5, spread: 3e-5},
	{coefficient: 2, of: 0, ratio: 5e-6, spread: 5e-6},
	{coefficient: 1, of: -1, ratio: 0.04, spread: 0.03},
	{coefficient: freeTokens, of: -1, ratio: 80, spread: 80},
}

// hasPrior tells whether a prior speaks for a coefficient.
func hasPrior(j int) bool {
	return slices.ContainsFunc(priors, func(b prior) bool { return b.coefficient == j })
}

// believe adds the priors to a problem; p sets their scale. The closer the rows
// fit, the less the priors count.
func (f *fitter) believe(q problem, p params) problem {
	sigma := math.Max(f.bound/huber, scaleFloor)
	for _, b := range priors {
		ratio, spread := b.ratio, b.spread
		if b.coefficient == 4 {
			ratio, spread = ratio*f.form.attention, spread*f.form.attention
		}
		row, y := make([]float64, len(q.x[0])), 0.0
		switch {
		case !f.told(b.coefficient), b.coefficient == freeTokens && !f.form.free:
			continue
		case b.of < 0:
			y = ratio * sigma / spread
		case p[b.of] > 0 && f.told(b.of):
			spread *= p[b.of]
			row[b.of] = -ratio * sigma / spread
		default:
			continue
		}
		row[b.coefficient] = sigma / spread
		q.x, q.y = append(q.x, row), append(q.y, y)
	}
	return q
}

// disbelief is what the priors add to the loss at p.
func (f *fitter) disbelief(p params) float64 {
	q := f.believe(problem{x: [][]float64{make([]float64, len(p))}, y: []float64{0}}, p)
	r := q.residuals(p)
	sum := 0.0
	for _, v := range r {
		sum += v * v / 2
	}
	return math.Min(sum, math.MaxFloat64)
}
