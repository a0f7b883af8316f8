package policies

import "cacheroute/workload"

// history remembers, by destination, the blocks of the prompts that were sent
// there, in an LRU of a number of blocks. A block is named by its place in the
// prompt and everything before its end, that is by its place and the chain of
// the segment that it ends in. Of the blocks of one prompt the first is the most
// recent.
//
// It is kept by stretches of blocks, not block by block. A prompt touches the
// blocks that end in one of its segments from the segment's first block on, so
// the remembered blocks of a chain are contiguous and their recency falls from
// stretch to stretch. A stretch that is touched in part is cut in two.
type history struct {
	blockTokens, maxBlocks int32
	capacity               int64
	used                   []int64    // blocks by destination
	stretches              []stretch  // the first ones are the heads of the destinations' LRU rings
	spare                  int32      // first unused stretch; linked by newer; 0: none
	heads                  chainTable // the first stretch of a chain on a destination
	pieces                 []piece    // of the prompt in hand
}

// stretch is the blocks [from, upto) of a chain on a destination.
type stretch struct {
	chain        uint64 // 0: blocks that no other prompt holds
	from, upto   int32
	newer, older int32 // ring by recency, through the destination's head
	next         int32 // the following blocks of the chain, less recent; 0: none
}

// piece is the blocks of a prompt that end in one segment.
type piece struct {
	chain      uint64
	from, upto int32
}

func newHistory(destinations int, blockTokens, maxBlocks int32, capacity int64) *history {
	h := &history{
		blockTokens: blockTokens, maxBlocks: maxBlocks, capacity: capacity,
		used:      make([]int64, destinations),
		stretches: make([]stretch, destinations),
		heads:     newChainTable(64),
	}
	for d := range h.stretches {
		h.stretches[d].newer, h.stretches[d].older = int32(d), int32(d)
	}
	return h
}

// cut finds the pieces of a prompt and how many blocks of it count.
func (h *history) cut(r *workload.Request) (blocks int32) {
	h.pieces = h.pieces[:0]
	tokens := int32(0)
	for i := range r.Prompt {
		s := &r.Prompt[i]
		tokens += s.Tokens
		upto := min(tokens/h.blockTokens, h.maxBlocks)
		if upto > blocks {
			h.pieces = append(h.pieces, piece{s.Chain, blocks, upto})
			blocks = upto
		}
	}
	return blocks
}

func (h *history) score(r *workload.Request, _ *View, share []float64) {
	blocks := h.cut(r)
	for d := range share {
		share[d] = 0
		if blocks > 0 {
			share[d] = float64(h.match(d)) / float64(blocks)
		}
	}
}

// match is how many leading blocks of the prompt in hand are remembered.
func (h *history) match(d int) (blocks int32) {
	for _, s := range h.pieces {
		at := h.heads.find(d, s.chain)
		if s.chain == 0 || at == 0 {
			break
		}
		for h.stretches[at].next != 0 {
			at = h.stretches[at].next
		}
		blocks = min(h.stretches[at].upto, s.upto)
		if blocks < s.upto {
			break
		}
	}
	return blocks
}

// sent remembers the prompt in hand, the one of the last score.
func (h *history) sent(_ *workload.Request, d int) {
	for i := len(h.pieces) - 1; i >= 0; i-- {
		h.touch(d, h.pieces[i])
	}
	for h.used[d] > h.capacity {
		h.evict(d)
	}
}

// touch makes the blocks of a piece the most recent of destination d.
func (h *history) touch(d int, s piece) {
	rest := int32(0)
	if s.chain != 0 {
		for rest = h.heads.find(d, s.chain); rest != 0 && h.stretches[rest].upto <= s.upto; {
			next := h.stretches[rest].next
			h.drop(d, rest)
			rest = next
		}
	}
	if rest != 0 {
		h.used[d] -= int64(s.upto - h.stretches[rest].from)
		h.stretches[rest].from = s.upto
	}
	at := h.take()
	newest := h.stretches[d].older
	h.stretches[at] = stretch{chain: s.chain, from: s.from, upto: s.upto, newer: int32(d), older: newest, next: rest}
	h.stretches[newest].newer, h.stretches[d].older = at, at
	h.used[d] += int64(s.upto - s.from)
	if s.chain != 0 {
		h.heads.set(d, s.chain, at)
	}
}

// evict forgets the least recent blocks of destination d: of its oldest stretch,
// which is the last one of its chain, as many as there are too many.
func (h *history) evict(d int) {
	at := h.stretches[d].newer
	s := &h.stretches[at]
	if over := h.used[d] - h.capacity; over < int64(s.upto-s.from) {
		s.upto -= int32(over)
		h.used[d] -= over
		return
	}
	if s.chain != 0 {
		before := h.heads.find(d, s.chain)
		if before == at {
			h.heads.remove(d, s.chain)
		} else {
			for h.stretches[before].next != at {
				before = h.stretches[before].next
			}
			h.stretches[before].next = 0
		}
	}
	h.drop(d, at)
}

// drop takes a stretch out of the LRU of destination d.
func (h *history) drop(d int, at int32) {
	s := &h.stretches[at]
	h.used[d] -= int64(s.upto - s.from)
	h.stretches[s.newer].older, h.stretches[s.older].newer = s.older, s.newer
	s.newer, h.spare = h.spare, at
}

// take returns an unused stretch.
func (h *history) take() int32 {
	if at := h.spare; at != 0 {
		h.spare = h.stretches[at].newer
		return at
	}
	h.stretches = append(h.stretches, stretch{})
	return int32(len(h.stretches) - 1)
}
