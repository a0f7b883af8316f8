// Package results turns the records of a run into numbers (exact quantiles,
// hit rates, knees with censoring, intervals) and numbers into files.
package results

import (
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// Status is how a request ended.
type Status uint8

// The ends of a request. All but Completed are failures.
const (
	Completed     Status = iota
	RefusedPrompt        // the prompt alone needs more KV blocks than the destination has
	RefusedGrowth        // alone on the destination and still out of KV blocks
	TimedOut             // the client gave up at its deadline
	Unfinished           // still in the system when the run was stopped
	StatusCount
)

var statusNames = [StatusCount]string{"completed", "refused_prompt", "refused_growth", "timed_out", "unfinished"}

func (s Status) String() string { return statusNames[s] }

// Window is the measured part of a run: requests that arrive in [From, To).
type Window struct{ From, To clock.Time }

// Holds reports whether a request that arrived at t is measured.
func (w Window) Holds(t clock.Time) bool { return w.From <= t && t < w.To }

// Record is what is known of one request once it has ended.
type Record struct {
	Index       int64
	Arrival     clock.Time // instant, at the router
	TTFT        clock.Time // span from arrival to first token; only if Emitted > 0
	E2E         clock.Time // span from arrival to the end, whatever the end was
	Handling    clock.Time // part of E2E after the last token, in the client
	Key         int32
	Destination int32
	Prompt      int32 // prompt tokens
	Output      int32 // tokens asked for
	Emitted     int32 // tokens received by the client
	Preemptions int32
	// Hit is the prompt tokens found in the cache when the request was first
	// admitted, by the kind of the segment that they belong to.
	Hit      [workload.SegmentKinds]int32
	Admitted bool // reached a batch, so that Hit says something
	Status   Status
}
