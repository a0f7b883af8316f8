package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// capacityText is a capacity such as "176 ± 11.1", "50 (<60)", "<30" or
// ">=40 ± 20", or "90?" where cells are missing.
func (s *Summary) capacityText(policy string, slo float64) string {
	r := s.capacity(policy, slo)
	if r == nil {
		return "-"
	}
	mean := short(float64(r.QPS.Mean))
	switch r.Censor {
	case CensorLeft:
		return "<" + Shortly(s.lowestLoad(policy, r.PerSeed[0].Seed))
	case CensorRight:
		return ">" + mean
	case CensorOpen:
		return mean + "?"
	case CensorMixed:
		mean = ">=" + mean
	}
	return mean + spread(r.QPS, s.rungs(r))
}

// CapacityWords is a capacity, and what how many seeds take.
func (s *Summary) CapacityWords(r *CapacityRow, unit string) string {
	return fmt.Sprintf("%s %s; %s", s.capacityText(r.Policy, r.SLO), unit, r.bySeed(unit))
}

// spread words the interval of a capacity. None is narrower than the loads are
// apart, which the seeds cannot tell: then it is the next load. None reaches
// below 0.
func spread(i Interval, r rungs) string {
	half := i.HalfWidth()
	switch {
	case r.hide(i):
		return " (<" + short(r.next) + ")"
	case !half.Finite() || half == 0:
		return ""
	case i.Lo < 0:
		return " (0-" + short(float64(i.Hi)) + ")"
	}
	return " ± " + short(float64(half))
}

// rungs are the loads around some knees.
type rungs struct {
	next float64 // mean of the loads above each, which its seed does not take: the true mean lies below it
	gap  float64 // largest step between the lowest and the highest knee, or to the next load if all are one
}

func newRungs(loads, knees []float64) rungs {
	if len(knees) == 0 {
		return rungs{next: math.Inf(1)}
	}
	r := rungs{}
	for _, k := range knees {
		r.next += above(loads, k) / float64(len(knees))
	}
	low, high := slices.Min(knees), slices.Max(knees)
	for at := low; at < high || at == low; {
		next := above(loads, at)
		r.gap = max(r.gap, next-at)
		at = next
	}
	return r
}

// hide reports whether an interval says less than the rungs do. At the top of the
// ladder there is none to say anything.
func (r rungs) hide(i Interval) bool {
	return !math.IsInf(r.next, 1) && !(2*float64(i.HalfWidth()) >= r.gap)
}

// rungs are those around the knees of a row.
func (s *Summary) rungs(row *CapacityRow) rungs {
	knees := make([]float64, len(row.PerSeed))
	for i, k := range row.PerSeed {
		knees[i] = k.QPS
	}
	return newRungs(s.loadsOf(row.Policy), knees)
}

// loadsOf are the loads that a policy has run, by size.
func (s *Summary) loadsOf(policy string) (loads []float64) {
	for i := range s.Ladder {
		if r := &s.Ladder[i]; r.Policy == policy {
			loads = append(loads, r.LoadQPS)
		}
	}
	slices.Sort(loads)
	return loads
}

// above is the lowest of the sorted loads above one.
func above(loads []float64, load float64) float64 {
	for _, l := range loads {
		if l > load {
			return l
		}
	}
	return math.Inf(1)
}

// bySeed says what how many seeds take: "160 QPS in all 5 seeds, 180 in 4 of 5".
func (r *CapacityRow) bySeed(unit string) string {
	var knees []float64
	for _, k := range r.PerSeed {
		if k.QPS > 0 {
			knees = append(knees, k.QPS)
		}
	}
	slices.Sort(knees)
	steps := slices.Compact(slices.Clone(knees))
	var parts []string
	for _, i := range evenly(len(steps), 4) {
		n := len(knees) - slices.Index(knees, steps[i])
		parts = append(parts, fmt.Sprintf("%s in %d of %d", Shortly(steps[i]), n, len(r.PerSeed)))
	}
	if len(parts) == 0 {
		return "no load tried"
	}
	first := Shortly(steps[0]) + " " + unit
	switch {
	case len(r.PerSeed) == 1:
		return first + " (one seed)"
	case len(knees) == 2 && len(r.PerSeed) == 2:
		parts[0] = first + " in both seeds"
	case len(knees) == len(r.PerSeed):
		parts[0] = fmt.Sprintf("%s in all %d seeds", first, len(knees))
	default:
		parts[0] = fmt.Sprintf("%s in %d of %d seeds", first, len(knees), len(r.PerSeed))
	}
	return strings.Join(parts, ", ")
}

// nearWords says what users see at the highest load tried that the capacity
// reaches.
func (s *Summary) nearWords(row *CapacityRow, unit string) string {
	var near *LadderRow
	for i := range s.Ladder {
		if r := &s.Ladder[i]; r.Policy == row.Policy && r.LoadQPS <= float64(row.QPS.Mean) && (near == nil || r.LoadQPS > near.LoadQPS) {
			near = r
		}
	}
	if near == nil { // some seeds fail at every load
		near = s.rung(row.Policy, slices.Min(s.loadsOf(row.Policy)))
	}
	return fmt.Sprintf("near it (%s %s): TTFT p50 %s s, TPOT p50 %s ms, E2E p99 %s s", Shortly(near.LoadQPS), unit,
		seconds(near.TTFTP50.Mean), milliseconds(near.TPOTP50.Mean), seconds(near.E2EP99.Mean))
}

func milliseconds(f Float) string {
	if !f.Finite() {
		return "-"
	}
	return short(1000 * float64(f))
}

// bestOther is the row that may be the best of the other policies. Of equal ones
// it is one that the ladder does not leave open.
func (s *Summary) bestOther(row *CapacityRow) (best *CapacityRow) {
	for i := range s.Capacity {
		other := &s.Capacity[i]
		if other.SLO != row.SLO || other == row {
			continue
		}
		order := 1
		if best != nil {
			order = cmp.Compare(s.upperBound(other), s.upperBound(best))
		}
		if order > 0 || order == 0 && other.Censor == CensorNone {
			best = other
		}
	}
	return best
}

// times words how much more a row takes than another, as far as the ladder
// tells; it is empty where that is nothing.
func (s *Summary) times(row, other *CapacityRow) string {
	ratio := float64(row.QPS.Mean) / s.upperBound(other)
	switch {
	case row.Censor == CensorOpen:
		return ""
	case row.Censor == CensorNone && other.Censor == CensorNone:
		return fmt.Sprintf("%.2f×", ratio)
	case ratio > 1:
		return fmt.Sprintf(">=%.2f×", ratio)
	}
	return ""
}

// multiplierText is the capacity of a policy over that of the best other one
// under the same objective, or a lower bound of it, empty if there is none.
func (s *Summary) multiplierText(policy string, slo float64) string {
	row := s.capacity(policy, slo)
	if row == nil {
		return ""
	}
	other := s.bestOther(row)
	if other == nil {
		return ""
	}
	return s.times(row, other)
}

// upperBound is the mean of the knees with each censored one at the highest
// value that it may have.
func (s *Summary) upperBound(row *CapacityRow) float64 {
	if row.Censor == CensorOpen {
		return math.Inf(1)
	}
	sum := 0.0
	for _, k := range row.PerSeed {
		switch k.Censor {
		case CensorLeft:
			sum += s.lowestLoad(row.Policy, k.Seed)
		case CensorRight:
			return math.Inf(1)
		default:
			sum += k.QPS
		}
	}
	return sum / float64(len(row.PerSeed))
}

// lowestLoad is the lowest load that a policy has run with a seed. Cells are
// sorted by load within a policy.
func (s *Summary) lowestLoad(policy string, seed uint64) float64 {
	for i := range s.Cells {
		if c := &s.Cells[i]; c.Policy == policy && c.Seed == seed {
			return c.LoadQPS
		}
	}
	return 0
}
