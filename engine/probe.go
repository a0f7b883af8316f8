package engine

import (
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// sync applies the steps of the span in flight that have ended by now, and gives
// the decoders their blocks of the step under way. The span's own end does not
// move, and nothing else happens in it: a span ends with the first outcome.
func (e *Engine) sync(now clock.Time) {
	n := int64(len(e.decoders))
	if n == 0 || len(e.chunks) > 0 {
		return
	}
	if steps := e.stepsBy(now); steps > 0 {
		began := e.stepEnd(steps)
		e.cache.take(e.growth(steps) - e.grown)
		e.grown = 0
		e.advance(steps)
		e.context += n * steps
		e.batch.DecodeContext = e.context
		e.counters.Decoded += n * steps
		e.counters.Steps += steps
		e.counters.Busy += began - e.began
		e.began = began
		e.length -= steps
	}
	if e.grown == 0 {
		e.grow()
	}
}

// Load implements Probe.
func (e *Engine) Load(now clock.Time) (waiting, running int, kvUsage float64) {
	e.sync(now)
	total := float64(e.cfg.Blocks)
	return e.waiting.len(), len(e.decoders) + len(e.chunks), (total - float64(e.cache.free)) / total
}

// Cached implements Probe.
func (e *Engine) Cached(r *workload.Request, now clock.Time) int {
	e.sync(now)
	e.asked.Request = r
	size := int32(e.cfg.BlockTokens)
	hit, _ := e.cache.match(&e.asked, e.cfg.reusable(r.PromptTokens))
	return int(hit * size)
}
