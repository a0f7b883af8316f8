package engine

import (
	"cmp"
	"slices"
)

// resume schedules the next chunk of the prefill under way. If its blocks
// cannot be had, the sequence, being the last admitted, is preempted itself, or
// refused if it is alone; then it reports false.
func (e *Engine) resume(budget *int32, out []Outcome) (bool, []Outcome) {
	j := e.prefilling
	tokens := min(*budget, j.target-j.computed)
	if int64(e.cache.blocksFor(j.computed+tokens)-j.blocks) > e.cache.free {
		e.leave(j)
		if len(e.decoders) == 0 {
			return true, e.refuse(j, out)
		}
		e.preempt(j)
		return false, out
	}
	e.schedule(j, tokens)
	*budget -= tokens
	return true, out
}

// schedule adds a chunk to the batch, allocates its blocks and makes the whole
// ones findable at once, so that a later request of the same step shares them.
func (e *Engine) schedule(j *Job, tokens int32) {
	e.cache.allocate(j, j.computed+tokens)
	e.cache.publish(j, (j.computed+tokens)/int32(e.cfg.BlockTokens))
	e.chunks = append(e.chunks, chunk{j, tokens})
	e.batch.Prefill += int64(tokens)
	e.batch.PrefillWork += int64(tokens) * (2*int64(j.computed) + int64(tokens))
	e.counters.Prefilled += int64(tokens)
	if j.Preemptions > 0 {
		e.counters.Recomputed += int64(tokens)
	}
}

// admit takes waiting jobs into the batch, first come first served, while
// budget, sequence limit and blocks allow. A job whose first chunk finds no
// blocks waits and blocks those behind it; if nothing else runs it never can
// and is refused.
func (e *Engine) admit(budget int32, out []Outcome) []Outcome {
	for budget > 0 && e.waiting.len() > 0 && len(e.decoders)+len(e.chunks) < e.cfg.MaxSeqs {
		j := e.waiting.front()
		// The last token is always computed, and only whole blocks are shared.
		hit, inFree := e.cache.match(j, e.cfg.reusable(j.target))
		computed := hit * int32(e.cfg.BlockTokens)
		tokens := min(budget, j.target-computed)
		if int64(e.cache.blocksFor(computed+tokens)-hit+inFree) > e.cache.free {
			if len(e.decoders)+len(e.chunks) > 0 {
				return out
			}
			e.waiting.popFront()
			out = e.refuse(j, out)
			continue
		}
		e.waiting.popFront()
		e.cache.acquire(j, hit)
		j.computed = computed
		j.status = prefilling
		j.order = e.admissions
		e.admissions++
		e.counters.Demanded += int64(j.target)
		e.counters.Reused += int64(computed)
		if !j.Admitted {
			j.Admitted = true
			j.countHits(computed)
		}
		e.schedule(j, tokens)
		budget -= tokens
	}
	return out
}

// countHits splits the cached prompt tokens by the kind of their segment.
func (j *Job) countHits(tokens int32) {
	for i := range j.Request.Prompt {
		if tokens <= 0 {
			return
		}
		s := &j.Request.Prompt[i]
		j.Hit[s.Kind] += min(tokens, s.Tokens)
		tokens -= s.Tokens
	}
}

// makeRoom allocates the blocks of the next step to the decoders one by one in
// order of admission when not all can have theirs: whenever none is free the
// last admitted sequence is preempted. It reports whether any was.
func (e *Engine) makeRoom(out []Outcome) (bool, []Outcome) {
	running := e.scratch[:0]
	for _, d := range e.decoders {
		running = append(running, d.job)
	}
	slices.SortFunc(running, byOrder)
	if e.prefilling != nil {
		running = append(running, e.prefilling)
	}
	e.scratch = running
	size := int32(e.cfg.BlockTokens)
	preempted := false
	for i := 0; i < len(running) && running[i] != e.prefilling; i++ {
		j := running[i]
		computed := j.computed + int32(e.step-j.joined)
		gone := false
		for computed%size == 0 && e.cache.free == 0 && !gone {
			last := running[len(running)-1]
			running = running[:len(running)-1]
			gone = last == j
			e.leave(last)
			if gone && len(running) == 0 {
				return preempted, e.refuse(j, out)
			}
			e.preempt(last)
			preempted = true
		}
		if gone {
			break
		}
		if computed%size == 0 {
			e.cache.take(1)
			e.grown++
		}
	}
	return preempted, out
}

// leave takes a running sequence out of the running set and keeps its blocks.
func (e *Engine) leave(j *Job) {
	if j == e.prefilling {
		e.prefilling = nil
		e.counters.Abandoned += int64(j.target - j.computed)
		return
	}
	e.removeDecoder(j)
}

// preempt frees a sequence that has left the running set and puts it at the
// head of the waiting line. It will compute its prompt and what it has
// generated again, except for blocks of its own that it still finds.
func (e *Engine) preempt(j *Job) {
	j.named = true
	e.vacate(j)
	e.counters.Preemptions++
	j.Preemptions++
	j.target = j.Request.PromptTokens + j.Emitted
	j.computed = 0
	j.status = waiting
	e.waiting.pushFront(j)
}

// refuse ends a job that is alone and does not fit.
func (e *Engine) refuse(j *Job, out []Outcome) []Outcome {
	e.vacate(j)
	j.status = absent
	return append(out, Outcome{j, RefusedGrowth})
}

func byOrder(a, b *Job) int { return cmp.Compare(a.order, b.order) }
