package policies

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"cacheroute/workload"
)

// plainHistory is the LRU of blocks as one would write it down: a stamp for the
// name of each block, which spells out all tokens up to its end.
type plainHistory struct {
	blockTokens, maxBlocks int32
	capacity               int
	clock                  int
	stamp                  []map[string]int // by destination
}

func (h *plainHistory) names(r *workload.Request) (names []string) {
	blocks := min(r.PromptTokens/h.blockTokens, h.maxBlocks)
	for end := h.blockTokens; int32(len(names)) < blocks; end += h.blockTokens {
		name, at := "", int32(0)
		for _, s := range r.Prompt {
			if n := min(s.Tokens, end-at); n > 0 {
				id := fmt.Sprint(s.ID)
				if s.ID == 0 {
					id = fmt.Sprintf("only in %d", r.Index)
				}
				name += fmt.Sprintf("%s:%d ", id, n)
			}
			at += s.Tokens
		}
		names = append(names, name)
	}
	return names
}

func (h *plainHistory) share(r *workload.Request, d int) float64 {
	names := h.names(r)
	for i, name := range names {
		if h.stamp[d][name] == 0 {
			return float64(i) / float64(len(names))
		}
	}
	return float64(min(1, len(names)))
}

func (h *plainHistory) sent(r *workload.Request, d int) {
	names := h.names(r)
	for i := len(names) - 1; i >= 0; i-- {
		h.clock++
		h.stamp[d][names[i]] = h.clock
	}
	for len(h.stamp[d]) > h.capacity {
		oldest := ""
		for name, at := range h.stamp[d] {
			if oldest == "" || at < h.stamp[d][oldest] {
				oldest = name
			}
		}
		delete(h.stamp[d], oldest)
	}
}

// TestHistoryAgreesWithBlockByBlock compares stretches with single blocks on
// prompts that share segments, in whole and in part, and lack whole blocks.
func TestHistoryAgreesWithBlockByBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const destinations = 2
		block := rapid.Int32Range(1, 5).Draw(t, "block tokens")
		most := rapid.Int32Range(1, 20).Draw(t, "max blocks")
		capacity := rapid.IntRange(1, 40).Draw(t, "capacity")
		fast := newHistory(destinations, block, most, int64(capacity))
		plain := &plainHistory{blockTokens: block, maxBlocks: most, capacity: capacity, stamp: []map[string]int{{}, {}}}
		share := make([]float64, destinations)
		for i := range rapid.IntRange(1, 60).Draw(t, "requests") {
			r := &workload.Request{Index: int64(i)}
			for range rapid.IntRange(1, 4).Draw(t, "segments") {
				id := rapid.Uint64Range(0, 3).Draw(t, "id")
				r.Append(id, workload.Context, rapid.SampledFrom([]int32{1, 3, 8, 8, 8, 17}).Draw(t, "tokens"))
			}
			fast.score(r, nil, share)
			for d, got := range share {
				if want := plain.share(r, d); got != want {
					t.Fatalf("request %d: share %v on %d, block by block %v", i, got, d, want)
				}
				if fast.used[d] != int64(len(plain.stamp[d])) {
					t.Fatalf("request %d: %d blocks remembered on %d, block by block %d", i, fast.used[d], d, len(plain.stamp[d]))
				}
			}
			d := rapid.IntRange(0, destinations-1).Draw(t, "destination")
			fast.sent(r, d)
			plain.sent(r, d)
		}
	})
}
