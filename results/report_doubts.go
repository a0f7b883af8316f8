package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// planner is the rule whose plan is made of rates that no operator knows.
const planner = "cacheroute"

// PlanDoubts is what speaks against a lead of the planning policy, nothing if it
// is not the best under any objective. rules names the rule of each policy; one
// that is not listed is its own.
func (s *Summary) PlanDoubts(rules map[string]string) []string {
	for _, slo := range s.slos() {
		for _, row := range s.best(slo) {
			if cmp.Or(rules[row.Policy], row.Policy) == planner {
				return []string{row.Policy + " plans with the true rates of the keys at each load (for a trace, the counts of the whole file), which an operator can only estimate: with past rates it may do worse"}
			}
		}
	}
	return nil
}

// generalDoubts are those that hold for the study as a whole.
func (s *Summary) generalDoubts(rules map[string]string) []string {
	var all []string
	for _, text := range append(s.PlanDoubts(rules), s.coldDoubt(), s.fewDoubt()) {
		if text != "" {
			all = append(all, text+".")
		}
	}
	return all
}

// coldDoubt names the policies that are slower at the lowest load than at the
// next: only there do caches fill so slowly that it shows.
func (s *Summary) coldDoubt() string {
	policies, _, _ := s.axes()
	var slow []string
	for _, policy := range policies {
		loads := s.loadsOf(policy)
		if len(loads) > 1 && s.rung(policy, loads[0]).TTFTP99.Mean > s.rung(policy, loads[1]).TTFTP99.Mean {
			slow = append(slow, policy)
		}
	}
	if slow == nil {
		return ""
	}
	return "Slowest at the lowest load, where caches fill last: " + strings.Join(slow, ", ") + "; a longer measure.warmup_s shows warm caches"
}

// fewDoubt counts the cells whose p99 is their slowest request.
func (s *Summary) fewDoubt() string {
	few, first := 0, ""
	for i := range s.Cells {
		if c := &s.Cells[i]; c.Requests < 100 {
			if few++; first == "" {
				first = fmt.Sprintf("%s, %s requests/s, seed %d", c.Policy, Shortly(c.LoadQPS), c.Seed)
			}
		}
	}
	if few == 0 {
		return ""
	}
	return fmt.Sprintf("Fewer than 100 requests: p99 is the maximum (%d of %d cells, the first %s); a longer measure.duration_s gives more", few, len(s.Cells), first)
}

// hitsMissing says why no cell has a hit rate, and nothing if one has.
func (s *Summary) hitsMissing() string {
	completed := false
	for i := range s.Cells {
		if s.Cells[i].KVHit.Finite() {
			return ""
		}
		completed = completed || s.Cells[i].Completed > 0
	}
	if !completed {
		return "No request reached a batch, so there are no hits to show."
	}
	return "The trace does not say what prompts share, so hits are unknown, which is not 0: every prompt was computed whole, " +
		"and all latencies are those of a fleet that reuses nothing. A stated model of what prompts share (workload.trace.prompt, --assume) gives hits that rest on it."
}

// pairedLead is the difference of the knees of two policies seed by seed. There
// is none where one is censored or a seed has no counterpart.
func pairedLead(a, b *CapacityRow) (Interval, bool) {
	if a.Censor != CensorNone || b.Censor != CensorNone || len(a.PerSeed) != len(b.PerSeed) {
		return Interval{}, false
	}
	var d []float64
	for i, k := range a.PerSeed {
		if b.PerSeed[i].Seed != k.Seed {
			return Interval{}, false
		}
		d = append(d, k.QPS-b.PerSeed[i].QPS)
	}
	return NewInterval(d), true
}

func surplus(f Float) string {
	if math.Abs(float64(f)) < 0.05 {
		return "0"
	}
	return strings.Replace(fmt.Sprintf("%+.3g", float64(f)), "-", "−", 1)
}

// resolution says which loads around a capacity have been tried: a knee is one
// of them, and the truth lies between it and the next.
func (s *Summary) resolution(row *CapacityRow) string {
	_, loads, _ := s.axes()
	tried := make([]bool, len(loads)+1)
	for _, k := range row.PerSeed {
		if i, ok := slices.BinarySearch(loads, k.QPS); ok {
			tried[i], tried[i+1] = true, true
		}
	}
	var near []string
	for i, load := range loads {
		if tried[i] {
			near = append(near, Shortly(load))
		}
	}
	return fmt.Sprintf("A capacity is the highest load tried that passes; tried near it: %s requests/s.", strings.Join(near, ", "))
}
