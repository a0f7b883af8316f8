package policies

import "math/rand/v2"

// chooser gives a key its destinations.
type chooser interface {
	// choose fills into with different destinations that are not full and
	// returns the part of it that it could fill.
	choose(into []int32) []int32
	// settle follows each choose, after the loads of the chosen were raised.
	settle(chosen []int32, load []float64, full func(r int32) bool)
}

// lightest chooses the destinations of the smallest load (step 7): a binary
// heap by load, then rank.
type lightest struct {
	heap []planned
	dest []int32 // by rank
	rank []int32 // by destination
}

type planned struct {
	load float64
	rank int32
}

func (a planned) less(b planned) bool {
	return a.load < b.load || a.load == b.load && a.rank < b.rank
}

// newLightest ranks destinations of equal load by index, or shuffled.
func newLightest(load []float64, shuffled bool, rng *rand.Rand) *lightest {
	c := &lightest{dest: make([]int32, len(load)), rank: make([]int32, len(load))}
	for r := range c.dest {
		c.dest[r] = int32(r)
	}
	if shuffled {
		rng.Shuffle(len(load), func(i, j int) { c.dest[i], c.dest[j] = c.dest[j], c.dest[i] })
	}
	for rank, r := range c.dest {
		c.rank[r] = int32(rank)
		c.push(planned{load[r], int32(rank)})
	}
	return c
}

func (c *lightest) choose(into []int32) []int32 {
	into = into[:min(len(into), len(c.heap))]
	for i := range into {
		into[i] = c.dest[c.pop().rank]
	}
	return into
}

func (c *lightest) settle(chosen []int32, load []float64, full func(r int32) bool) {
	for _, r := range chosen {
		if !full(r) {
			c.push(planned{load[r], c.rank[r]})
		}
	}
}

func (c *lightest) push(x planned) {
	c.heap = append(c.heap, x)
	i := len(c.heap) - 1
	for i > 0 && x.less(c.heap[(i-1)/2]) {
		c.heap[i] = c.heap[(i-1)/2]
		i = (i - 1) / 2
	}
	c.heap[i] = x
}

func (c *lightest) pop() planned {
	top, n := c.heap[0], len(c.heap)-1
	x := c.heap[n]
	c.heap = c.heap[:n]
	if n == 0 {
		return top
	}
	i := 0
	for {
		child := 2*i + 1
		if child+1 < n && c.heap[child+1].less(c.heap[child]) {
			child++
		}
		if child >= n || !c.heap[child].less(x) {
			break
		}
		c.heap[i] = c.heap[child]
		i = child
	}
	c.heap[i] = x
	return top
}

// anyOf chooses at random, without repetition, whatever the load.
type anyOf struct {
	free []int32 // destinations that are not full
	rng  *rand.Rand
}

func newAnyOf(destinations int, rng *rand.Rand) *anyOf {
	c := &anyOf{free: make([]int32, destinations), rng: rng}
	for r := range c.free {
		c.free[r] = int32(r)
	}
	return c
}

// choose draws the head of a shuffle of the free destinations.
func (c *anyOf) choose(into []int32) []int32 {
	into = into[:min(len(into), len(c.free))]
	for i := range into {
		j := i + c.rng.IntN(len(c.free)-i)
		c.free[i], c.free[j] = c.free[j], c.free[i]
		into[i] = c.free[i]
	}
	return into
}

// settle removes the full; the chosen are the head of free, in order.
func (c *anyOf) settle(chosen []int32, _ []float64, full func(r int32) bool) {
	for i := len(chosen) - 1; i >= 0; i-- {
		if full(chosen[i]) {
			n := len(c.free) - 1
			c.free[i] = c.free[n]
			c.free = c.free[:n]
		}
	}
}
