// Package oracle is the plain destination: one step an event, one entry a KV
// block, tokens hashed one by one. It is slow and obvious, and the engine must
// agree with it bit for bit; it serves tests only.
package oracle

import (
	"container/list"
	"encoding/binary"
	"fmt"

	"cacheroute/engine"
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// Engine is a destination that does what engine.Engine does, step by step.
type Engine struct {
	cfg     engine.Config
	running []*run // in order of admission
	waiting []*run
	free    *list.List     // of *block, next to be taken first
	index   map[int]*block // findable blocks by identity
	names   map[string]int // identity of (parent identity, tokens of the block)

	busy     bool
	began    clock.Time
	ends     clock.Time
	chunks   map[*run]int // tokens of each running sequence in the step
	counters engine.Counters
}

// block is one physical KV block.
type block struct {
	identity int // meaningful if indexed
	indexed  bool
	refs     int
	place    *list.Element // in the free list, while refs is 0
}

// run is a job's state.
type run struct {
	job      *engine.Job
	identity []int // of each whole block of prompt and output
	target   int
	computed int
	emitted  int
	decoding bool
	aborted  bool
	private  bool
	held     []*block
}

// New returns an idle destination.
func New(cfg engine.Config) *Engine {
	e := &Engine{cfg: cfg, free: list.New(), index: map[int]*block{}, names: map[string]int{}, chunks: map[*run]int{}}
	for range cfg.Blocks {
		b := &block{}
		b.place = e.free.PushBack(b)
	}
	return e
}

// identities names every whole block of the job's tokens by all tokens up to
// its end.
func (e *Engine) identities(r *workload.Request) []int {
	var tokens []byte
	add := func(s workload.Segment, n int) {
		for i := range s.Tokens {
			if s.ID != 0 {
				tokens = binary.LittleEndian.AppendUint64(tokens, s.ID)
				tokens = binary.LittleEndian.AppendUint64(tokens, uint64(i))
			} else {
				tokens = binary.LittleEndian.AppendUint64(tokens, uint64(r.Index))
				tokens = binary.LittleEndian.AppendUint64(tokens, 1<<63|uint64(n)<<32|uint64(i))
			}
		}
	}
	for n, s := range r.Prompt {
		add(s, n)
	}
	out := r.Output
	out.Tokens = r.OutputTokens
	add(out, len(r.Prompt))
	var ids []int
	size := 16 * e.cfg.BlockTokens
	for parent := 0; len(tokens) >= size; tokens = tokens[size:] {
		name := string(binary.LittleEndian.AppendUint64(nil, uint64(parent))) + string(tokens[:size])
		id, known := e.names[name]
		if !known {
			id = len(e.names) + 1
			e.names[name] = id
		}
		ids = append(ids, id)
		parent = id
	}
	return ids
}

func (e *Engine) blocksFor(tokens int) int {
	return (tokens + e.cfg.BlockTokens - 1) / e.cfg.BlockTokens
}

// Enqueue implements engine.Destination.
func (e *Engine) Enqueue(j *engine.Job) bool {
	if e.blocksFor(int(j.Request.PromptTokens)) > e.cfg.Blocks {
		return false
	}
	e.waiting = append(e.waiting, &run{job: j, identity: e.identities(j.Request), target: int(j.Request.PromptTokens)})
	return true
}

// Idle implements engine.Destination.
func (e *Engine) Idle() bool { return !e.busy }

// Closed implements engine.Destination: a step is never cut.
func (e *Engine) Closed() bool { return true }

// Cut implements engine.Destination.
func (e *Engine) Cut(clock.Time) clock.Time { return e.ends }

// Counters implements engine.Destination.
func (e *Engine) Counters() engine.Counters { return e.counters }

// take gives one block to r if there is one.
func (e *Engine) take(r *run) bool {
	front := e.free.Front()
	if front == nil {
		return false
	}
	b := e.free.Remove(front).(*block)
	if b.indexed {
		delete(e.index, b.identity)
		e.counters.Evicted++
	}
	*b = block{refs: 1}
	r.held = append(r.held, b)
	return true
}

// release makes the whole blocks of r findable, its answer with them, and frees
// all its blocks, the last first.
func (e *Engine) release(r *run) {
	e.publish(r, r.computed)
	for i := len(r.held) - 1; i >= 0; i-- {
		b := r.held[i]
		if b.refs--; b.refs == 0 {
			b.place = e.free.PushBack(b)
		}
	}
	r.held = nil
}

// publish makes the whole blocks of the first tokens findable, up to the first
// of which another copy is.
func (e *Engine) publish(r *run, tokens int) {
	for i := 0; i < tokens/e.cfg.BlockTokens && !r.private; i++ {
		b := r.held[i]
		if b.indexed {
			continue
		}
		if e.index[r.identity[i]] != nil {
			r.private = true
			return
		}
		b.indexed, b.identity = true, r.identity[i]
		e.index[b.identity] = b
	}
}

// preempt sends the last running sequence back to the head of the line.
func (e *Engine) preempt() {
	r := e.running[len(e.running)-1]
	e.running = e.running[:len(e.running)-1]
	e.release(r)
	if !r.decoding {
		e.counters.Abandoned += int64(r.target - r.computed)
	}
	e.counters.Preemptions++
	r.job.Preemptions++
	*r = run{job: r.job, identity: r.identity, emitted: r.emitted, target: int(r.job.Request.PromptTokens) + r.emitted}
	e.waiting = append([]*run{r}, e.waiting...)
}

// refuse ends the only running sequence.
func (e *Engine) refuse(r *run, out []engine.Outcome) []engine.Outcome {
	e.release(r)
	if !r.decoding {
		e.counters.Abandoned += int64(r.target - r.computed)
	}
	r.job.Emitted = int32(r.emitted)
	return append(out, engine.Outcome{Job: r.job, Kind: engine.RefusedGrowth})
}

// step is the step that Start forms.
type step struct {
	budget    int // tokens left
	batch     engine.Batch
	preempted bool
}

// Start implements engine.Destination: it forms one step.
func (e *Engine) Start(now clock.Time, out []engine.Outcome) (clock.Time, []engine.Outcome) {
	e.began = now
	clear(e.chunks)
	s := &step{budget: e.cfg.MaxBatchedTokens}
	out = e.serve(s, out)
	if !s.preempted {
		out = e.admit(s, out)
	}
	if len(e.chunks) == 0 {
		e.busy, e.ends = false, clock.Never
		if len(e.waiting) > 0 {
			return e.Start(now, out)
		}
		return e.ends, out
	}
	e.busy, e.ends = true, now+e.cfg.Cost.StepTime(s.batch)
	return e.ends, out
}

// schedule puts tokens of a running sequence, whose blocks it has, into the step.
func (e *Engine) schedule(s *step, r *run, tokens int) {
	e.chunks[r] = tokens
	s.budget -= tokens
	if r.decoding {
		s.batch.Decodes++
		s.batch.DecodeContext += int64(r.computed)
		return
	}
	e.publish(r, r.computed+tokens)
	s.batch.Prefill += int64(tokens)
	s.batch.PrefillWork += int64(tokens) * int64(2*r.computed+tokens)
	e.counters.Prefilled += int64(tokens)
	if r.job.Preemptions > 0 {
		e.counters.Recomputed += int64(tokens)
	}
}

// serve schedules the running sequences in order of admission. When one finds no
// block, the last is preempted.
func (e *Engine) serve(s *step, out []engine.Outcome) []engine.Outcome {
	for i := 0; i < len(e.running); i++ {
		r := e.running[i]
		tokens := 1
		if !r.decoding {
			tokens = min(s.budget, r.target-r.computed)
		}
		missing := e.blocksFor(r.computed+tokens) - len(r.held)
		for e.free.Len() < missing {
			if len(e.running) == 1 {
				e.running = nil
				return e.refuse(r, out)
			}
			itself := e.running[len(e.running)-1] == r
			e.preempt()
			s.preempted = true
			if itself {
				return out
			}
		}
		for range missing {
			e.take(r)
		}
		e.schedule(s, r, tokens)
	}
	return out
}

// admit takes waiting sequences into the step, first come first served.
func (e *Engine) admit(s *step, out []engine.Outcome) []engine.Outcome {
	for s.budget > 0 && len(e.waiting) > 0 && len(e.running) < e.cfg.MaxSeqs {
		r := e.waiting[0]
		hit, unheld := e.lookup(r)
		reused := len(hit) * e.cfg.BlockTokens
		tokens := min(s.budget, r.target-reused)
		missing := e.blocksFor(reused+tokens) - len(hit)
		if missing+unheld > e.free.Len() {
			if len(e.running) > 0 {
				return out
			}
			e.waiting = e.waiting[1:]
			r.computed, r.target = 0, 0
			out = e.refuse(r, out)
			continue
		}
		e.waiting = e.waiting[1:]
		for _, b := range hit {
			if b.refs++; b.refs == 1 {
				e.free.Remove(b.place)
			}
			r.held = append(r.held, b)
		}
		r.computed = reused
		e.running = append(e.running, r)
		e.counters.Demanded += int64(r.target)
		e.counters.Reused += int64(reused)
		countHits(r.job, reused)
		for range missing {
			e.take(r)
		}
		e.schedule(s, r, tokens)
	}
	return out
}

// lookup finds the resident leading blocks of a waiting sequence, but for the
// one with its last token, and how many of them nobody holds.
func (e *Engine) lookup(r *run) (hit []*block, unheld int) {
	for !e.cfg.NoPrefixCaching && len(hit) < (r.target-1)/e.cfg.BlockTokens {
		b := e.index[r.identity[len(hit)]]
		if b == nil {
			break
		}
		if b.refs == 0 {
			unheld++
		}
		hit = append(hit, b)
	}
	return hit, unheld
}

// countHits notes the hit tokens of a job's first admission by segment kind.
func countHits(j *engine.Job, reused int) {
	if j.Admitted {
		return
	}
	j.Admitted = true
	for _, s := range j.Request.Prompt {
		n := min(reused, int(s.Tokens))
		j.Hit[s.Kind] += int32(n)
		reused -= n
	}
}

// Finish implements engine.Destination.
func (e *Engine) Finish(now clock.Time, out []engine.Outcome) []engine.Outcome {
	e.busy = false
	e.counters.Steps++
	e.counters.Busy += now - e.began
	var stay []*run
	for _, r := range e.running {
		if r.decoding {
			e.counters.Decoded++
		}
		r.computed += e.chunks[r]
		done := r.decoding || r.computed == r.target
		if r.aborted {
			if !r.decoding {
				e.counters.Abandoned += int64(r.target - r.computed)
			}
			e.release(r)
			out = append(out, engine.Outcome{Job: r.job, Kind: engine.Dropped})
			continue
		}
		if done {
			r.decoding = true
			if r.emitted++; r.emitted == 1 {
				out = append(out, engine.Outcome{Job: r.job, Kind: engine.FirstToken})
			}
			r.job.Emitted = int32(r.emitted)
		}
		if r.emitted == int(r.job.Request.OutputTokens) {
			e.release(r)
			out = append(out, engine.Outcome{Job: r.job, Kind: engine.Completed})
			continue
		}
		stay = append(stay, r)
	}
	e.running = stay
	return out
}

// Abort implements engine.Destination.
func (e *Engine) Abort(j *engine.Job, _ clock.Time) bool {
	for i, r := range e.waiting {
		if r.job == j {
			e.waiting = append(e.waiting[:i:i], e.waiting[i+1:]...)
			return true
		}
	}
	for _, r := range e.running {
		if r.job == j {
			r.aborted = true
		}
	}
	return false
}

// Check implements engine.Destination.
func (e *Engine) Check() error {
	used := map[*block]bool{}
	for _, r := range e.running {
		for _, b := range r.held {
			used[b] = true
		}
	}
	if n := len(used) + e.free.Len(); n != e.cfg.Blocks {
		return fmt.Errorf("used and free blocks are %d, the destination has %d", n, e.cfg.Blocks)
	}
	return nil
}

// Load implements engine.Probe.
func (e *Engine) Load(clock.Time) (waiting, running int, kvUsage float64) {
	total := float64(e.cfg.Blocks)
	return len(e.waiting), len(e.running), (total - float64(e.free.Len())) / total
}

// Cached implements engine.Probe.
func (e *Engine) Cached(r *workload.Request, _ clock.Time) int {
	hit := 0
	for _, id := range e.identities(r)[:(int(r.PromptTokens)-1)/e.cfg.BlockTokens] {
		if e.index[id] == nil || e.cfg.NoPrefixCaching {
			break
		}
		hit++
	}
	return hit * e.cfg.BlockTokens
}
