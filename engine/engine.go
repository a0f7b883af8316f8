package engine

import (
	"sort"

	"cacheroute/sim/clock"
)

// Engine is one destination. Between Start and Finish a span of steps is in
// flight; everything else happens at the border of two steps.
//
// Decode spans: while no prefill runs and nothing can be admitted, steps only
// differ by the context that grows by one token a sequence. Such steps are one
// span, ended by the first completion, by a shortage of blocks, or by Cut when
// a request arrives. Decoding sequences are not touched inside a span: they are
// kept by the decode step at which they end.
type Engine struct {
	cfg   Config
	spans SpanModel // cfg.Cost if it prices spans, else nil
	cache cache

	waiting     queue
	prefilling  *Job      // the one sequence whose prefill is under way between steps; admitted last
	decoders    []decoder // by falling end, then falling order: the next to complete is last
	abortedJobs int       // jobs that leave at the end of the step in flight
	admissions  int64

	step    int64   // decode steps since the start of the run
	context int64   // tokens in the cache of all decoders
	phases  []int32 // decoders by (computed - step) modulo the block size
	border  uint32  // -step modulo the block size: the phase of those about to start a block

	// The span in flight.
	began  clock.Time
	length int64 // steps; 0: idle
	ends   clock.Time
	grown  int64 // blocks already allocated to decoders for its first step
	batch  Batch
	closed bool    // an arrival changes nothing before the span's end
	chunks []chunk // prefill computed in its only step

	counters Counters
	scratch  []*Job
	asked    Job // for Cached
}

type decoder struct {
	end, order int64
	job        *Job
}

// chunk is a part of a prompt computed in one step.
type chunk struct {
	job    *Job
	tokens int32
}

// New returns an idle destination. The configuration has passed Check.
func New(cfg Config) *Engine {
	e := &Engine{cfg: cfg, cache: newCache(cfg.BlockTokens, cfg.Blocks), phases: make([]int32, cfg.BlockTokens)}
	e.spans, _ = cfg.Cost.(SpanModel)
	return e
}

// Enqueue puts a job at the end of the waiting line. It reports false, and
// does not take the job, if its prompt can never fit.
func (e *Engine) Enqueue(j *Job) bool {
	if e.cache.blocksFor(j.Request.PromptTokens) > int32(e.cfg.Blocks) {
		return false
	}
	j.status = waiting
	j.target = j.Request.PromptTokens
	e.waiting.pushBack(j)
	return true
}

// Idle reports whether no span is in flight.
func (e *Engine) Idle() bool { return e.length == 0 }

// Start forms the next span at the instant now and returns when it ends, Never
// if there is nothing to do. It appends refusals to out.
func (e *Engine) Start(now clock.Time, out []Outcome) (clock.Time, []Outcome) {
	e.began, e.grown, e.closed = now, 0, false
	preempted := false
	switch {
	case len(e.decoders) > 0 && e.growth(1) > e.cache.free:
		preempted, out = e.makeRoom(out)
	case e.prefilling != nil || e.waiting.len() > 0:
		e.grow()
	}
	budget := int32(e.cfg.MaxBatchedTokens - len(e.decoders))
	e.batch = Batch{Decodes: len(e.decoders), DecodeContext: e.context}
	if e.prefilling != nil {
		var ok bool
		if ok, out = e.resume(&budget, out); !ok {
			preempted = true
		}
	}
	if !preempted {
		out = e.admit(budget, out)
	}
	switch {
	case len(e.chunks) > 0:
		e.length, e.closed = 1, true
		e.ends = now + e.cfg.Cost.StepTime(e.batch)
	case len(e.decoders) > 0:
		e.length, e.closed = e.spanLength(preempted), e.waiting.len() > 0
		e.ends = e.stepEnd(e.length)
	case e.waiting.len() > 0: // the last sequence was refused after it had displaced others
		return e.Start(now, out)
	default:
		e.length, e.ends = 0, clock.Never
	}
	return e.ends, out
}

// grow allocates the blocks that the decoders fill in the next step.
func (e *Engine) grow() {
	e.grown = e.growth(1)
	e.cache.take(e.grown)
}

// spanLength is how many pure decode steps may run from here: to the first
// completion, as long as blocks last. A waiting head that could not be admitted
// stays blocked meanwhile, because free blocks only get fewer, unless
// preemption alone held it back.
func (e *Engine) spanLength(preempted bool) int64 {
	if e.spans == nil || preempted {
		return 1
	}
	steps := e.decoders[len(e.decoders)-1].end - e.step
	free := e.cache.free + e.grown
	if int64(len(e.decoders))*(steps/int64(e.cfg.BlockTokens)+1) <= free || e.growth(steps) <= free {
		return steps
	}
	return int64(sort.Search(int(steps), func(k int) bool { return e.growth(int64(k)+1) > free }))
}

// growth is how many blocks the decoders fill anew in the next k steps. A
// sequence with c tokens in the cache starts a block at every step in which c
// is a multiple of the block size.
func (e *Engine) growth(k int64) int64 {
	size := uint32(e.cfg.BlockTokens) // 32-bit division is cheaper; k is below the longest answer
	blocks := int64(len(e.decoders)) * int64(uint32(k)/size)
	p := e.border
	for range uint32(k) % size {
		blocks += int64(e.phases[p])
		if p--; p >= size {
			p = size - 1
		}
	}
	return blocks
}

// advance moves on by k decode steps.
func (e *Engine) advance(k int64) {
	size := uint32(e.cfg.BlockTokens)
	e.step += k
	e.border = (e.border + size - uint32(k)%size) % size
}

// stepEnd is when the k-th step of the decode span in flight ends, k >= 0.
func (e *Engine) stepEnd(k int64) clock.Time {
	switch {
	case k == 0:
		return e.began
	case e.spans == nil:
		return e.began + e.cfg.Cost.StepTime(e.batch)
	}
	return e.began + e.spans.DecodeSpan(e.batch.Decodes, e.batch.DecodeContext, k)
}

// Closed reports whether a new arrival changes nothing before the span in
// flight ends, because prefill fills it or the head of the line is blocked.
func (e *Engine) Closed() bool { return e.closed }

// Cut ends the span in flight with the step under way at the instant now, and
// returns when that is. A step that begins at now is under way. It is due after
// an Enqueue on an engine that is not closed, and after each Abort.
func (e *Engine) Cut(now clock.Time) clock.Time {
	if steps := e.stepsBy(now) + 1; steps < e.length {
		e.length = steps
		e.ends = e.stepEnd(steps)
	}
	return e.ends
}

// stepsBy is how many steps of the span in flight have ended by now.
func (e *Engine) stepsBy(now clock.Time) int64 {
	if e.length <= 1 {
		return 0
	}
	guess := min(int64((now-e.began)/(e.stepEnd(1)-e.began)), e.length-1)
	if e.stepEnd(guess) <= now && e.stepEnd(guess+1) > now {
		return guess
	}
	return int64(sort.Search(int(e.length-1), func(k int) bool { return e.stepEnd(int64(k)+1) > now }))
}

// Counters returns what the destination has done.
func (e *Engine) Counters() Counters {
	c := e.counters
	c.Evicted = e.cache.evicted
	return c
}
