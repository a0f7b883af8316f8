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
		c.nodes[n] = node{chain: chain}
	} else {
		n = int32(len(c.nodes))
		c.nodes = append(c.nodes, node{chain: chain})
	}
	c.table.insert(chain, n)
	return n
}

// held is how many leading blocks of the node are in use.
func (nd *node) held() int32 { return nd.top.length }

// add counts a holder of the first length blocks of a node.
func (c *cache) add(nd *node, length int32) {
	switch {
	case length == nd.top.length:
		nd.top.count++
	case length > nd.top.length:
		if nd.top.count > 0 {
			c.join(nd, nd.top)
		}
		nd.top = holders{length, 1}
	default:
		c.join(nd, holders{length, 1})
	}
}

// remove takes a holder of the first length blocks away.
func (c *cache) remove(nd *node, length int32) {
	switch {
	case length < nd.top.length:
		c.leave(nd, length)
	case nd.top.count > 1:
		nd.top.count--
	case nd.crowd == 0:
		nd.top = holders{}
	default:
		crowd := c.crowds[nd.crowd]
		nd.top = crowd[len(crowd)-1]
		c.shrink(nd, crowd[:len(crowd)-1])
	}
}

// join adds holders to the crowd of a node.
func (c *cache) join(nd *node, h holders) {
	if nd.crowd == 0 {
		if k := len(c.idle); k > 0 {
			nd.crowd, c.idle = c.idle[k-1], c.idle[:k-1]
		} else {
			nd.crowd = int32(len(c.crowds))
			c.crowds = append(c.crowds, nil)
		}
	}
	crowd := &c.crowds[nd.crowd]
	i, found := slices.BinarySearchFunc(*crowd, h.length, byLength)
	if found {
		(*crowd)[i].count += h.count
	} else {
		*crowd = slices.Insert(*crowd, i, h)
	}
}

// leave takes one holder out of the crowd of a node.
func (c *cache) leave(nd *node, length int32) {
	crowd := c.crowds[nd.crowd]
	i, _ := slices.BinarySearchFunc(crowd, length, byLength)
	if crowd[i].count--; crowd[i].count == 0 {
		c.shrink(nd, slices.Delete(crowd, i, i+1))
	}
}

// shrink sets the crowd of a node; an empty one is put by.
func (c *cache) shrink(nd *node, to crowd) {
	c.crowds[nd.crowd] = to
	if len(to) == 0 {
		c.idle = append(c.idle, nd.crowd)
		nd.crowd = 0
	}
}

func byLength(h holders, length int32) int { return int(h.length - length) }
