package scenarios

import (
	"fmt"

	"cacheroute/results"
)

// Observed holds what the recorded service did against what was simulated at
// the recorded rate: nothing if the trace does not tell, or no load is near it.
func (r *Runner) Observed(s *results.Summary) []string {
	if r.trace == nil {
		return nil
	}
	h := r.trace.Header()
	o := h.Observed
	if o.HitRequests == 0 && o.TTFTs == 0 {
		return nil
	}
	text := "observed by the recorded service, under a routing that the trace does not name:"
	if o.HitRequests > 0 {
		text += fmt.Sprintf(" KV hit %.1f %% (%s)", 100*o.KVHit, count(o.HitRequests, "request"))
	}
	if o.TTFTs > 0 {
		text += fmt.Sprintf(" TTFT p50 %.3g s, p99 %.3g s (%s)", o.TTFTP50S, o.TTFTP99S, count(o.TTFTs, "request"))
	}
	lines := []string{text}
	for i := range s.Ladder {
		row := &s.Ladder[i]
		if d := row.LoadQPS/h.QPS - 1; d < -sameRate || d > sameRate {
			continue
		}
		line := fmt.Sprintf("predicted at the recorded rate by %s:", row.Policy)
		if o.HitRequests > 0 && row.KVHit.Mean.Finite() {
			line += fmt.Sprintf(" KV hit %.1f %% (%+.1f points)", 100*float64(row.KVHit.Mean), 100*(float64(row.KVHit.Mean)-o.KVHit))
		}
		if o.TTFTs > 0 {
			line += fmt.Sprintf(" TTFT p50 %.3g s, p99 %.3g s", float64(row.TTFTP50.Mean), float64(row.TTFTP99.Mean))
			if o.TTFTP99S > 0 {
				line += fmt.Sprintf(" (%+.0f %%)", 100*(float64(row.TTFTP99.Mean)/o.TTFTP99S-1))
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// sameRate is how far a load may be from the recorded rate to be called it.
const sameRate = 0.01
