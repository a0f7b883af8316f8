package policies

import "math/bits"

// ledger remembers a number of tokens for each open request by its index. It
// is a hash table with open addressing: its memory follows the largest number
// of requests open at once, however long one of them stays and in whatever
// order they end, and it allocates only to grow.
type ledger struct {
	slots []ledgerSlot // a power of two of them, at most half in use
	shift uint8        // 64 - log2(len(slots))
	open  int
}

type ledgerSlot struct {
	id     int64 // index of the request + 1; 0: free
	tokens int32
}

func newLedger() ledger { return sizedLedger(64) }

func sizedLedger(n int) ledger {
	return ledger{slots: make([]ledgerSlot, n), shift: uint8(64 - bits.TrailingZeros(uint(n)))}
}

// home is Fibonacci hashing: it spreads consecutive indices evenly.
func (l *ledger) home(id int64) int { return int(uint64(id) * 0x9e3779b97f4a7c15 >> l.shift) }

// put notes tokens for a request that has no note yet.
func (l *ledger) put(index int64, tokens int32) {
	if 2*l.open >= len(l.slots) {
		old := l.slots
		*l = sizedLedger(2 * len(old))
		for _, s := range old {
			if s.id != 0 {
				l.insert(s)
			}
		}
	}
	l.insert(ledgerSlot{id: index + 1, tokens: tokens})
}

func (l *ledger) insert(s ledgerSlot) {
	at := l.home(s.id)
	for l.slots[at].id != 0 {
		at = (at + 1) & (len(l.slots) - 1)
	}
	l.slots[at] = s
	l.open++
}

// take removes the note of a request and returns it, 0 if there is none.
func (l *ledger) take(index int64) int32 {
	mask := len(l.slots) - 1
	at := l.home(index + 1)
	for l.slots[at].id != index+1 {
		if l.slots[at].id == 0 {
			return 0
		}
		at = (at + 1) & mask
	}
	tokens := l.slots[at].tokens
	l.open--
	// Close the gap: move up each later note of the run that may stand here,
	// that is, whose home is not between the gap and itself.
	for next := (at + 1) & mask; l.slots[next].id != 0; next = (next + 1) & mask {
		if home := l.home(l.slots[next].id); (next-home)&mask >= (next-at)&mask {
			l.slots[at] = l.slots[next]
			at = next
		}
	}
	l.slots[at] = ledgerSlot{}
	return tokens
}
