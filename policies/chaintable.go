package policies

import "math/bits"

// chainTable maps a destination and a chain to a stretch. It is a hash table
// with open addressing that allocates only to grow.
type chainTable struct {
	slots []chainSlot // a power of two of them, at most half in use
	shift uint8       // 64 - log2(len(slots))
	used  int
}

type chainSlot struct {
	chain uint64
	d     int32
	at    int32 // 0: free
}

func newChainTable(n int) chainTable {
	return chainTable{slots: make([]chainSlot, n), shift: uint8(64 - bits.TrailingZeros(uint(n)))}
}

// home mixes the destination into the chain, which is a hash already.
func (t *chainTable) home(d int32, chain uint64) int {
	return int((chain ^ uint64(d)*0x9e3779b97f4a7c15) * 0xd6e8feb86659fd93 >> t.shift)
}

// slot is where an entry is, or where it would be.
func (t *chainTable) slot(d int32, chain uint64) *chainSlot {
	for i := t.home(d, chain); ; i = (i + 1) & (len(t.slots) - 1) {
		if s := &t.slots[i]; s.at == 0 || s.chain == chain && s.d == d {
			return s
		}
	}
}

// find returns the entry, 0 if there is none.
func (t *chainTable) find(d int, chain uint64) int32 { return t.slot(int32(d), chain).at }

func (t *chainTable) set(d int, chain uint64, at int32) {
	s := t.slot(int32(d), chain)
	if s.at != 0 {
		s.at = at
		return
	}
	if 2*t.used >= len(t.slots) {
		old := t.slots
		*t = newChainTable(2 * len(old))
		for _, o := range old {
			if o.at != 0 {
				*t.slot(o.d, o.chain) = o
				t.used++
			}
		}
		s = t.slot(int32(d), chain)
	}
	*s = chainSlot{chain, int32(d), at}
	t.used++
}

// remove deletes an entry that is there and moves up each later one of its run
// that may stand in the gap, that is, whose home is not after it.
func (t *chainTable) remove(d int, chain uint64) {
	mask := len(t.slots) - 1
	gap := t.home(int32(d), chain)
	for s := &t.slots[gap]; s.chain != chain || s.d != int32(d); s = &t.slots[gap] {
		gap = (gap + 1) & mask
	}
	for next := (gap + 1) & mask; t.slots[next].at != 0; next = (next + 1) & mask {
		if home := t.home(t.slots[next].d, t.slots[next].chain); (next-home)&mask >= (next-gap)&mask {
			t.slots[gap], gap = t.slots[next], next
		}
	}
	t.slots[gap] = chainSlot{}
	t.used--
}
