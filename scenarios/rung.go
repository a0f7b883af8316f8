package scenarios

import "math"

// Rung is the place of a capacity on a ladder of rising loads: 0 for none, 1
// for the lowest load, between two of them in proportion, as the mean of some
// seeds can be, and beyond the last in units of that.
func Rung(qps float64, ladder []float64) float64 {
	below := 0.0
	for i, load := range ladder {
		if qps <= load {
			return float64(i) + (qps-below)/(load-below)
		}
		below = load
	}
	return float64(len(ladder)) + (qps-below)/below
}

// AtRung is the load at a place from 0 to the top of the ladder, outside of
// which it is that of the nearest end.
func AtRung(rung float64, ladder []float64) float64 {
	rung = min(max(rung, 0), float64(len(ladder)))
	i := min(int(math.Floor(rung)), len(ladder)-1)
	below := 0.0
	if i > 0 {
		below = ladder[i-1]
	}
	return below + (ladder[i]-below)*(rung-float64(i))
}
