package engine

import (
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// Job is a request on a destination. The caller owns it, lends it to one
// engine with Enqueue and has it back when an outcome ends it.
type Job struct {
	Request *workload.Request
	Slot    int32 // the caller's own number for the job

	// What the engine reports; valid when the job has ended.
	Admitted    bool                         // reached a batch
	Hit         [workload.SegmentKinds]int32 // prompt tokens found in the cache at the first admission
	Emitted     int32                        // tokens that the client has received
	Preemptions int32

	sequence
}

// sequence is the engine's side of a job.
type sequence struct {
	order  int64 // admission number: running sequences are served in this order
	target int32 // tokens that the prefill computes: the prompt, and after a preemption what was generated
	// computed is the tokens in the KV cache. While the sequence decodes it
	// and Emitted are those of decode step joined (see Engine.settle).
	computed int32
	joined   int64
	end      int64 // decode step after which the sequence is complete
	status   status
	named    bool // its unique segments have chains, see part
	footprint
}

type status uint8

const (
	absent status = iota
	waiting
	prefilling
	decoding
	aborted // gone for the client, leaves at the end of the step in flight
)

// Reset prepares the job for a request and keeps its memory.
func (j *Job) Reset(r *workload.Request) {
	*j = Job{Request: r, Slot: j.Slot, sequence: sequence{footprint: footprint{holds: j.holds[:0]}}}
}

// Outcome is something that the caller must know of a job.
type Outcome struct {
	Job  *Job
	Kind OutcomeKind
}

// OutcomeKind is what happened to a job. All but FirstToken end it: the engine
// has forgotten the job.
type OutcomeKind uint8

// The outcomes of a job.
const (
	FirstToken    OutcomeKind = iota
	Completed                 // all tokens are out
	RefusedGrowth             // alone on the destination and still out of blocks
	Dropped                   // aborted earlier, now forgotten
)

// Counters are what a destination has done since the start of the run.
type Counters struct {
	Busy        clock.Time // time inside steps
	Steps       int64
	Demanded    int64 // tokens of all admissions, those after a preemption included
	Reused      int64 // of them found in the cache
	Prefilled   int64 // of them computed
	Recomputed  int64 // the part of Prefilled after a preemption
	Abandoned   int64 // of them neither, as the sequence left during its prefill
	Decoded     int64 // tokens computed by decode steps
	Preemptions int64
	Evicted     int64 // blocks whose cached content was dropped
}

// Destination is what a run needs of a destination: Engine, or the plain one of
// package oracle in tests.
//
// The caller owns time: after Start returned an instant, Finish is called at
// that instant, or at the one that Cut has moved it to; then Start again.
// Enqueue on an idle destination is followed by Start. See Engine.
type Destination interface {
	Enqueue(j *Job) bool
	Idle() bool
	Start(now clock.Time, out []Outcome) (clock.Time, []Outcome)
	Closed() bool
	Cut(now clock.Time) clock.Time
	Finish(now clock.Time, out []Outcome) []Outcome
	Abort(j *Job, now clock.Time) bool
	Counters() Counters
	Check() error
	Probe
}

// Probe is what a router may be told of a destination at an instant at which a
// step is under way, its blocks allocated, or none is.
type Probe interface {
	// Load is the requests in the waiting line and in the batch, and the share
	// of the KV blocks that running requests hold.
	Load(now clock.Time) (waiting, running int, kvUsage float64)
	// Cached is how many prompt tokens of the request an admission would find
	// in the cache.
	Cached(r *workload.Request, now clock.Time) int
}
