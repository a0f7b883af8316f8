package trace

import (
	"cmp"
	"container/heap"
	"maps"
	"math"
	"slices"
)

// times describes arrivals in bounded memory: gaps are of the sorted arrivals as
// long as none comes more than reorder rows late.
type times struct {
	n                 int64
	previous          int64 // in the order of the file
	earliest, latest  int64
	inversions, stray int64 // rows before the one above them; so late that their gap is lost

	reorder        int // rows that one may come late
	waiting        arrivalHeap
	sorted         int64 // the last one that left waiting
	gaps, distinct int64
	sum, squares   float64
	least          int64 // smallest gap above 0

	width int64 // of a bin of the profile, microseconds
	bins  map[int64]int64
}

const (
	usualReorder = 1 << 20
	mostBins     = 4096
)

func newTimes() times {
	return times{reorder: usualReorder, earliest: math.MaxInt64, sorted: -1, least: math.MaxInt64, width: 1e6, bins: map[int64]int64{}}
}

type arrivalHeap []int64

func (h arrivalHeap) Len() int           { return len(h) }
func (h arrivalHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h arrivalHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *arrivalHeap) Push(x any)        { *h = append(*h, x.(int64)) }
func (h *arrivalHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

func (t *times) add(at int64) {
	if t.n > 0 && at < t.previous {
		t.inversions++
	}
	t.n++
	t.previous = at
	t.earliest, t.latest = min(t.earliest, at), max(t.latest, at)
	t.bin(at)
	heap.Push(&t.waiting, at)
	if len(t.waiting) > t.reorder {
		t.leave(heap.Pop(&t.waiting).(int64))
	}
}

// leave takes the next of the sorted arrivals.
func (t *times) leave(at int64) {
	switch gap := at - t.sorted; {
	case t.sorted < 0:
		t.distinct = 1
	case gap < 0:
		t.stray++
		return
	default:
		t.gaps++
		t.sum += float64(gap)
		t.squares += float64(float64(gap) * float64(gap))
		if gap > 0 {
			t.distinct++
			t.least = min(t.least, gap)
		}
	}
	t.sorted = at
}

// bin counts an arrival in the profile, whose bins widen as it gets longer.
func (t *times) bin(at int64) {
	t.bins[at/t.width]++
	for len(t.bins) > mostBins {
		t.width *= 2
		wider := map[int64]int64{}
		for i, n := range t.bins {
			wider[i/2] += n
		}
		t.bins = wider
	}
}

func (t *times) finish() {
	slices.Sort(t.waiting)
	for _, at := range t.waiting {
		t.leave(at)
	}
	t.waiting = nil
}

func (t *times) span() float64 { return float64(t.latest-t.earliest) / 1e6 }

// cv is that of the gaps, NaN if some are lost or there is none.
func (t *times) cv() float64 {
	if t.stray > 0 || t.gaps == 0 || t.sum == 0 {
		return math.NaN()
	}
	n := float64(t.gaps)
	mean := t.sum / n
	return math.Sqrt(max(0, t.squares/n/mean/mean-1))
}

// profile is the rate in at most n bins of equal width, in requests per second,
// and the width in seconds. The first and the last bin count as far as the trace
// covers them: from its first arrival until one would be due after the last, and
// by a gap at least.
func (t *times) profile(n int) (rates []float64, width float64) {
	first, last := t.earliest/t.width, t.latest/t.width
	group := max(1, (last-first+int64(n))/int64(n))
	rates = make([]float64, (last-first)/group+1)
	for _, i := range slices.SortedFunc(maps.Keys(t.bins), cmp.Compare[int64]) {
		rates[(i-first)/group] += float64(t.bins[i])
	}
	width, gap := float64(group*t.width), t.meanGap()
	for i := range rates {
		from := float64((first + int64(i)*group) * t.width)
		covered := min(from+width, float64(t.latest)+gap) - max(from, float64(t.earliest))
		rates[i] /= max(covered, min(gap, width)) / 1e6
	}
	return rates, width / 1e6
}

// meanGap is that between different arrivals, infinite if there is none.
func (t *times) meanGap() float64 {
	if t.distinct < 2 {
		return math.Inf(1)
	}
	return float64(t.latest-t.earliest) / float64(t.distinct-1)
}
