package scenarios

import (
	"context"
	"math"

	"cacheroute/results"
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// Shadow is how the runs of a shadow replay differ from those of its study.
type Shadow struct {
	// PlanRates are, by seed, the requests per second by key that policies plan
	// with at every load, so that an assignment is preserved; nil: the true rates
	// of each load.
	PlanRates map[uint64][]float64
	// Parts is the measured part of a recording by seed; what arrives before it
	// warms the caches. nil: the window of the study.
	Parts map[uint64]Part
}

// Part is a span of a recording in its seconds from the first arrival on. One
// that ends with the recording holds its last request.
type Part struct {
	FromS float64 `json:"from_s"`
	ToS   float64 `json:"to_s"`
}

// Shadow returns the runner of a shadow replay of the same requests.
func (r *Runner) Shadow(s Shadow) *Runner {
	c := *r
	c.shadow = s
	return &c
}

// Rates is the true rate of each key at an offered load.
func (r *Runner) Rates(qps float64) ([]float64, error) {
	rates, err := r.load.Rates(r.offered(qps))
	return rates, bad(err)
}

// CheckLoadVaries refuses a study whose load is not its to choose.
func (r *Runner) CheckLoadVaries() error {
	s := r.Study
	switch {
	case s.Measure.ByStage:
		return Badf("%s: read measure.by_stage, wanted a ladder of loads", s.Name)
	case math.IsNaN(r.load.Asked(s.LoadsQPS[0]).QPS):
		return Badf("%s: read arrivals of name %s, whose rate follows from the answers, wanted offered loads", s.Name, s.Workload.Synthetic.Arrivals.Name)
	}
	return nil
}

// KeyNames names the keys where they have names that a router can know; nil if
// they are generated.
func (r *Runner) KeyNames() []string {
	if r.trace != nil {
		return r.trace.KeyNames()
	}
	if names := r.load.(*workload.Synthetic).KeyNames(); len(names) == r.load.Keys() {
		return names
	}
	return nil
}

// planRates is what a policy plans with.
func (r *Runner) planRates(c Cell) ([]float64, error) {
	if rates, ok := r.shadow.PlanRates[c.Seed]; ok {
		return rates, nil
	}
	return r.load.Rates(r.offered(c.LoadQPS))
}

// part is the window of a part of a recording that is replayed at a load.
func (r *Runner) part(p Part, qps float64) (w results.Window, end clock.Time) {
	h := r.trace.Header()
	pace := h.QPS / qps
	w = results.Window{From: clock.FromSeconds(p.FromS * pace), To: clock.FromSeconds(p.ToS * pace)}
	if p.ToS >= h.SpanS {
		w.To = clock.Never
	}
	return w, w.To
}

// Parallel gives the tasks 0 to n-1 to workers (0: one for each CPU) until all
// are done, one fails or the context ends.
func Parallel(ctx context.Context, workers, n int, do func(ctx context.Context, task int) error) error {
	if err := Deal(ctx, workers, n, do); err != nil {
		return err
	}
	return ctx.Err()
}
