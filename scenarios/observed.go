package scenarios

import (
	"fmt"
	"math"

	"cacheroute/calib"
	"cacheroute/results"
)

// sameRate is how far a load may be from the recorded rate to be called it.
const sameRate = 0.01

// Observe adds what the servers of the recorded requests have counted.
func (r *Runner) Observe(c calib.Counters) {
	r.counted = &c
	text := "observed by the servers' counters:"
	if c.Queried > 0 {
		text += fmt.Sprintf(" KV hit %.1f %% of %.0f prompt tokens", 100*c.KVHit(), c.Queried)
	}
	if c.TTFTs > 0 {
		text += fmt.Sprintf(" TTFT mean %.3g s of %.0f requests", c.TTFTMeanS(), c.TTFTs)
	}
	r.Notices = append(r.Notices, text)
}

// observedWords says what the recorded service did, empty if the trace does not
// tell.
func (r *Runner) observedWords() string {
	o := r.trace.Header().Observed
	if o.HitRequests == 0 && o.TTFTs == 0 {
		return ""
	}
	text := "observed by the recorded service, under a routing that the trace does not name:"
	if o.HitRequests > 0 {
		text += fmt.Sprintf(" KV hit %.1f %% (%s)", 100*o.KVHit, count(o.HitRequests, "request"))
	}
	if o.TTFTs > 0 {
		text += fmt.Sprintf(" TTFT p50 %.3g s, p99 %.3g s (%s)", o.TTFTP50S, o.TTFTP99S, count(o.TTFTs, "request"))
	}
	return text
}

// Predicted holds each policy at the recorded rate against what was observed:
// nothing if nothing was, or no load is near that rate.
func (r *Runner) Predicted(s *results.Summary) (lines []string) {
	if r.trace == nil {
		return nil
	}
	h := r.trace.Header()
	for i := range s.Ladder {
		row := &s.Ladder[i]
		if d := row.LoadQPS/h.QPS - 1; d < -sameRate || d > sameRate {
			continue
		}
		line := ""
		hit := math.NaN()
		switch {
		case r.counted != nil:
			hit = r.counted.KVHit()
			if r.counted.TTFTs > 0 {
				line = against(line, "TTFT mean", r.mean(s, row), r.counted.TTFTMeanS())
			}
		case h.Observed.HitRequests > 0:
			hit = h.Observed.KVHit
		}
		if h.Observed.TTFTs > 0 {
			line = against(line, "TTFT p50", float64(row.TTFTP50.Mean), h.Observed.TTFTP50S)
			line = against(line, "p99", float64(row.TTFTP99.Mean), h.Observed.TTFTP99S)
		}
		if !math.IsNaN(hit) && row.KVHit.Mean.Finite() {
			line = fmt.Sprintf(" KV hit %.1f %% (%+.1f points)", 100*float64(row.KVHit.Mean), 100*(float64(row.KVHit.Mean)-hit)) + line
		}
		if line != "" {
			lines = append(lines, fmt.Sprintf("predicted at the recorded rate by %s:%s", row.Policy, line))
		}
	}
	return lines
}

// against adds a predicted number of seconds and its deviation.
func against(line, name string, predicted, observed float64) string {
	line += fmt.Sprintf(" %s %.3g s", name, predicted)
	if observed > 0 {
		line += fmt.Sprintf(" (%+.0f %%)", 100*(predicted/observed-1))
	}
	return line
}

// mean is the mean TTFT of a rung over its cells.
func (r *Runner) mean(s *results.Summary, row *results.LadderRow) float64 {
	sum, n := 0.0, 0.0
	for i := range s.Cells {
		if c := &s.Cells[i]; c.Policy == row.Policy && c.LoadQPS == row.LoadQPS {
			sum, n = sum+float64(c.TTFTMean), n+1
		}
	}
	return sum / n
}
