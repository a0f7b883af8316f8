package scenarios

import (
	"math"

	"cacheroute/results"
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// warmupRate is the rate of the warm-up of a point, in requests/s.
func (m *Measure) warmupRate(loadQPS float64) float64 {
	if m.WarmupQPS > 0 {
		return m.WarmupQPS
	}
	return loadQPS
}

// span is how long the load has to last to have as many requests as a run of it.
func (m *Measure) span(loadQPS float64) float64 { return m.warmup(loadQPS) + m.DurationS }

// warmup is how long the load has to last to have as many requests as its
// warm-up.
func (m *Measure) warmup(loadQPS float64) float64 {
	return m.WarmupS * m.warmupRate(loadQPS) / loadQPS
}

// plain reports whether the warm-up is the beginning of the point.
func (m *Measure) plain() bool { return m.WarmupQPS == 0 && m.SettleS == 0 }

// window is the measured part of a run.
func (m *Measure) window() results.Window {
	w := results.Window{From: clock.FromSeconds(m.WarmupS + m.SettleS), To: clock.Never}
	if m.DurationS > 0 {
		w.To = w.From + clock.FromSeconds(m.DurationS)
	}
	return w
}

// checkWarmup checks a warm-up that is not the beginning of its point.
func (s *Study) checkWarmup(c *checker) {
	m := &s.Measure
	c.within("measure.warmup_qps", m.WarmupQPS, 0, 1e9)
	c.within("measure.settle_s", m.SettleS, 0, maxSpanS)
	if m.plain() {
		return
	}
	_, closed := s.Workload.Synthetic.Arrivals.Spec.(*workload.ClosedArrivals)
	c.want(s.Workload.Trace == nil && !closed && s.staged() == nil && s.Workload.Synthetic.Drift == nil,
		"measure.warmup_qps: with settle_s for a steady rate only, not for a trace, a closed loop, stages or drifting rates")
	c.want(m.WarmupS > 0, "measure.warmup_s: missing, wanted the length of the warm-up that warmup_qps and settle_s are of")
}

// warmed gives the requests of a steady rate the times of a warm-up at another
// rate, a pause, and the rate itself. Requests and their order stay.
type warmed struct {
	workload.Source
	stretch float64    // of time in the warm-up
	from    clock.Time // end of the warm-up, as the source has it
	shift   clock.Time // of what comes after
}

func (m *Measure) warmed(s workload.Source, loadQPS float64) workload.Source {
	if m.plain() {
		return s
	}
	from := clock.FromSeconds(m.warmup(loadQPS))
	return &warmed{s, loadQPS / m.warmupRate(loadQPS), from, clock.FromSeconds(m.WarmupS+m.SettleS) - from}
}

// Next implements workload.Source.
func (w *warmed) Next(r *workload.Request) bool {
	if !w.Source.Next(r) {
		return false
	}
	if r.At < w.from {
		r.At = clock.Time(math.Round(float64(r.At) * w.stretch))
		return true
	}
	r.At += w.shift
	return true
}
