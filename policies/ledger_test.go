package policies

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestLedgerAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, want := newLedger(), map[int64]int32{}
		next := int64(0)
		for range rapid.IntRange(1, 300).Draw(t, "events") {
			if len(want) == 0 || rapid.IntRange(0, 4).Draw(t, "event") < 3 {
				next += int64(rapid.SampledFrom([]int{1, 1, 1, 2, 64, 1 << 20}).Draw(t, "stride"))
				want[next] = int32(next%1000) + 1
				l.put(next, want[next])
				continue
			}
			open := slices.Sorted(maps.Keys(want))
			id := rapid.SampledFrom(open).Draw(t, "ended")
			if got := l.take(id); got != want[id] {
				t.Fatalf("request %d: %d tokens, want %d", id, got, want[id])
			}
			delete(want, id)
			if got := l.take(id); got != 0 {
				t.Fatalf("request %d taken twice: %d tokens", id, got)
			}
		}
		for id, tokens := range want {
			if got := l.take(id); got != tokens {
				t.Fatalf("request %d: %d tokens, want %d", id, got, tokens)
			}
		}
		if l.open != 0 {
			t.Fatalf("%d requests left", l.open)
		}
	})
}

// TestLedgerMemory: a request that never ends does not hold the memory of the
// two million that come and go after it, at most 96 at once.
func TestLedgerMemory(t *testing.T) {
	l := newLedger()
	l.put(0, 7)
	for i := int64(1); i <= 2_000_000; i++ {
		l.put(i, int32(i%1000)+1)
		if i%32 != 0 || i < 96 {
			continue
		}
		for j := i - 64; j > i-96; j-- { // the oldest 32, the last of them first
			if got := l.take(j); got != int32(j%1000)+1 {
				t.Fatalf("request %d: %d tokens", j, got)
			}
		}
	}
	if len(l.slots) > 256 || l.take(0) != 7 {
		t.Errorf("%d slots", len(l.slots))
	}
}
