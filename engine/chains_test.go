package engine

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The table agrees with a map, also when keys share their low bits and so fall
// into few long runs of the table, around its end too.
func TestChainTableAgreesWithMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.SampledFrom([]uint64{1, 2, 8, 1 << 16}).Draw(t, "different low bits")
		base := rapid.SampledFrom([]uint64{0, 62, 126}).Draw(t, "lowest home")
		key := rapid.Custom(func(t *rapid.T) uint64 {
			// The table has at most 2^10 places here, so the high part never tells keys apart.
			return max(1, rapid.Uint64Range(0, 300).Draw(t, "high")<<10+base+rapid.Uint64Range(0, low-1).Draw(t, "low"))
		})
		table, want := newChainTable(), map[uint64]int32{}
		for range rapid.IntRange(1, 300).Draw(t, "changes") {
			k := key.Draw(t, "key")
			_, there := want[k]
			switch {
			case there:
				table.remove(k)
				delete(want, k)
			default:
				n := int32(rapid.IntRange(1, 1<<30).Draw(t, "node"))
				table.insert(k, n)
				want[k] = n
			}
			if table.find(k) != want[k] {
				t.Fatalf("chain %#x is node %d, should be %d", k, table.find(k), want[k])
			}
			if other := key.Draw(t, "other key"); table.find(other) != want[other] {
				t.Fatalf("chain %#x is node %d, should be %d", other, table.find(other), want[other])
			}
		}
		if table.count != len(want) {
			t.Fatalf("%d chains counted, there are %d", table.count, len(want))
		}
		for _, k := range slices.Sorted(maps.Keys(want)) {
			if table.find(k) != want[k] {
				t.Fatalf("chain %#x is node %d, should be %d", k, table.find(k), want[k])
			}
		}
	})
}
