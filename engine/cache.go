package engine

import "cacheroute/workload"

// cache is the paged KV cache of a destination: reference counts, prefix
// identity and one free list in the order in which blocks were freed, whose
// head is evicted first. It keeps extents where the plain cache (package
// oracle) keeps single blocks, and behaves block for block like it.
//
// A node is the resident blocks of one segment under one parent: those whose
// last token lies in the segment. Block identity is (chain, index in the
// segment), as a chain names all tokens before the segment. Three facts make
// runs enough:
//   - a sequence holds a prefix of its prompt's blocks, so the holders of a
//     node hold nested prefixes of it, and the number of holders falls with depth;
//   - a deeper block is therefore freed earlier, is nearer to the head of the
//     free list and is evicted earlier: what is resident is a prefix of the node;
//   - at most one copy of an identity is findable. A sequence that computes a
//     block of which a copy is resident keeps its own copy and everything
//     behind it private (see publish).
//
// Blocks that nobody can find (partial, private, never used) are told apart by
// nothing and are counted only.
type cache struct {
	blockTokens int32
	free        int64 // blocks in the free list
	evicted     int64 // blocks whose content was dropped

	table   chainTable
	nodes   []node // index 0 is no node
	spare   []int32
	crowds  []crowd  // index 0 is no crowd
	idle    []int32  // crowds that no node uses
	extents []extent // index 0 is the sentinel of the free list
	unused  int32    // first unused extent, linked by next
}

// node is the resident blocks of a segment, [0, resident). Two fit a cache
// line and none holds a pointer: with a thousand destinations the time of a run
// is the time of its cache misses.
type node struct {
	chain    uint64
	resident int32
	// Holders by how many leading blocks they hold: the longest in top, the
	// others, rare, in a crowd.
	top   holders
	crowd int32
	// shallow is the free extent nearest to the segment's start, 0 if none.
	// The free extents of a node tile [top.length, resident).
	shallow int32
}

type holders struct{ length, count int32 }

// crowd is the holders of a node that hold less than its longest, by rising
// length.
type crowd []holders

// extent is a run of blocks in the free list: blocks [lo, hi) of a node, of
// which hi-1 is evicted first; or, of node 0, hi blocks without an identity.
type extent struct {
	prev, next int32 // free list
	node       int32
	lo, hi     int32
	// The neighbours among the free extents of the node. A deeper extent lies
	// nearer to the head of the free list.
	shallower, deeper int32
	_                 int32 // to 32 bytes
}

// footprint is the blocks of a sequence: the first published ones are held in
// nodes and findable, the rest is private.
type footprint struct {
	blocks    int32
	published int32
	private   bool   // has computed a copy of a findable block: publishes no more
	segment   int32  // segment in which the next block ends
	begin     int32  // tokens before that segment
	holds     []hold // nodes held, in prompt order
}

type hold struct{ node, length int32 }

func newCache(blockTokens, blocks int) cache {
	c := cache{
		blockTokens: int32(blockTokens), table: newChainTable(),
		nodes: make([]node, 1, 64), crowds: make([]crowd, 1), extents: make([]extent, 1, 64),
	}
	c.freeAnonymous(int32(blocks))
	return c
}

// match walks a token sequence of at most limit blocks: prompt, then output of
// which tokens are known. It returns how many leading blocks are resident and
// how many of those are in the free list. It changes nothing.
func (c *cache) match(j *Job, limit int32) (hit, inFree int32) {
	begin := int32(0)
	for i := int32(0); hit < limit; i++ {
		s, chain := j.part(i)
		if chain == 0 {
			break
		}
		first, last := begin/c.blockTokens, (begin+s.Tokens)/c.blockTokens
		begin += s.Tokens
		if first == last {
			continue
		}
		n := c.table.find(chain)
		if n == 0 {
			break
		}
		nd := &c.nodes[n]
		take := min(nd.resident, last-first, limit-hit)
		hit += take
		inFree += max(0, take-nd.held())
		if take < last-first {
			break
		}
	}
	return hit, inFree
}

// part is the i-th segment of the job's tokens (its prompt, then its answer)
// and its chain. The chain is 0 behind the end and, as nobody could find the
// segment again, for a unique one; after a preemption the job itself could, so
// then its unique segments are named too.
func (j *Job) part(i int32) (*workload.Segment, uint64) {
	r := j.Request
	var s *workload.Segment
	switch {
	case int(i) < len(r.Prompt):
		s = &r.Prompt[i]
	case int(i) == len(r.Prompt):
		s = &r.Output
	default:
		return nil, 0
	}
	if s.Chain == 0 && j.named {
		return s, workload.Chained(^uint64(i), 1, uint64(r.Index)+1)
	}
	return s, s.Chain
}

// acquire takes the first hit blocks of the job's tokens, all resident.
func (c *cache) acquire(j *Job, hit int32) {
	for j.published < hit {
		s, chain := j.part(j.segment)
		first, last := j.begin/c.blockTokens, (j.begin+s.Tokens)/c.blockTokens
		if take := min(last, hit) - first; take > 0 {
			n := c.table.find(chain)
			c.unfree(n, take)
			c.add(&c.nodes[n], take)
			j.holds = append(j.holds, hold{n, take})
			j.published += take
		}
		if j.published < last {
			break
		}
		j.segment++
		j.begin += s.Tokens
	}
	j.blocks = j.published
}

// unfree removes blocks [0, length) of a node from the free list.
func (c *cache) unfree(n, length int32) {
	nd := &c.nodes[n]
	for nd.shallow != 0 {
		x := nd.shallow
		e := &c.extents[x]
		if e.lo >= length {
			return
		}
		if e.hi > length {
			c.free -= int64(length - e.lo)
			e.lo = length
			return
		}
		c.free -= int64(e.hi - e.lo)
		nd.shallow = e.deeper
		if e.deeper != 0 {
			c.extents[e.deeper].shallower = 0
		}
		c.unlink(x)
	}
}

// allocate gives the job blocks for its first tokens tokens. The caller has
// checked that they are free.
func (c *cache) allocate(j *Job, tokens int32) {
	want := c.blocksFor(tokens)
	c.take(int64(want - j.blocks))
	j.blocks = want
}

func (c *cache) blocksFor(tokens int32) int32 {
	return (tokens + c.blockTokens - 1) / c.blockTokens
}

// take evicts n blocks from the head of the free list, which holds as many.
func (c *cache) take(n int64) {
	c.free -= n
	for n > 0 {
		x := c.extents[0].next
		e := &c.extents[x]
		k := int32(min(n, int64(e.hi-e.lo)))
		n -= int64(k)
		e.hi -= k
		if e.node != 0 {
			c.evicted += int64(k)
			c.nodes[e.node].resident = e.hi
		}
		if e.lo == e.hi {
			c.drained(x)
		}
	}
}

// drained removes an extent that eviction has emptied, the deepest of its node.
func (c *cache) drained(x int32) {
	e := &c.extents[x]
	if e.node != 0 {
		nd := &c.nodes[e.node]
		if e.shallower != 0 {
			c.extents[e.shallower].deeper = 0
		} else {
			nd.shallow = 0
		}
		if nd.resident == 0 {
			c.table.remove(nd.chain)
			c.spare = append(c.spare, e.node)
		}
	}
	c.unlink(x)
}

// publish makes the job's blocks findable up to the given number of whole
// blocks, as far as they extend what is resident. From the first block of which
// a copy is resident already the job's blocks stay private.
func (c *cache) publish(j *Job, whole int32) {
	for !j.private && j.published < whole {
		s, chain := j.part(j.segment)
		if chain == 0 {
			return
		}
		end := (j.begin + s.Tokens) / c.blockTokens
		if first := j.begin / c.blockTokens; end > first && !c.extend(j, chain, j.published-first, min(end, whole)-first) {
			j.private = true
			return
		}
		if end > whole {
			return
		}
		j.segment++
		j.begin += s.Tokens
	}
}

// extend lengthens what the job holds of a segment from its first held blocks
// to length blocks, all newly computed. It reports false, and does nothing, if
// another copy of the next block is resident.
func (c *cache) extend(j *Job, chain uint64, held, length int32) bool {
	var n int32
	if held > 0 {
		n = j.holds[len(j.holds)-1].node
	} else if n = c.table.find(chain); n == 0 {
		n = c.newNode(chain)
	}
	nd := &c.nodes[n]
	if nd.resident > held {
		return false
	}
	if held > 0 {
		c.remove(nd, held)
		j.holds[len(j.holds)-1].length = length
	} else {
		j.holds = append(j.holds, hold{n, length})
	}
	c.add(nd, length)
	nd.resident = length
	j.published += length - held
	return true
}

// release frees all blocks of the job, the last block first.
func (c *cache) release(j *Job) {
	c.freeAnonymous(j.blocks - j.published)
	for i := len(j.holds) - 1; i >= 0; i-- {
		n, length := j.holds[i].node, j.holds[i].length
		nd := &c.nodes[n]
		c.remove(nd, length)
		if held := nd.held(); held < length {
			x := c.append(extent{node: n, lo: held, hi: length, deeper: nd.shallow})
			if nd.shallow != 0 {
				c.extents[nd.shallow].shallower = x
			}
			nd.shallow = x
			c.free += int64(length - held)
		}
	}
	j.footprint = footprint{holds: j.holds[:0]}
}
