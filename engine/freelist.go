package engine

import "slices"

// freeAnonymous appends n blocks without an identity to the free list.
func (c *cache) freeAnonymous(n int32) {
	if n == 0 {
		return
	}
	c.free += int64(n)
	if last := &c.extents[c.extents[0].prev]; last.node == 0 && last.hi > 0 {
		last.hi += n
		return
	}
	c.append(extent{hi: n})
}

// append puts an extent at the tail of the free list and returns its index.
func (c *cache) append(e extent) int32 {
	x := c.unused
	if x != 0 {
		c.unused = c.extents[x].next
	} else {
		x = int32(len(c.extents))
		c.extents = append(c.extents, extent{})
	}
	e.prev, e.next = c.extents[0].prev, 0
	c.extents[x] = e
	c.extents[e.prev].next = x
	c.extents[0].prev = x
	return x
}

// unlink takes an extent out of the free list for good.
func (c *cache) unlink(x int32) {
	e := &c.extents[x]
	c.extents[e.prev].next, c.extents[e.next].prev = e.next, e.prev
	*e = extent{next: c.unused}
	c.unused = x
}

func (c *cache) newNode(chain uint64) int32 {
	var n int32
	if k := len(c.spare); k > 0 {
		n, c.spare = c.spare[k-1], c.spare[:k-1]
		c.nodes[n] = node{chain: chain, lower: c.nodes[n].lower[:0]}
	} else {
		n = int32(len(c.nodes))
		c.nodes = append(c.nodes, node{chain: chain})
	}
	c.table.insert(chain, n)
	return n
}

// held is how many leading blocks of the node are in use.
func (nd *node) held() int32 { return nd.top.length }

// add counts a holder of the first length blocks.
func (nd *node) add(length int32) {
	switch {
	case length == nd.top.length:
		nd.top.count++
	case length > nd.top.length:
		if nd.top.count > 0 {
			nd.lower = append(nd.lower, nd.top)
		}
		nd.top = holders{length, 1}
	default:
		i, found := slices.BinarySearchFunc(nd.lower, length, byLength)
		if found {
			nd.lower[i].count++
		} else {
			nd.lower = slices.Insert(nd.lower, i, holders{length, 1})
		}
	}
}

// remove takes a holder of the first length blocks away.
func (nd *node) remove(length int32) {
	if length == nd.top.length {
		if nd.top.count--; nd.top.count == 0 {
			nd.top = holders{}
			if k := len(nd.lower); k > 0 {
				nd.top, nd.lower = nd.lower[k-1], nd.lower[:k-1]
			}
		}
		return
	}
	i, _ := slices.BinarySearchFunc(nd.lower, length, byLength)
	if nd.lower[i].count--; nd.lower[i].count == 0 {
		nd.lower = slices.Delete(nd.lower, i, i+1)
	}
}

func byLength(h holders, length int32) int { return int(h.length - length) }
