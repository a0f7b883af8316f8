package trace

import "math"

// tally counts how often each hash occurs in bounded memory: when there are too
// many different ones it keeps a half of them, chosen by their own bits, so that
// those kept are counted fully and stand for the others.
type tally struct {
	most   int
	halved uint // times that a half was dropped
	counts map[uint64]uint32
}

func newTally(most int) *tally { return &tally{most: most, counts: map[uint64]uint32{}} }

// add counts a hash, unless it is among those dropped, and returns how often it
// has occurred, this time included.
func (t *tally) add(hash uint64) (n uint32, kept bool) {
	if !t.keeps(hash) {
		return 0, false
	}
	n = t.counts[hash]
	if n < math.MaxUint32 {
		n++
	}
	t.counts[hash] = n
	if len(t.counts) > t.most {
		t.halve()
	}
	return n, true
}

func (t *tally) keeps(hash uint64) bool { return hash>>(64-t.halved) == 0 }

func (t *tally) halve() {
	t.halved++
	for hash := range t.counts {
		if !t.keeps(hash) {
			delete(t.counts, hash)
		}
	}
}

// different is how many hashes have occurred, an estimate once some are dropped.
func (t *tally) different() int64 { return int64(len(t.counts)) << t.halved }

// shares are the counts of the hashes kept.
func (t *tally) shares() []float64 {
	all := make([]float64, 0, len(t.counts))
	for _, n := range t.counts {
		all = append(all, float64(n))
	}
	return all
}

// lengths counts token lengths exactly up to longLength, for quantiles.
type lengths struct {
	counts []int64
	n      int64
	sum    float64
	most   int32
}

const longLength = 1 << 21 // longer ones count as this long in quantiles

func (l *lengths) add(tokens int32) {
	i := int(min(tokens, longLength))
	if i >= len(l.counts) {
		l.counts = append(l.counts, make([]int64, max(i+1, min(2*i, longLength+1))-len(l.counts))...)
	}
	l.counts[i]++
	l.n++
	l.sum += float64(tokens)
	l.most = max(l.most, tokens)
}

// quantile is by nearest rank.
func (l *lengths) quantile(q float64) int32 {
	rank := max(1, int64(math.Ceil(q*float64(l.n))))
	for i, n := range l.counts {
		if rank -= n; rank <= 0 {
			return int32(i)
		}
	}
	return l.most
}
