package results

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// verdict is what a study comes to, in the words of the page.
type verdict struct {
	Objective string   // what a load had to keep
	Figure    string   // the capacity, such as "172" or "> 300"; empty if no load passes
	Of        string   // what the figure is a mean of, empty if of nothing that differs
	Headline  string   // one sentence
	Facts     []string // what makes the figure worth something
	Others    []string // the same for the study's other objectives
	Doubts    []string // what speaks against it
}

// withoutAffinity is the policy that routes by load alone: what the others
// gain over it is what affinity is worth.
const withoutAffinity = "flat-lb"

func (r *Report) verdict() verdict {
	s := &r.Summary
	if len(s.Capacity) == 0 {
		return verdict{Headline: "This study has no objective, hence no verdict."}
	}
	slos := s.slos()
	slo := slos[0]
	v := verdict{Objective: fmt.Sprintf("p99 TTFT ≤ %s s and at most %s %% of requests failed", Shortly(slo), short(100*s.Capacity[0].MaxFailureRate))}
	if len(slos) > 1 {
		v.Objective += " (the first that the study lists)"
	}
	for _, other := range slos {
		if other != slo {
			v.Others = append(v.Others, fmt.Sprintf("p99 TTFT ≤ %s s: %s", Shortly(other), s.winner(other)))
		}
	}
	best := s.best(slo)
	if len(best) == 0 {
		s.noVerdict(&v, slo)
	} else {
		s.fillVerdict(&v, best, slo)
		v.Facts = append(v.Facts, r.perDestination(best[0])...)
	}
	v.Doubts = append(v.Doubts, s.generalDoubts(r.Manifest.Policies)...)
	v.Doubts = append(v.Doubts, r.Manifest.Warnings...)
	return v
}

// noVerdict is that of no policy that passes.
func (s *Summary) noVerdict(v *verdict, slo float64) {
	open := func(r CapacityRow) bool { return r.SLO == slo && r.Censor == CensorOpen }
	if slices.ContainsFunc(s.Capacity, open) {
		v.Headline = "No policy keeps the objective at any load that has run."
		return
	}
	low := s.lowestLoad(s.Capacity[0].Policy, s.Capacity[0].PerSeed[0].Seed)
	v.Headline = fmt.Sprintf("No policy keeps the objective, not even at %s requests/s, the lowest load tried.", Shortly(low))
	v.Doubts = append(v.Doubts, "The capacity lies below the ladder: add lower loads.")
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
	if times := s.multiplierText(best[0].Policy, slo); times != "" && len(best) == 1 {
		text += ", " + signs(times) + " the best other"
	}
	return text
}

// capacityWords is a capacity with the signs of typeset text.
func (s *Summary) capacityWords(policy string, slo float64) string {
	return signs(s.capacityText(policy, slo))
}

// signs sets a capacity or a multiple for a page.
func signs(text string) string {
	return strings.NewReplacer(">=", "≥\u00a0", "<", "<\u00a0", ">", ">\u00a0", "(0-", "(0–", " ", "\u00a0").Replace(text)
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
	figure, within := short(float64(row.QPS.Mean)), fmt.Sprintf("requests/s within p99 TTFT ≤ %s\u00a0s", Shortly(slo))
	v.Figure = figure
	seeds := s.seedWords(v, best)
	switch row.Censor {
	case CensorRight:
		v.Figure = "> " + figure
		v.Headline = fmt.Sprintf("%s %s more than %s\u00a0requests/s, the highest load tried, within p99 TTFT ≤ %s\u00a0s.", who, takes, figure, Shortly(slo))
		v.Doubts = append(v.Doubts, "The capacity lies above the ladder: add higher loads.")
	case CensorOpen:
		v.Figure = figure + "?"
		v.Headline = fmt.Sprintf("%s %s %s\u00a0%s in the cells that have run; others may move that.", who, takes, figure, within)
	case CensorMixed:
		v.Figure = "≥ " + figure
		v.Headline = fmt.Sprintf("%s %s at least %s\u00a0%s%s.", who, takes, figure, within, seeds)
	default:
		v.Headline = fmt.Sprintf("%s %s %s\u00a0%s%s.", who, takes, figure, within, seeds)
	}
	v.Facts = append(v.Facts, s.intervalWords(row)...)
	v.Facts = append(v.Facts, sentence(strings.ReplaceAll(s.nearWords(row, "requests/s"), "inf", "∞")))
	for _, w := range row.Warnings {
		if row.Censor != CensorRight || w != row.censorWords(0) {
			v.Doubts = append(v.Doubts, sentence(w))
		}
	}
	if len(best) > 1 {
		v.Doubts = append(v.Doubts, "The best policies tie: the ladder of loads does not tell them apart.")
	} else if other := s.bestOther(row); other != nil {
		s.compare(v, row, other)
	}
	if row.Censor != CensorRight && row.Censor != CensorOpen {
		v.Doubts = append(v.Doubts, s.resolution(row))
	}
	flat := s.capacity(withoutAffinity, slo)
	if other := s.bestOther(row); flat != nil && flat != other && !slices.Contains(best, flat) {
		if times := signs(s.times(row, flat)); times != "" {
			v.Facts = append(v.Facts, fmt.Sprintf("%s %s, which routes by load alone: %s.", times, flat.Policy, s.capacityWords(flat.Policy, slo)))
		}
	}
}

// seedWords says beside the mean of the best policies what every seed takes.
func (s *Summary) seedWords(v *verdict, best []*CapacityRow) string {
	row, n := best[0], len(best[0].PerSeed)
	for _, other := range best {
		if !slices.Equal(other.PerSeed, row.PerSeed) {
			v.Of = fmt.Sprintf("mean of %d seeds", n)
			return ""
		}
	}
	same := !slices.ContainsFunc(row.PerSeed, func(k SeedCapacity) bool { return k.Capacity != row.PerSeed[0].Capacity })
	switch next := s.rungs(row).next; {
	case !same:
		v.Of = fmt.Sprintf("mean of %d seeds", n)
		return ", the mean of the seeds: " + row.bySeed("requests/s")
	case n == 1:
		return fmt.Sprintf(", and less than %s, the next load tried", Shortly(next))
	case n == 2:
		return fmt.Sprintf(" in both seeds, and less than %s, the next load tried", Shortly(next))
	default:
		return fmt.Sprintf(" in all %d seeds, and less than %s, the next load tried", n, Shortly(next))
	}
}

// intervalWords gives the interval of a capacity, or says why it would mislead.
func (s *Summary) intervalWords(row *CapacityRow) []string {
	rungs, half := s.rungs(row), row.QPS.HalfWidth()
	switch n := plural(len(row.PerSeed), "seed"); {
	case !half.Finite() || row.Censor == CensorRight || row.Censor == CensorOpen:
		return nil
	case half == 0:
		return []string{fmt.Sprintf("All seeds at the same rung of the ladder; the next is %s requests/s.", Shortly(rungs.next))}
	case rungs.hide(row.QPS):
		return []string{fmt.Sprintf("The %s differ by less than the loads tried: the mean lies between %s and %s requests/s.", n, short(float64(row.QPS.Mean)), short(rungs.next))}
	default:
		return []string{fmt.Sprintf("95 %% interval over %s: %s to %s requests/s.", n, short(max(0, float64(row.QPS.Lo))), short(float64(row.QPS.Hi)))}
	}
}

// sentence begins with a capital and ends with a point.
func sentence(text string) string {
	r := []rune(text)
	r[0] = unicode.ToUpper(r[0])
	return string(r) + "."
}

// compare words the lead over the best other policy, and whether it holds in
// the paired seeds.
func (s *Summary) compare(v *verdict, row, other *CapacityRow) {
	if times := signs(s.times(row, other)); times != "" {
		v.Facts = append(v.Facts, fmt.Sprintf("%s the best other policy, %s: %s.", times, other.Policy, s.capacityWords(other.Policy, row.SLO)))
	} else {
		v.Doubts = append(v.Doubts, fmt.Sprintf("No multiplier over %s: the ladder leaves a capacity open.", other.Policy))
	}
	if lead, ok := pairedLead(row, other); ok && lead.Lo.Finite() && !(lead.Lo > 0) {
		v.Doubts = append(v.Doubts, fmt.Sprintf("The lead over %s is not certain: %s requests/s over paired seeds, 95 %% interval %s to %s.",
			other.Policy, surplus(lead.Mean), surplus(lead.Lo), surplus(lead.Hi)))
	}
	for _, w := range other.Warnings {
		join := ": "
		if other.Censor != CensorMixed && other.Censor != CensorOpen && w == other.censorWords(s.lowestLoad(other.Policy, other.PerSeed[0].Seed)) {
			join = " is "
		}
		v.Doubts = append(v.Doubts, other.Policy+join+w+".")
	}
}

// perDestination divides the capacity by the size of the fleet.
func (r *Report) perDestination(row *CapacityRow) []string {
	for _, a := range r.Manifest.Assumptions {
		if n, ok := a.Value.(float64); ok && a.Parameter == "fleet.destinations" && n > 1 && row.Censor == CensorNone {
			return []string{fmt.Sprintf("%s requests/s for each of the %s destinations.", short(float64(row.QPS.Mean)/n), Shortly(n))}
		}
	}
	return nil
}
