package results

import "cacheroute/sim/clock"

// timeline follows a run, warm-up included, in bins of equal length by the
// instant of arrival. It does not know how long the run will be: when the bins
// run out, pairs are merged. A bin is a power of two of picoseconds long, so
// that finding one is a shift.
type timeline struct {
	shift uint // bin i is [i<<shift, (i+1)<<shift)
	bins  []bin
}

// bin holds sums over the requests that arrived in it.
type bin struct {
	requests          int64
	prompt, hit       int64 // tokens of the admitted ones
	inFlight, waiting int64 // as each arrival saw them
}

const (
	mostBins   = 128
	firstShift = 34 // 17 ms
)

func newTimeline() timeline {
	return timeline{shift: firstShift, bins: make([]bin, 0, mostBins)}
}

// at returns the bin of an instant that is not before 0.
func (t *timeline) at(instant clock.Time) *bin {
	i := int(uint64(instant) >> t.shift)
	if i >= len(t.bins) {
		i = t.extend(i)
	}
	return &t.bins[i]
}

// extend makes bin i exist and returns its index, which merging may lower.
func (t *timeline) extend(i int) int {
	for ; i >= mostBins; i /= 2 {
		t.halve()
	}
	for len(t.bins) <= i {
		t.bins = append(t.bins, bin{})
	}
	return i
}

func (t *timeline) halve() {
	t.shift++
	half := (len(t.bins) + 1) / 2
	for i := range half {
		b := t.bins[2*i]
		if 2*i+1 < len(t.bins) {
			c := t.bins[2*i+1]
			b.requests += c.requests
			b.prompt += c.prompt
			b.hit += c.hit
			b.inFlight += c.inFlight
			b.waiting += c.waiting
		}
		t.bins[i] = b
	}
	t.bins = t.bins[:half]
}

// growth is the mean number of requests in flight, as arrivals saw it, in the
// second and in the last quarter of the window. A window is followed to its last
// arrival if it has no end.
func (t *timeline) growth(w Window) (early, late float64) {
	to := min(w.To, clock.Time(len(t.bins))<<t.shift)
	quarter := (to - w.From) / 4
	mean := func(from, to clock.Time) float64 {
		var n, sum int64
		for i := int(from >> t.shift); i < len(t.bins) && clock.Time(i)<<t.shift < to; i++ {
			n += t.bins[i].requests
			sum += t.bins[i].inFlight
		}
		return float64(sum) / float64(n)
	}
	return mean(w.From+quarter, w.From+2*quarter), mean(w.From+3*quarter, to)
}
