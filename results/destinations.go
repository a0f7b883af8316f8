package results

import (
	"slices"

	"cacheroute/sim/clock"
)

// ByDestination tells the destinations apart: a list each, by destination. It
// shows the hot spot that a mean over the fleet hides.
type ByDestination struct {
	KVHit   []Float `json:"kv_hit"`
	TTFTP99 []Float `json:"ttft_p99_s"` // a failed request is infinitely late
	// RunBusy is the fraction of the run, until its last event, in which the
	// destination was at work, and RunMostInFlight its longest queue: the most
	// requests that were routed there and had not ended.
	RunBusy         []Float `json:"run_busy"`
	RunMostInFlight []int64 `json:"run_most_in_flight"`
}

// byDestination gathers it.
type byDestination struct {
	hits           []tokens
	inFlight, most []int64
	completed      []int32 // destinations of the completed requests, as their TTFT
}

// ByDestination tells the destinations apart in the profile of the run.
func (c *Collector) ByDestination() {
	n := len(c.destination)
	c.apart = &byDestination{hits: make([]tokens, n), inFlight: make([]int64, n), most: make([]int64, n)}
}

// Routed tells where a request went that has arrived.
func (c *Collector) Routed(destination int) {
	if a := c.apart; a != nil {
		a.inFlight[destination]++
		a.most[destination] = max(a.most[destination], a.inFlight[destination])
	}
}

// byDestination is empty unless asked for.
func (c *Collector) byDestination(f FleetTotals) ByDestination {
	p := ByDestination{KVHit: []Float{}, TTFTP99: []Float{}, RunBusy: []Float{}, RunMostInFlight: []int64{}}
	a := c.apart
	if a == nil {
		return p
	}
	ttft, at := make([][]clock.Time, len(c.destination)), 0
	c.ttft.each(func(chunk []clock.Time) {
		for _, v := range chunk {
			d := a.completed[at]
			ttft[d] = append(ttft[d], v)
			at++
		}
	})
	for d, n := range c.destination {
		p.KVHit = append(p.KVHit, a.hits[d].rate().rounded())
		p.TTFTP99 = append(p.TTFTP99, quantileOf(ttft[d], 99, int(n)).rounded())
		p.RunBusy = append(p.RunBusy, Float(f.Busy[d].Seconds()/f.End.Seconds()).rounded())
	}
	p.RunMostInFlight = append(p.RunMostInFlight, a.most...)
	return p
}

// quantileOf is the nearest-rank quantile, in seconds, of n values of which
// those given are finite and the rest infinite. It sorts them.
func quantileOf(values []clock.Time, percent, n int) Float {
	if n == 0 {
		return undefined
	}
	rank := (percent*n + 99) / 100
	if rank > len(values) {
		return infinite
	}
	slices.Sort(values)
	return Float(values[rank-1].Seconds())
}
