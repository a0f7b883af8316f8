package engine

import (
	"cmp"
	"slices"

	"cacheroute/sim/clock"
)

// Finish applies the span in flight, which ends now, and appends what came out
// of it in order of admission. No span is in flight afterwards.
func (e *Engine) Finish(now clock.Time, out []Outcome) []Outcome {
	n := int64(len(e.decoders))
	if n > 0 {
		e.cache.take(e.growth(e.length) - e.grown)
		e.advance(e.length)
		e.context += n * e.length
		e.counters.Decoded += n * e.length
	}
	e.counters.Steps += e.length
	e.counters.Busy += now - e.began
	e.length = 0
	if e.abortedJobs > 0 {
		out = e.finishDecodersByOrder(out)
	} else {
		out = e.finishDecoders(out)
	}
	e.prefilling = nil
	for _, c := range e.chunks {
		out = e.finishChunk(c, out)
	}
	e.chunks = e.chunks[:0]
	return out
}

// finishDecoders completes the sequences whose last token has come.
func (e *Engine) finishDecoders(out []Outcome) []Outcome {
	for k := len(e.decoders) - 1; k >= 0 && e.decoders[k].end == e.step; k-- {
		j := e.decoders[k].job
		e.settle(j)
		e.decoders = e.decoders[:k]
		out = e.complete(j, out)
	}
	return out
}

// finishDecodersByOrder does the same when clients have given up: those leave
// too, in order of admission among the others.
func (e *Engine) finishDecodersByOrder(out []Outcome) []Outcome {
	leaving := e.scratch[:0]
	for _, d := range e.decoders {
		if d.end == e.step || d.job.status == aborted {
			leaving = append(leaving, d.job)
		}
	}
	slices.SortFunc(leaving, byOrder)
	e.scratch = leaving
	for _, j := range leaving {
		gone := j.status == aborted
		emitted := j.Emitted
		e.removeDecoder(j)
		if gone {
			j.Emitted = emitted
			out = e.drop(j, out)
		} else {
			out = e.complete(j, out)
		}
	}
	return out
}

func (e *Engine) complete(j *Job, out []Outcome) []Outcome {
	e.vacate(j)
	j.status = absent
	return append(out, Outcome{j, Completed})
}

func (e *Engine) drop(j *Job, out []Outcome) []Outcome {
	e.abortedJobs--
	e.vacate(j)
	j.status = absent
	return append(out, Outcome{j, Dropped})
}

// vacate frees the blocks of a sequence that has left the running set. Its
// answer becomes findable now: earlier nobody can ask for it, as a prompt that
// holds an answer is sent after it.
func (e *Engine) vacate(j *Job) {
	e.cache.publish(j, j.computed/int32(e.cfg.BlockTokens))
	e.cache.release(j)
}

// finishChunk applies a chunk of prefill. A finished prefill emits a token at
// the end of its step; from then on the sequence decodes.
func (e *Engine) finishChunk(c chunk, out []Outcome) []Outcome {
	j := c.job
	j.computed += c.tokens
	if j.status == aborted {
		e.counters.Abandoned += int64(j.target - j.computed)
		return e.drop(j, out)
	}
	if j.computed < j.target {
		e.prefilling = j
		return out
	}
	if j.Emitted++; j.Emitted == 1 {
		out = append(out, Outcome{j, FirstToken})
	}
	if j.Emitted == j.Request.OutputTokens {
		return e.complete(j, out)
	}
	e.join(j)
	return out
}

// join makes a sequence a decoder.
func (e *Engine) join(j *Job) {
	j.status = decoding
	j.joined = e.step
	j.end = e.step + int64(j.Request.OutputTokens-j.Emitted)
	d := decoder{j.end, j.order, j}
	i, _ := slices.BinarySearchFunc(e.decoders, d, later)
	e.decoders = slices.Insert(e.decoders, i, d)
	e.context += int64(j.computed)
	e.phases[e.phase(j)]++
}

// later orders decoders: the first to end, and of those the first admitted,
// stands last.
func later(a, b decoder) int {
	return cmp.Or(cmp.Compare(b.end, a.end), cmp.Compare(b.order, a.order))
}

// phase is (computed - step) modulo the block size, constant while j decodes.
func (e *Engine) phase(j *Job) int64 {
	size := int64(e.cfg.BlockTokens)
	return ((int64(j.computed)-j.joined)%size + size) % size
}

// settle takes a decoder's part out of the sums and brings its own counts up to
// the current step.
func (e *Engine) settle(j *Job) {
	e.phases[e.phase(j)]--
	steps := int32(e.step - j.joined)
	j.computed += steps
	j.Emitted += steps
	j.joined = e.step
	e.context -= int64(j.computed)
	j.blocks = e.cache.blocksFor(j.computed)
}

func (e *Engine) removeDecoder(j *Job) {
	i, _ := slices.BinarySearchFunc(e.decoders, decoder{j.end, j.order, j}, later)
	e.decoders = slices.Delete(e.decoders, i, i+1)
	e.settle(j)
}

// Abort gives a job up at the instant now, for a client that has gone. A
// waiting job is forgotten at once and true is returned. A running one leaves
// at the end of the step under way, with a Dropped outcome. Either way the
// caller asks Cut for the new end of the span. Emitted is what the client has got.
func (e *Engine) Abort(j *Job, now clock.Time) bool {
	if j.status == waiting {
		e.waiting.remove(j)
		j.status = absent
		return true
	}
	if j.status == decoding {
		j.Emitted += int32(e.step - j.joined + e.stepsBy(now))
	}
	j.status = aborted
	e.abortedJobs++
	return false
}
