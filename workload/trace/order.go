package trace

import (
	"cmp"
	"container/heap"
	"slices"
)

// prompt is what the figures of prefixes need of a row.
type prompt struct {
	at, place int64 // arrival, and number in the file
	input     int32
	known     bool
	chains    []uint64
}

// compare orders prompts as a replay serves them.
func (p *prompt) compare(q *prompt) int {
	return cmp.Or(cmp.Compare(p.at, q.at), cmp.Compare(p.place, q.place))
}

// Bounds of the prompts that wait for earlier ones.
const (
	usualPrompts = 1 << 17
	usualChains  = 1 << 21
)

// order puts prompts in the order of a replay, as long as none comes later than
// it can hold those before.
type order struct {
	prompts, chains int // held at most; of one prompt any number

	waiting promptHeap
	held    int // chains
	places  int64
	last    *prompt   // that left, in order
	free    []*prompt // whose memory is used again
	strays  int64     // that left too late
}

type promptHeap []*prompt

func (h promptHeap) Len() int           { return len(h) }
func (h promptHeap) Less(i, j int) bool { return h[i].compare(h[j]) < 0 }
func (h promptHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *promptHeap) Push(x any)        { *h = append(*h, x.(*prompt)) }
func (h *promptHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// add takes the prompt of a row, whose memory stays the caller's, and gives
// those that need not wait any longer to use.
func (o *order) add(r *Row, chains []uint64, use func(*prompt)) {
	p := &prompt{}
	if n := len(o.free); n > 0 {
		p, o.free = o.free[n-1], o.free[:n-1]
	}
	*p = prompt{at: r.At, place: o.places, input: r.Input, known: r.Known, chains: append(p.chains[:0], chains...)}
	o.places++
	o.held += len(chains)
	heap.Push(&o.waiting, p)
	for len(o.waiting) > o.prompts || o.held > o.chains && len(o.waiting) > 1 {
		o.leave(heap.Pop(&o.waiting).(*prompt), use)
	}
}

// finish gives the rest to use.
func (o *order) finish(use func(*prompt)) {
	slices.SortFunc(o.waiting, (*prompt).compare)
	for _, p := range o.waiting {
		o.leave(p, use)
	}
	o.waiting, o.free = nil, nil
}

func (o *order) leave(p *prompt, use func(*prompt)) {
	o.held -= len(p.chains)
	use(p)
	if o.last != nil && p.compare(o.last) < 0 {
		o.strays++
		o.free = append(o.free, p)
		return
	}
	if o.last != nil {
		o.free = append(o.free, o.last)
	}
	o.last = p
}
