package scenarios

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"cacheroute/calib"
	"cacheroute/results"
	"cacheroute/workload"
)

// simulated says in a few lines what fleet met what requests, for those who
// read the results without the study.
func (r *Runner) simulated() ([]string, error) {
	s := r.Study
	p, err := calib.Load(s.Fleet.Preset)
	if err != nil {
		return nil, err
	}
	lowest, highest := slices.Min(s.LoadsQPS), slices.Max(s.LoadsQPS)
	f := r.load.Asked(highest)
	lines := []string{"Fleet: " + fleetWords(&s.Fleet, p) + "."}
	if r.trace != nil {
		h := r.trace.Header()
		lines = append(lines, fmt.Sprintf("Requests: the trace %s (%s), %s with %s.", filepath.Base(h.Path), h.Format,
			count(int(h.RowsKept), "request"), count(f.Keys, "routing key")))
	} else {
		w := &s.Workload.Synthetic
		keys := w.Keys.Name
		if w.Drift != nil {
			keys += ", " + driftWords(w.Drift)
		}
		lines = append(lines, fmt.Sprintf("Requests: %s (%s); prompts are %s; answers of %s.",
			count(f.Keys, "routing key"), keys, promptWords(&w.Prompt), lengthWords(w.Output)))
	}
	lines = append(lines, "In the mean: "+meanWords(f)+".")
	each := func(qps float64) string { return fmt.Sprintf("%.3g", qps/float64(s.Fleet.Destinations)) }
	load := fmt.Sprintf("Load: %.6g requests/s, %s for each server.", lowest, each(lowest))
	if lowest < highest {
		load = fmt.Sprintf("Load: %.6g to %.6g requests/s, %s to %s for each server.", lowest, highest, each(lowest), each(highest))
	}
	return append(lines, load), nil
}

// Rules names the rule of each policy by its label.
func (r *Runner) Rules() map[string]string {
	rules := map[string]string{}
	for i := range r.Study.Policies {
		rules[r.Study.Policies[i].Label] = r.Study.Policies[i].Name
	}
	return rules
}

// fleetWords says how many servers there are, of what.
func fleetWords(f *Fleet, p *calib.Preset) string {
	servers := count(f.Destinations, "server")
	if setup := p.Bench.Setup; setup.TensorParallel > 0 {
		servers += fmt.Sprintf(" x %s", count(setup.TensorParallel, "GPU"))
	}
	return fmt.Sprintf("%s of preset %s (%s)", servers, p.Name, p.Description)
}

// meanWords says what a workload comes to, as far as that is known beforehand.
func meanWords(f workload.Figures) string {
	var parts []string
	for _, p := range []struct {
		figure float64
		text   string
	}{
		{f.Gini, fmt.Sprintf("a Gini coefficient of the keys of %.3f", f.Gini)},
		{f.TopShare, topWords(f.TopShare) + " % of the requests for the most frequent key"},
		{f.PromptTokens, whole(f.PromptTokens) + " tokens a prompt"},
		{f.OutputTokens, whole(f.OutputTokens) + " tokens an answer"},
	} {
		if !math.IsNaN(p.figure) {
			parts = append(parts, p.text)
		}
	}
	return list(parts)
}

// topWords is a share in % with two digits.
func topWords(share float64) string {
	if share > 0.995 {
		return "100"
	}
	return fmt.Sprintf("%.2g", 100*share)
}

// originCounts says how many numbers of the fleet are measured, given, fitted
// and assumed.
func (s *Study) originCounts() (string, error) {
	all, err := s.Assumptions()
	if err != nil {
		return "", err
	}
	m := results.Manifest{Assumptions: all}
	var parts []string
	for _, o := range results.Origins {
		if n := m.Count(o); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	return list(parts), nil
}
