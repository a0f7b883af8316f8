package workload

import (
	"math/rand/v2"
	"slices"

	"cacheroute/sim/clock"
)

// spread moves the requests of one recorded instant to uniform places before
// the next tick, in order of the file.
func (b *traceBuilder) spread() {
	b.header.Spread, b.header.Seed = true, b.opt.Seed
	rng := clock.Streams{Seed: b.opt.Seed}.Rand("trace/spread")
	var places []int64
	for from := 0; from < len(b.rows); {
		to, width := from+1, b.header.ResolutionUS
		for to < len(b.rows) && b.rows[to].at == b.rows[from].at {
			to++
		}
		if to < len(b.rows) {
			width = min(width, b.rows[to].at-b.rows[from].at)
		}
		places = drawSorted(places[:0], to-from, max(1, width), rng)
		for i, p := range places {
			b.rows[from+i].at += p
		}
		from = to
	}
}

func drawSorted(places []int64, n int, width int64, rng *rand.Rand) []int64 {
	for range n {
		places = append(places, rng.Int64N(width))
	}
	slices.Sort(places)
	return places
}
