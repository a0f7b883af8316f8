package scenarios

import (
	"fmt"
	"io"
	"math"
	"slices"

	"cacheroute/policies"
	"cacheroute/results"
	"cacheroute/workload"
)

// SingleDestination is the study with one destination of its fleet, for the load
// that it takes within the objectives: q_cap of the paper's Eq. 1. It serves the
// given number of keys, the most frequent; 0: its share of the study's. Its loads
// are half of its share of the lowest load and twice that of the highest, between
// which Capacity seeks the knee, and the window is so long that it has as many requests as the fleet
// had. Whales are left out: they are what q_cap is for.
func (r *Runner) SingleDestination(keys int) (*Runner, error) {
	s := *r.Study
	w := &s.Workload.Synthetic
	if err := r.checkSearch(); err != nil {
		return nil, err
	}
	switch {
	case r.trace != nil:
		return nil, Badf("%s: read a trace, wanted generated requests: a part of a trace is not what one destination gets", s.Name)
	case w.Prompt.Cycle != "":
		return nil, Badf("%s: read prompt.cycle, wanted drawn keys", s.Name)
	}
	if err := r.CheckLoadVaries(); err != nil {
		return nil, err
	}
	all := r.load.Keys()
	if w.Whales != nil {
		all -= w.Whales.Count
	}
	if keys == 0 {
		keys = max(1, int(math.Round(float64(all)/float64(s.Fleet.Destinations))))
	}
	if keys < 1 || keys > all {
		return nil, Badf("--keys %d: wanted between 1 and the %d of the study, or 0", keys, all)
	}
	size := float64(s.Fleet.Destinations)
	w.Keys.Spec = workload.TopKeys(w.Keys.Spec, keys)
	w.Whales = nil
	s.Fleet.Destinations = 1
	s.Policies = []Policy{{Choice[policies.Spec]{"random", &policies.Random{}}, "one destination"}}
	s.LoadsQPS = []float64{digits(slices.Min(s.LoadsQPS)/size/2, 3), digits(slices.Max(s.LoadsQPS)/size*2, 3)}
	s.Measure.DurationS = min(maxSpanS, size*s.Measure.DurationS)
	s.Measure.WarmupQPS /= size
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("one destination of %s: %w", s.Name, err)
	}
	return Prepare(&s, nil)
}

// PrintQCap prints the knee of a single destination under each objective, and
// how it is given to a plan.
func (r *Runner) PrintQCap(w io.Writer, s *results.Summary, precision float64) error {
	m := &r.Study.Measure
	fmt.Fprintf(w, "%s: one destination with %s, sought from %s to %s requests/s to %.3g %%,\n", s.Study, count(r.load.Keys(), "key"),
		results.Shortly(slices.Min(r.Study.LoadsQPS)), results.Shortly(slices.Max(r.Study.LoadsQPS)), 100*precision)
	fmt.Fprintf(w, "each for %.6g s after %s\n\n", m.DurationS, warmupWords(m))
	for i := range s.Capacity {
		row := &s.Capacity[i]
		fmt.Fprintf(w, "p99 <= %s s: %s\n", results.Shortly(row.SLO), s.CapacityWords(row, "requests/s"))
	}
	for _, text := range s.Notes() {
		fmt.Fprintf(w, "note: %s\n", results.Wrap(text, len("note: "), "      "))
	}
	if first := &s.Capacity[0]; first.Censor == results.CensorNone {
		qcap := results.Shortly(digits(float64(first.QPS.Mean), 3))
		fmt.Fprintf(w, "\nq_cap for p99 <= %s s: --set policies.cacheroute.q_cap_qps=%s, or plan --q-cap %s\n", results.Shortly(first.SLO), qcap, qcap)
		return nil
	}
	_, err := fmt.Fprintf(w, "\nno q_cap: the knee lies outside these loads, wanted other --loads of the fleet\n")
	return err
}
