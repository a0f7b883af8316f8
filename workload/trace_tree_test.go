package workload

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A tree finds what a map does, while it grows over its chunks and slots, for
// hashes that fall together too.
func TestTreeFindsItsNodes(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	blocks, numbers := newTree(), map[uint64]uint32{}
	var hashes []uint64
	for i := range 5 * chunkNodes {
		hash := rng.Uint64()
		switch {
		case i%4 == 0 && i > 0:
			hash = hashes[rng.IntN(len(hashes))]
		case i%64 == 1:
			hash = uint64(i / 64) // all at the first slot, 0 among them
		}
		parent := uint32(rng.IntN(blocks.n))
		n := blocks.node(hash, parent, 3)
		if want, ok := numbers[hash]; ok && n != want || !ok && int(n) != len(numbers)+1 {
			t.Fatalf("hash %x: node %d, wanted %d (%t)", hash, n, want, ok)
		} else if !ok {
			numbers[hash] = n
			hashes = append(hashes, hash)
			if p := blocks.at(parent); *blocks.at(n) != (traceNode{hash: hash, end: p.end + 3, depth: p.depth + 1, parent: parent}) {
				t.Fatalf("hash %x: %+v", hash, blocks.at(n))
			}
		}
	}
	if blocks.n != len(numbers)+1 || len(blocks.chunks) < 3 || len(blocks.slots) <= 2*chunkNodes {
		t.Errorf("%d nodes in %d chunks and %d slots", blocks.n, len(blocks.chunks), len(blocks.slots))
	}
}
