package engine

import (
	"fmt"
	"slices"
)

// Check recounts the whole state of an idle or busy engine between Finish and
// Start and returns an error that names the first sum that does not hold:
// used + free blocks = total; the free extents of a node tile what nobody
// holds; hit + computed + abandoned tokens = tokens of all admissions.
func (e *Engine) Check() error {
	if err := e.cache.check(int64(e.cfg.Blocks)); err != nil {
		return err
	}
	context, phases, gone := int64(0), make([]int32, len(e.phases)), 0
	blocks := e.cache.freeSum()
	seen := map[int32]int32{}
	count := func(j *Job, computed int32) {
		blocks += int64(e.cache.blocksFor(computed) - j.published)
		for _, h := range j.holds {
			seen[h.node] = max(seen[h.node], h.length)
		}
	}
	for _, d := range e.decoders {
		computed := d.job.computed + int32(e.step-d.job.joined)
		context += int64(computed)
		phases[e.phase(d.job)]++
		if d.job.status == aborted {
			gone++
		}
		count(d.job, computed)
	}
	open := int64(0)
	if j := e.prefilling; j != nil {
		count(j, j.computed)
		open = int64(j.target - j.computed)
	}
	for _, length := range seen {
		blocks += int64(length)
	}
	c := e.counters
	switch {
	case blocks != int64(e.cfg.Blocks):
		return fmt.Errorf("used and free blocks are %d, the destination has %d", blocks, e.cfg.Blocks)
	case context != e.context:
		return fmt.Errorf("decoding context is %d tokens, the running sum says %d", context, e.context)
	case !slices.Equal(phases, e.phases) || uint32((int64(e.border)+e.step)%int64(len(phases))) != 0:
		return fmt.Errorf("decoders by phase are %v, the running count says %v at step %d", phases, e.phases, e.step)
	case gone != e.abortedJobs:
		return fmt.Errorf("%d running jobs are aborted, the count says %d", gone, e.abortedJobs)
	case c.Reused+c.Prefilled+c.Abandoned+open != c.Demanded:
		return fmt.Errorf("tokens reused %d + computed %d + abandoned %d + to do %d are not the %d demanded",
			c.Reused, c.Prefilled, c.Abandoned, open, c.Demanded)
	}
	return nil
}

func (c *cache) freeSum() (sum int64) {
	for x := c.extents[0].next; x != 0; x = c.extents[x].next {
		sum += int64(c.extents[x].hi - c.extents[x].lo)
	}
	return sum
}

// check verifies the free list and the nodes against each other.
func (c *cache) check(total int64) error {
	if sum := c.freeSum(); sum != c.free || sum > total {
		return fmt.Errorf("the free list holds %d blocks, the count says %d of %d", sum, c.free, total)
	}
	for _, s := range c.table.slots {
		if s.chain == 0 {
			continue
		}
		n := s.node
		nd := &c.nodes[n]
		at := nd.held()
		for x := nd.shallow; x != 0; x = c.extents[x].deeper {
			if e := c.extents[x]; e.node != n || e.lo != at || e.hi <= e.lo {
				return fmt.Errorf("node %d: free extent [%d, %d) does not continue at block %d", n, e.lo, e.hi, at)
			}
			at = c.extents[x].hi
		}
		if at != nd.resident || at == 0 || nd.chain != s.chain {
			return fmt.Errorf("node %d of chain %x, found by %x: %d blocks are held or free, %d are resident", n, nd.chain, s.chain, at, nd.resident)
		}
	}
	return nil
}
