package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// verdict is what a study comes to, in the words of the page.
type verdict struct {
	Objective string   // what a load had to keep
	Figure    string   // the capacity, such as "172" or "> 300"; empty if no load passes
	Headline  string   // one sentence
	Facts     []string // what makes the figure worth something
	Others    []string // the same for the study's other objectives
	Doubts    []string // what speaks against it
}

// primary is the objective that the verdict is about: the middle one.
func primary(slos []float64) float64 {
	sorted := slices.Clone(slos)
	slices.Sort(sorted)
	return sorted[(len(sorted)-1)/2]
}

// withoutAffinity is the policy that routes by load alone: what the others
// gain over it is what affinity is worth.
const withoutAffinity = "flat-lb"

func (r *Report) verdict() verdict {
	s := &r.Summary
	if len(s.Capacity) == 0 {
		return verdict{Headline: "This study has no objective, hence no verdict."}
	}
	slo := primary(s.slos())
	v := verdict{Objective: fmt.Sprintf("p99 TTFT ≤ %s s and at most %s %% of requests failed", shortly(slo), short(100*s.Capacity[0].MaxFailureRate))}
	for _, other := range s.slos() {
		if other != slo {
			v.Others = append(v.Others, fmt.Sprintf("p99 TTFT ≤ %s s: %s", shortly(other), s.winner(other)))
		}
	}
	best := s.best(slo)
	if len(best) == 0 {
		low := s.lowestLoad(s.Capacity[0].Policy, s.Capacity[0].PerSeed[0].Seed)
		v.Headline = fmt.Sprintf("No policy keeps the objective, not even at %s requests/s, the lowest load tried.", shortly(low))
		v.Doubts = append(v.Doubts, "The capacity lies below the ladder: try lower loads.")
	} else {
		s.fillVerdict(&v, best, slo)
		v.Facts = append(v.Facts, r.perDestination(best[0])...)
	}
	v.Doubts = append(v.Doubts, r.Manifest.Warnings...)
	return v
}

// slos returns the objectives in their order.
func (s *Summary) slos() (slos []float64) {
	for i := range s.Capacity {
		if slo := s.Capacity[i].SLO; !slices.Contains(slos, slo) {
			slos = append(slos, slo)
		}
	}
	return slos
}

// best returns the rows that share the highest capacity, none if no policy
// passes at any load.
func (s *Summary) best(slo float64) (best []*CapacityRow) {
	for i := range s.Capacity {
		row := &s.Capacity[i]
		if row.SLO != slo || !(row.QPS.Mean > 0) {
			continue
		}
		if len(best) > 0 && row.QPS.Mean > best[0].QPS.Mean {
			best = best[:0]
		}
		if len(best) == 0 || row.QPS.Mean == best[0].QPS.Mean {
			best = append(best, row)
		}
	}
	return best
}

// winner names the best policy under an objective with its capacity.
func (s *Summary) winner(slo float64) string {
	best := s.best(slo)
	if len(best) == 0 {
		return "no policy keeps it at any load tried"
	}
	text := fmt.Sprintf("%s %s requests/s", listed(best), s.capacityWords(best[0].Policy, slo))
	if m, err := s.Multiplier(best[0].Policy, slo); err == nil && len(best) == 1 {
		text += fmt.Sprintf(", %.2f× the best other", m)
	}
	return text
}

// capacityWords is a capacity with the signs of typeset text.
func (s *Summary) capacityWords(policy string, slo float64) string {
	return strings.NewReplacer(">=", "≥ ", "<", "< ", ">", "> ", " ", " ").Replace(s.capacityText(policy, slo))
}

func listed(rows []*CapacityRow) string {
	var all []string
	for _, r := range rows {
		all = append(all, r.Policy)
	}
	last := len(all) - 1
	if last == 0 {
		return all[0]
	}
	return strings.Join(all[:last], ", ") + " and " + all[last]
}

// fillVerdict words the figure of the best policies and what holds it up.
func (s *Summary) fillVerdict(v *verdict, best []*CapacityRow, slo float64) {
	row, who := best[0], listed(best)
	takes := "takes"
	if len(best) > 1 {
		takes = "take"
	}
	figure := short(float64(row.QPS.Mean))
	switch row.Censor {
	case CensorRight:
		v.Figure = "> " + figure
		v.Headline = fmt.Sprintf("%s %s more than %s requests/s, the highest load tried, within p99 TTFT ≤ %s s.", who, takes, figure, shortly(slo))
		v.Doubts = append(v.Doubts, "The capacity lies above the ladder: try higher loads.")
	case CensorMixed:
		v.Figure = "≥ " + figure
		v.Headline = fmt.Sprintf("%s %s at least %s requests/s within p99 TTFT ≤ %s s.", who, takes, figure, shortly(slo))
	default:
		v.Figure = figure
		v.Headline = fmt.Sprintf("%s %s %s requests/s within p99 TTFT ≤ %s s.", who, takes, figure, shortly(slo))
	}
	if half := row.QPS.HalfWidth(); half.Finite() && row.Censor != CensorRight {
		v.Facts = append(v.Facts, fmt.Sprintf("95 %% interval over %s: %s to %s requests/s.", plural(len(row.PerSeed), "seed"),
			short(max(0, float64(row.QPS.Lo))), short(float64(row.QPS.Hi))))
	}
	for _, w := range row.Warnings {
		if row.Censor != CensorRight || !strings.HasPrefix(w, "censored") {
			v.Doubts = append(v.Doubts, w)
		}
	}
	if len(best) > 1 {
		v.Doubts = append(v.Doubts, "The best policies tie: the ladder of loads does not tell them apart.")
	} else if other := s.bestOther(row); other != nil {
		s.compare(v, row, other)
	}
	if row.Censor != CensorRight {
		v.Doubts = append(v.Doubts, s.resolution(row))
	}
	flat := s.capacity(withoutAffinity, slo)
	if other := s.bestOther(row); flat != nil && flat != other && !slices.Contains(best, flat) {
		if times := s.times(row, flat); times != "" {
			v.Facts = append(v.Facts, fmt.Sprintf("%s %s, which routes by load alone (%s).", times, flat.Policy, s.capacityWords(flat.Policy, slo)))
		}
	}
}

// bestOther is the row that may be the best of the other policies.
func (s *Summary) bestOther(row *CapacityRow) (best *CapacityRow) {
	for i := range s.Capacity {
		other := &s.Capacity[i]
		if other.SLO == row.SLO && other != row && (best == nil || s.upperBound(other) > s.upperBound(best)) {
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
	case row.Censor == CensorNone && other.Censor == CensorNone:
		return fmt.Sprintf("%.2f×", ratio)
	case ratio > 1:
		return fmt.Sprintf("At least %.2f×", ratio)
	}
	return ""
}

// compare words the lead over the best other policy, and whether it holds in
// the paired seeds.
func (s *Summary) compare(v *verdict, row, other *CapacityRow) {
	if times := s.times(row, other); times != "" {
		v.Facts = append(v.Facts, fmt.Sprintf("%s the best other policy, %s (%s).", times, other.Policy, s.capacityWords(other.Policy, row.SLO)))
	} else {
		v.Doubts = append(v.Doubts, fmt.Sprintf("No multiplier over %s: the ladder leaves a capacity open.", other.Policy))
	}
	if lead, ok := pairedLead(row, other); ok && lead.Lo.Finite() && !(lead.Lo > 0) {
		v.Doubts = append(v.Doubts, fmt.Sprintf("The lead over %s is not certain: %s requests/s over paired seeds, 95 %% interval %s to %s.",
			other.Policy, surplus(lead.Mean), surplus(lead.Lo), surplus(lead.Hi)))
	}
	for _, w := range other.Warnings {
		v.Doubts = append(v.Doubts, other.Policy+": "+w)
	}
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
			near = append(near, shortly(load))
		}
	}
	return fmt.Sprintf("A capacity is the highest load tried that passes; tried near it: %s requests/s.", strings.Join(near, ", "))
}

// perDestination divides the capacity by the size of the fleet.
func (r *Report) perDestination(row *CapacityRow) []string {
	for _, a := range r.Manifest.Assumptions {
		if n, ok := a.Value.(float64); ok && a.Parameter == "fleet.destinations" && n > 1 && row.Censor == CensorNone {
			return []string{fmt.Sprintf("%s requests/s for each of the %s destinations.", short(float64(row.QPS.Mean)/n), shortly(n))}
		}
	}
	return nil
}
