package workload

import (
	"fmt"
	"math"
	"math/bits"
)

// tree holds the recorded blocks of a trace, a node for each that no earlier
// prompt had, from 1 on; 0 is the root. It grows without moving what it holds,
// as a trace can have more nodes than fit in memory twice.
type tree struct {
	chunks [][]traceNode // of chunkNodes each
	n      int           // nodes, the root included; above maxNodes it is of no use
	slots  []uint32      // nodes by hash, at or behind the slot of it; 0: none. A power of two
}

// traceNode is a recorded block together with all blocks before it.
type traceNode struct {
	hash   uint64 // of the ids and lengths up to here
	end    int32  // tokens up to the end of the block
	depth  uint32 // blocks up to here
	parent uint32 // 0: none
}

const chunkNodes = 1 << 14

// maxNodes keeps the numbers of nodes in 32 bits.
const maxNodes = math.MaxUint32

func newTree() *tree {
	return &tree{chunks: [][]traceNode{make([]traceNode, chunkNodes)}, n: 1, slots: make([]uint32, 2*chunkNodes)}
}

func (t *tree) at(n uint32) *traceNode { return &t.chunks[n/chunkNodes][n%chunkNodes] }

// slot is where a hash is, or would be.
func (t *tree) slot(hash uint64) *uint32 {
	mask := uint64(len(t.slots) - 1)
	for i := hash >> (64 - bits.Len64(mask)); ; i = (i + 1) & mask {
		if s := &t.slots[i]; *s == 0 || t.at(*s).hash == hash {
			return s
		}
	}
}

// node is the block of some tokens after a parent, of the given hash.
func (t *tree) node(hash uint64, parent uint32, tokens int32) uint32 {
	s := t.slot(hash)
	if *s != 0 {
		return *s
	}
	n := uint32(t.n)
	if t.n++; n%chunkNodes == 0 {
		t.chunks = append(t.chunks, make([]traceNode, chunkNodes))
	}
	p := t.at(parent)
	*t.at(n) = traceNode{hash: hash, end: p.end + tokens, depth: p.depth + 1, parent: parent}
	*s = n
	if t.n > len(t.slots)/4*3 {
		t.spread()
	}
	return n
}

// spread doubles the slots.
func (t *tree) spread() {
	t.slots = make([]uint32, 2*len(t.slots))
	for n := uint32(1); int(n) < t.n; n++ {
		*t.slot(t.at(n).hash) = n
	}
}

// idealHit is what an infinite cache of blocks of the given size would serve if
// every request saw all earlier ones: whole blocks that the prompt shares with
// an earlier prompt from its start, without the block of the last token, which
// an engine always computes. It returns cached and all prompt tokens.
func (t *tree) idealHit(rows []traceRow, block int) (cached, prompt int64) {
	if block < 1 {
		panic(fmt.Sprintf("workload: block of %d tokens", block))
	}
	seen := make([]bool, t.n)
	for _, row := range rows {
		n := row.leaf
		for ; n != 0 && !seen[n]; n = t.at(n).parent {
			seen[n] = true
		}
		whole := min(int(t.at(n).end)/block, (int(row.input)-1)/block)
		cached += int64(whole * block)
		prompt += int64(row.input)
	}
	return cached, prompt
}

// heads is the first block of the stream of each: blocks that no row ever tells
// apart from their predecessor, because it has no other successor, continue one
// stream of tokens.
func (t *tree) heads() []uint32 {
	successors := make([]uint8, t.n) // 2: at least
	for n := uint32(1); int(n) < t.n; n++ {
		s := &successors[t.at(n).parent]
		*s = min(2, *s+1)
	}
	head := make([]uint32, t.n)
	for n := uint32(1); int(n) < t.n; n++ {
		head[n] = n
		if p := t.at(n).parent; p != 0 && successors[p] == 1 {
			head[n] = head[p]
		}
	}
	return head
}
