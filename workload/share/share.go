// Package share measures how unequally something is shared out.
package share

import (
	"cmp"
	"math"
	"slices"
)

// Part is a number of equal shares.
type Part struct {
	Share  float64 // >= 0
	Number float64 // of such shares; a part may stand for others that were not counted
}

// Gini is the Gini coefficient of non-negative shares (or rates or counts):
// 0 when all are equal, near 1 when one has all. NaN when they sum to 0.
func Gini(shares []float64) float64 { return GiniOf(each(shares)) }

// Top is the part of the sum that the largest shares hold: as many as fraction
// of their number, at least one. NaN when they sum to 0.
func Top(shares []float64, fraction float64) float64 { return TopOf(each(shares), fraction) }

func each(shares []float64) []Part {
	parts := make([]Part, len(shares))
	for i, x := range shares {
		parts[i] = Part{x, 1}
	}
	return parts
}

// GiniOf is Gini of parts, which it sorts.
func GiniOf(parts []Part) float64 {
	slices.SortFunc(parts, func(a, b Part) int { return cmp.Compare(a.Share, b.Share) })
	var number, before, sum, weighted float64
	for _, p := range parts {
		number += p.Number
	}
	for _, p := range parts {
		sum += float64(p.Number * p.Share)
		weighted += float64((2*before + p.Number - number) * p.Number * p.Share)
		before += p.Number
	}
	return max(0, weighted/(number*sum)) // equal shares may come out a rounding below 0
}

// TopOf is Top of parts, which it sorts.
func TopOf(parts []Part, fraction float64) float64 {
	slices.SortFunc(parts, func(a, b Part) int { return cmp.Compare(b.Share, a.Share) })
	var number, sum, held float64
	for _, p := range parts {
		number += p.Number
		sum += float64(p.Number * p.Share)
	}
	top := max(1, math.Round(fraction*number))
	for _, p := range parts {
		n := min(p.Number, top)
		if n <= 0 {
			break
		}
		held += float64(n * p.Share)
		top -= n
	}
	return held / sum
}
