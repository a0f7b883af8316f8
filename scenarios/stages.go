package scenarios

import (
	"cacheroute/results"
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// staged is the course of rates of a study by stage, nil if it has none.
func (s *Study) staged() *workload.StagedArrivals {
	a, _ := s.Workload.Synthetic.Arrivals.Spec.(*workload.StagedArrivals)
	return a
}

// stage is one that is measured.
type stage struct {
	index      int // of all stages
	qps        float64
	fromS, toS float64
}

// stages are those that begin after the warm-up and have requests.
func (s *Study) stages() (all []stage) {
	a := s.staged()
	for i, from := range a.Starts() {
		if st := a.Stages[i]; from >= s.Measure.WarmupS && st.QPS > 0 {
			all = append(all, stage{i, st.QPS, from, from + st.DurationS})
		}
	}
	return all
}

// checkStages checks what only a study by stage is held to.
func (s *Study) checkStages(c *checker) {
	a := s.staged()
	c.want(a != nil, "measure.by_stage: wanted with workload.arrivals of name stages only")
	c.want(s.Measure.DurationS == 0, "measure.duration_s: must be 0 with by_stage, as each stage has its own, got %v", s.Measure.DurationS)
	if a == nil || a.Check() != nil {
		return
	}
	requests := a.Requests()
	c.want(requests <= maxRequests, "workload.arrivals: %.3g requests in a run, wanted at most %.0e", requests, maxRequests)
	rates := map[float64]bool{}
	for _, st := range s.stages() {
		c.want(!rates[st.qps], "workload.arrivals.stages.%d: second measured stage of %v requests/s, wanted one of each load", st.index, st.qps)
		rates[st.qps] = true
	}
	c.want(len(rates) > 0, "measure.warmup_s: no stage with requests begins after %v s", s.Measure.WarmupS)
	for i, q := range s.LoadsQPS {
		c.want(rates[q], "loads_qps.%d: read %v, wanted the rate of a measured stage", i, q)
	}
}

// stageRates are the loads of a study by stage.
func (s *Study) stageRates() (rates []float64) {
	for _, st := range s.stages() {
		rates = append(rates, st.qps)
	}
	return rates
}

// stageWindow is when the stage of the given rate is. The study has passed Check.
func (s *Study) stageWindow(qps float64) results.Window {
	for _, st := range s.stages() {
		if st.qps == qps {
			return results.Window{From: clock.FromSeconds(st.fromS), To: clock.FromSeconds(st.toS)}
		}
	}
	panic("scenarios: no stage of this load")
}

// offered is the load at which the workload of a cell is opened: by stage, that
// of the whole course.
func (r *Runner) offered(loadQPS float64) float64 {
	if r.Study.Measure.ByStage {
		return r.Study.staged().QPS()
	}
	return loadQPS
}
