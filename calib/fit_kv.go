package calib

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"cacheroute/results"
)

// A run is KV-bound if its clients wait for blocks. Without the engine's count
// of blocks it shows in TTFT, which jumps from one number of clients to the next:
// the burst at a bench's start and the queue for prefill make it grow about as
// the clients do, a full cache far more.
const ttftJump = 1.75 // growth of TTFT over growth of clients

// split parts the rows that the KV cache limits from the rest.
func (f *fitter) split(rows []BenchRow) {
	last := map[Shape]BenchRow{} // the largest run of a shape that is not KV-bound
	sorted := slices.SortedStableFunc(slices.Values(rows), func(a, b BenchRow) int { return cmp.Compare(a.Concurrency, b.Concurrency) })
	full := map[int]bool{}
	for _, r := range sorted {
		before, ok := last[r.Shape()]
		switch {
		case f.opt.KVBlocks > 0 && r.With(f.opt.Facts).tokensHeld() > float64(f.opt.KVBlocks*f.opt.BlockTokens):
			full[r.Line] = true
		case f.opt.KVBlocks == 0 && ok && r.TTFTMean > ttftJump*before.TTFTMean*float64(r.Concurrency)/float64(before.Concurrency):
			full[r.Line] = true
		default:
			last[r.Shape()] = r
		}
	}
	for _, r := range rows {
		if full[r.Line] {
			f.full = append(f.full, r)
		} else {
			f.rows = append(f.rows, r)
		}
	}
}

// sizeCache settles the number of KV blocks: the engine's own, else what the
// KV-bound rows say by simulation, else unknown.
func (f *fitter) sizeCache(p params) error {
	fit, block := f.fit, float64(f.cfg.BlockTokens)
	switch {
	case f.opt.KVBlocks > 0:
		f.cfg.Blocks = f.opt.KVBlocks
		fit.KVOrigin, fit.KVSource = results.Measured, "the engine's own number, given with --kv-blocks"
	case len(f.full) == 0:
		f.warn("no run fills the KV cache, so its size is not known: give the engine's own number with --kv-blocks")
		return nil
	case !f.opt.Refine:
		f.cfg.Blocks = int(f.littleTokens(p) / block)
		fit.KVOrigin, fit.KVSource = results.Fitted, fmt.Sprintf("Little's law on %d KV-bound runs", len(f.full))
	default:
		f.searchBlocks(p, f.littleTokens(p))
		fit.KVOrigin, fit.KVSource = results.Fitted, fmt.Sprintf("simulation of %d KV-bound runs; the engine's own log number is better", len(f.full))
	}
	fit.KVBlocks = f.cfg.Blocks
	return nil
}

// littleTokens estimates the tokens that the cache holds: by Little's law the
// clients that are being served, times the tokens that a request holds.
func (f *fitter) littleTokens(p params) float64 {
	var all []float64
	for _, r := range f.full {
		r = r.With(f.facts)
		serving := r.TPOTMean * (r.Output.Mean - 1)
		free := f.lonePrefill(p, r) / 1e3
		waiting := math.Max(0, r.TTFTMean-free) / (r.TTFTMean + serving)
		all = append(all, r.tokensHeld()*(1-waiting))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// lonePrefill is the TTFT of a request that waits for nothing, in ms.
func (f *fitter) lonePrefill(p params, r BenchRow) float64 {
	s := load{decodes: float64(r.Concurrency - 1), context: r.tokensHeld(), prefill: r.Input.Mean, work: r.Input.square()}
	sum := p[f.overheadAt()]
	for j, v := range f.form.features(s, p[f.freeAt()]) {
		sum += v * p[j]
	}
	return sum
}

// searchBlocks simulates the KV-bound runs, and those that come near, with
// caches around a first estimate, with and without prefix caching: it tells
// what a preempted request costs when it comes back.
func (f *fitter) searchBlocks(p params, tokens float64) {
	rows := slices.Clone(f.full)
	for _, r := range f.rows {
		if r.With(f.facts).tokensHeld() > tokens/2 {
			rows = append(rows, r)
		}
	}
	const from, to, steps = 0.7, 1.4, 60
	best, lowest := *f, math.Inf(1)
	for _, without := range []bool{false, true} {
		g := *f
		g.facts.NoPrefixCaching = without || f.opt.Facts.NoPrefixCaching
		for i := range steps + 1 {
			x := tokens * from * math.Pow(to/from, float64(i)/steps)
			g.cfg.Blocks = max(1, int(x/float64(f.cfg.BlockTokens)))
			if l := g.fullLoss(p, rows); l < lowest {
				best, lowest = g, l
			}
		}
	}
	f.cfg.Blocks, f.facts = best.cfg.Blocks, best.facts
	if f.facts.NoPrefixCaching && !f.opt.Facts.NoPrefixCaching {
		f.fit.Facts.NoPrefixCaching = true
		f.fit.FoundFacts = append(f.fit.FoundFacts, "no_prefix_caching")
		f.note("found by simulation: the KV-bound runs come nearer without prefix caching, with preempted requests computed again")
	}
}

// fullLoss is how far simulated KV-bound runs are from the measured ones. Their
// TTFT spans orders of magnitude, so its ratio counts.
func (f *fitter) fullLoss(p params, rows []BenchRow) float64 {
	const bound = 0.3
	errors := make([]float64, 0, 2*len(rows))
	for i, s := range f.simulateRows(p, rows) {
		errors = append(errors, math.Log(s.TTFTMean/rows[i].TTFTMean), s.TPOTMean/rows[i].TPOTMean-1)
	}
	return huberLoss(errors, bound)
}
