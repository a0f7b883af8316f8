package results

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is a mean over seeds with its two-sided 95 % Student-t interval: a
// run is the unit of replication, not a request (paper, App. B.2). One value
// has no interval: Lo and Hi are undefined. A mean with an infinite value is
// infinite, with an undefined one undefined, and has no interval either.
type Interval struct {
	Mean Float `json:"mean"`
	Lo   Float `json:"lo"`
	Hi   Float `json:"hi"`
}

// NewInterval returns mean and interval of the values.
func NewInterval(values []float64) Interval {
	n := float64(len(values))
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	mean := sum / n
	if len(values) < 2 || !Float(mean).Finite() {
		return Interval{Float(mean), undefined, undefined}
	}
	square := 0.0
	for _, v := range values {
		d := v - mean
		square += float64(d * d)
	}
	half := studentT(len(values)) * math.Sqrt(square/(n-1)/n)
	return Interval{Float(mean), Float(mean - half), Float(mean + half)}
}

// HalfWidth is the ± of the interval, undefined where there is none.
func (i Interval) HalfWidth() Float { return i.Hi - i.Mean }

// studentT is the 97.5 % quantile of Student's t for n values.
func studentT(n int) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(0.975)
}
