package workload

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// alias draws an index in proportion to fixed weights in constant time, one
// random word a draw (Walker 1977; set-up by Vose 1991).
type alias []aliasCell

type aliasCell struct {
	keep  uint64 // below: the cell's own index, else other
	other uint32
}

// newAlias builds the table for weights that are >= 0 with a positive sum.
func newAlias(weight []float64) alias {
	n := len(weight)
	var sum float64
	for _, w := range weight {
		sum += w
	}
	scaled := make([]float64, n)
	small, large := make([]uint32, 0, n), make([]uint32, 0, n)
	for i, w := range weight {
		scaled[i] = w / sum * float64(n)
		if scaled[i] < 1 {
			small = append(small, uint32(i))
		} else {
			large = append(large, uint32(i))
		}
	}
	t := make(alias, n)
	for i := range t {
		t[i] = aliasCell{keep: math.MaxUint64, other: uint32(i)}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		t[s] = aliasCell{keep: uint64(scaled[s] * (1 << 63) * 2), other: l}
		scaled[l] -= 1 - scaled[s]
		if scaled[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	return t
}

// draw uses the high part of one product as the cell and the low part as the
// fraction within it.
func (t alias) draw(rng *rand.Rand) int {
	i, fraction := bits.Mul64(rng.Uint64(), uint64(len(t)))
	c := &t[i]
	if fraction < c.keep {
		return int(i)
	}
	return int(c.other)
}
