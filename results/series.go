package results

import (
	"math"
	"math/bits"
	"slices"

	"cacheroute/sim/clock"
)

// series is a growing list of spans of which exact order statistics are asked
// at the end. It grows by chunks, so that it never holds a copy of itself, and
// it is never sorted or moved.
type series struct {
	full     [][]clock.Time
	last     []clock.Time
	min, max clock.Time
}

// chunkLen is the growth of a series beyond what was expected (256 KiB).
const chunkLen = 1 << 15

func newSeries(expect int) series {
	return series{last: make([]clock.Time, 0, max(expect, 1)), min: math.MaxInt64, max: math.MinInt64}
}

func (s *series) add(v clock.Time) {
	if len(s.last) == cap(s.last) {
		s.grow()
	}
	s.last = append(s.last, v)
	s.min = min(s.min, v)
	s.max = max(s.max, v)
}

func (s *series) grow() {
	s.full = append(s.full, s.last)
	s.last = make([]clock.Time, 0, chunkLen)
}

func (s *series) len() int {
	n := len(s.last)
	for _, c := range s.full {
		n += len(c)
	}
	return n
}

// each calls f with every chunk in turn.
func (s *series) each(f func([]clock.Time)) {
	for _, c := range s.full {
		f(c)
	}
	f(s.last)
}

// mean is the exact mean in seconds: the sum is kept in 128 bits and does not
// depend on the order of the values, which must not be negative.
func (s *series) mean() Float {
	var hi, lo uint64
	s.each(func(chunk []clock.Time) {
		for _, v := range chunk {
			var carry uint64
			lo, carry = bits.Add64(lo, uint64(v), 0)
			hi += carry
		}
	})
	sum := math.Ldexp(float64(hi), 64) + float64(lo)
	return Float(sum / float64(s.len()) / float64(clock.Second))
}

// quantile is the nearest-rank quantile, in seconds, of n values of which the
// series holds the finite ones and the rest are infinite: the smallest value
// that at least percent of the n do not exceed. It is undefined for n = 0.
func (s *series) quantile(percent, n int) Float {
	if n == 0 {
		return undefined
	}
	rank := (percent*n + 99) / 100 // integers: no rounding at the edge
	if rank > s.len() {
		return infinite
	}
	return Float(s.kth(rank).Seconds())
}

const (
	kthBuckets = 2048 // of one pass
	kthSort    = 128  // values left that are sorted rather than split further
)

// kth returns the k-th smallest value, 1 <= k <= len. Each pass counts the
// values of the interval that holds it in equal buckets and keeps one of
// these: O(n), at most six passes, no dependence on the order of the values.
func (s *series) kth(k int) clock.Time {
	lo, width := s.min, uint64(s.max-s.min) // the interval is [lo, lo+width]
	for {
		shift := max(0, bits.Len64(width)-bits.Len64(kthBuckets-1))
		var counts [kthBuckets]int
		s.each(func(chunk []clock.Time) {
			for _, v := range chunk {
				if d := uint64(v - lo); d <= width {
					counts[d>>shift&(kthBuckets-1)]++
				}
			}
		})
		b := 0
		for ; k > counts[b]; b++ {
			k -= counts[b]
		}
		lo += clock.Time(uint64(b) << shift)
		if shift == 0 {
			return lo
		}
		width = 1<<shift - 1
		if counts[b] <= kthSort {
			return s.kthOf(k, lo, width)
		}
	}
}

// kthOf returns the k-th smallest of the few values in [lo, lo+width].
func (s *series) kthOf(k int, lo clock.Time, width uint64) clock.Time {
	few := make([]clock.Time, 0, kthSort)
	s.each(func(chunk []clock.Time) {
		for _, v := range chunk {
			if uint64(v-lo) <= width {
				few = append(few, v)
			}
		}
	})
	slices.Sort(few)
	return few[k-1]
}
