package workload

import (
	"slices"

	"cacheroute/workload/trace"
)

// Observed is what the recorded service did, as far as the trace tells: a
// prediction can be held against it, under the routing that was in force.
type Observed struct {
	HitRequests int // that say how many of their prompt tokens were cached
	KVHit       float64
	TTFTs       int // requests that say when their first token came
	TTFTP50S    float64
	TTFTP99S    float64 // exact, by nearest rank
}

// observation gathers it row by row.
type observation struct {
	rows           int
	cached, prompt int64
	ttft           []int64 // microseconds
}

func (o *observation) add(r *trace.Row) {
	if r.Cached != trace.Absent {
		o.rows++
		o.cached += r.Cached
		o.prompt += int64(r.Input)
	}
	if r.TTFT != trace.Absent {
		o.ttft = append(o.ttft, r.TTFT)
	}
}

func (o *observation) result() Observed {
	out := Observed{HitRequests: o.rows, TTFTs: len(o.ttft)}
	if o.prompt > 0 {
		out.KVHit = float64(o.cached) / float64(o.prompt)
	}
	if n := len(o.ttft); n > 0 {
		slices.Sort(o.ttft)
		at := func(percent int) float64 { return float64(o.ttft[(percent*n+99)/100-1]) / 1e6 }
		out.TTFTP50S, out.TTFTP99S = at(50), at(99)
	}
	return out
}
