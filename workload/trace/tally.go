package trace

import (
	"math"

	"cacheroute/workload/share"
)

// tally counts how often each hash occurs in bounded memory: when there are too
// many different ones it keeps a half of them, chosen by their own bits, so that
// those kept are counted fully and stand for the others. The frequent ones among
// all that occurred before the first are dropped are kept in any case and stand
// for themselves, as they have few like them.
type tally struct {
	most   int
	halved uint // times that a half was dropped
	counts map[uint64]uint32
	total  int64             // added
	heavy  map[uint64]uint32 // not in counts
}

// heavyShare is the share of all that makes a hash frequent: there are at most
// as many as fit into 1.
const heavyShare = 1e-4

func newTally(most int) *tally { return &tally{most: most, counts: map[uint64]uint32{}} }

// add counts a hash and returns how often it has occurred, this time included,
// and for how many hashes it stands; 0: it is among those dropped.
func (t *tally) add(hash uint64) (n uint32, stands float64) {
	t.total++
	if n, ok := t.heavy[hash]; ok {
		t.heavy[hash] = more(n)
		return more(n), 1
	}
	if !t.keeps(hash) {
		return 0, 0
	}
	n, stands = more(t.counts[hash]), float64(uint64(1)<<t.halved)
	t.counts[hash] = n
	if len(t.counts) > t.most {
		t.halve()
	}
	return n, stands
}

// more is the next number, up to the largest.
func more(n uint32) uint32 {
	if n == math.MaxUint32 {
		return n
	}
	return n + 1
}

func (t *tally) keeps(hash uint64) bool { return hash>>(64-t.halved) == 0 }

func (t *tally) halve() {
	if t.halved == 0 {
		t.heavy = map[uint64]uint32{}
		for hash, n := range t.counts {
			if float64(n) > max(2, heavyShare*float64(t.total)) {
				t.heavy[hash] = n
				delete(t.counts, hash)
			}
		}
	}
	t.halved++
	for hash := range t.counts {
		if !t.keeps(hash) {
			delete(t.counts, hash)
		}
	}
}

// different is how many hashes have occurred, an estimate once some are dropped.
func (t *tally) different() int64 { return int64(len(t.counts))<<t.halved + int64(len(t.heavy)) }

// parts are the counts of the hashes kept.
func (t *tally) parts() []share.Part {
	all := make([]share.Part, 0, len(t.counts)+len(t.heavy))
	for _, n := range t.counts {
		all = append(all, share.Part{Share: float64(n), Number: float64(uint64(1) << t.halved)})
	}
	for _, n := range t.heavy {
		all = append(all, share.Part{Share: float64(n), Number: 1})
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
