package workload

import (
	"container/heap"
	"fmt"

	"cacheroute/sim/clock"
	"cacheroute/workload/trace"
)

// link makes each turn of a session wait for the one before. How long a user
// thinks is recorded, or what is left of the recorded gap once the observed
// answer is taken off; if neither is known, a turn comes when it was recorded,
// but not before the answer.
func (b *traceBuilder) link(t *Trace) error {
	if b.header.InSessions == 0 {
		return fmt.Errorf("%s: a closed loop needs sessions, and no row has one", b.header.Path)
	}
	n := len(b.rows)
	t.follow, t.think = make([]int32, n), make([]int64, n)
	last := map[uint64]int32{}
	recorded, derived, unknown := 0, 0, 0
	for i := range b.rows {
		row := &b.rows[i]
		t.follow[i], t.think[i] = -1, row.think
		before, later := last[row.session]
		if row.inSession {
			last[row.session] = int32(i)
		}
		if !later || !row.inSession {
			t.roots = append(t.roots, int32(i))
			continue
		}
		t.follow[before] = int32(i)
		switch p := &b.rows[before]; {
		case row.think != trace.Absent:
			recorded++
		case p.e2e != trace.Absent:
			t.think[i] = max(0, row.at-p.at-p.e2e)
			derived++
		default:
			unknown++
		}
	}
	b.header.Notes = append(b.header.Notes, fmt.Sprintf("closed loop: %d turns wait for the answer before them; think times: %d recorded, %d from observed answers, %d unknown (such a turn comes at its recorded time, or with the answer if that is later)",
		n-len(t.roots), recorded, derived, unknown))
	return nil
}

// closedReplay is the source of one cell in which turns wait for answers.
type closedReplay struct {
	*replay
	root  int     // next of Trace.roots
	due   dueHeap // turns whose answer is there
	rowOf []int32 // by index of the request
}

// dueTurn is a row and when it arrives.
type dueTurn struct {
	at  clock.Time
	row int32
}

type dueHeap []dueTurn

func (h dueHeap) Len() int { return len(h) }
func (h dueHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].row < h[j].row
}
func (h dueHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *dueHeap) Push(x any)   { *h = append(*h, x.(dueTurn)) }
func (h *dueHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// first is the next arrival as things stand, and whether it waits for none.
func (c *closedReplay) first() (next dueTurn, isRoot bool) {
	next.at = clock.Never
	if c.root < len(c.trace.roots) {
		row := c.trace.roots[c.root]
		next, isRoot = dueTurn{c.scale(c.trace.rows[row].at), row}, true
	}
	if len(c.due) > 0 && (!isRoot || c.due[0].at < next.at || c.due[0].at == next.at && c.due[0].row < next.row) {
		return c.due[0], false
	}
	return next, isRoot
}

// NextAt implements Closed.
func (c *closedReplay) NextAt() clock.Time {
	next, _ := c.first()
	return next.at
}

// Next implements Source.
func (c *closedReplay) Next(r *Request) bool {
	next, isRoot := c.first()
	switch {
	case next.at == clock.Never:
		return false
	case isRoot:
		c.root++
	default:
		heap.Pop(&c.due)
	}
	c.rowOf = append(c.rowOf, next.row)
	c.fill(r, int(next.row), next.at)
	return true
}

// Ended implements Closed.
func (c *closedReplay) Ended(r *Request, at clock.Time) {
	row := c.trace.follow[c.rowOf[r.Index]]
	if row < 0 {
		return
	}
	if think := c.trace.think[row]; think != trace.Absent {
		at += c.scale(think)
	} else {
		at = max(at, c.scale(c.trace.rows[row].at))
	}
	heap.Push(&c.due, dueTurn{at, row})
}
