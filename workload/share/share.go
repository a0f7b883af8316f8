// Package share measures how unequally something is shared out.
package share

import (
	"math"
	"slices"
)

// Gini is the Gini coefficient of non-negative shares (or rates or counts):
// 0 when all are equal, near 1 when one has all. NaN when they sum to 0.
func Gini(share []float64) float64 {
	s := slices.Clone(share)
	slices.Sort(s)
	var sum, weighted float64
	n := float64(len(s))
	for i, x := range s {
		sum += x
		weighted += float64((2*float64(i+1) - n - 1) * x)
	}
	return max(0, weighted/(n*sum)) // equal shares may come out a rounding below 0
}

// Top is the part of the sum that the largest shares hold: as many as
// fraction of their number, at least one. NaN when they sum to 0.
func Top(share []float64, fraction float64) float64 {
	s := slices.Clone(share)
	slices.Sort(s)
	top := max(1, int(math.Round(fraction*float64(len(s)))))
	var sum, held float64
	for i, x := range s {
		sum += x
		if i >= len(s)-top {
			held += x
		}
	}
	return held / sum
}
