package results

import (
	"fmt"
	"slices"
	"strings"
)

const (
	kneeWidth  = 15 // of the column of an objective, without the multiplier
	timesWidth = 7  // of the multiplier, at least
)

// capacities prints the knees: a row a policy, a column an objective.
func (p *printer) capacities() {
	fmt.Fprintln(p.w)
	p.line(bold, fmt.Sprintf("capacity in QPS: highest load with p99 TTFT within the objective and at most %s %% failed,", short(100*p.Capacity[0].MaxFailureRate)))
	p.line(bold, fmt.Sprintf("mean ± 95 %% interval over %s", plural(p.seeds, "seed")))
	fmt.Fprintln(p.w)
	slos := p.slos()
	name := width("policy")
	for _, policy := range p.policies {
		name = max(name, width(policy))
	}
	times := timesWidth
	for i := range p.Capacity {
		r := &p.Capacity[i]
		times = max(times, 2+width(p.multiplierText(r.Policy, r.SLO)))
	}
	for at := 0; at < len(slos); {
		n := min(len(slos)-at, max(1, (lineWidth-name)/(kneeWidth+times)))
		p.capacityTable(name, times, slos[at:at+n])
		at += n
	}
	p.capacityLegend()
	p.verdict(slos[0])
}

// verdict says what the best policies take under the first objective, seed by
// seed, and what that is like.
func (p *printer) verdict(slo float64) {
	best := p.best(slo)
	if len(best) > 0 {
		fmt.Fprintln(p.w)
	}
	for _, row := range best {
		ran := ""
		if row.Censor == CensorOpen {
			ran = "of the cells that have run, "
		}
		text := fmt.Sprintf("p99 <= %s s: %s%s takes %s; %s", Shortly(slo), ran, row.Policy, row.bySeed("QPS"), p.nearWords(row, "QPS"))
		fmt.Fprintln(p.w, wrap(text, lineWidth, ""))
	}
}

func (p *printer) capacityTable(name, times int, slos []float64) {
	head := padRight("policy", name)
	best := make([]string, len(slos))
	for i, slo := range slos {
		head += pad("p99 <= "+Shortly(slo)+" s", kneeWidth) + pad("", times)
		best[i] = p.bestCapacity(slo)
	}
	p.line(bold, strings.TrimRight(head, " "))
	for _, policy := range p.policies {
		line := padRight(policy, name)
		for i, slo := range slos {
			code, mark := "", " "
			if policy == best[i] {
				code, mark = green, "*"
			}
			text := pad(p.capacityText(policy, slo), kneeWidth) + mark + pad(p.multiplierText(policy, slo), times-1)
			line += p.paint(code, text)
		}
		fmt.Fprintln(p.w, strings.TrimRight(line, " "))
	}
}

// bestCapacity is the policy whose capacity is above what any other's can be,
// empty if the ladder leaves that open.
func (s *Summary) bestCapacity(slo float64) string {
	best, most := "", 0.0
	for i := range s.Capacity {
		if r := &s.Capacity[i]; r.SLO == slo && float64(r.QPS.Mean) > most {
			best, most = r.Policy, float64(r.QPS.Mean)
		}
	}
	others := 0
	for i := range s.Capacity {
		r := &s.Capacity[i]
		switch {
		case r.SLO != slo:
		case r.Policy == best && r.Censor == CensorOpen:
			return ""
		case r.Policy != best:
			others++
			if s.upperBound(r) >= most {
				return ""
			}
		}
	}
	if others == 0 {
		return ""
	}
	return best
}

// capacityLegend explains the marks that occur.
func (p *printer) capacityLegend() {
	if marks := capacityMarks(p.Summary); len(marks) > 0 {
		fmt.Fprintln(p.w)
		p.line(dim, wrap(strings.Join(marks, "; "), lineWidth, ""))
	}
}

// capacityMarks explains the marks that occur in the capacities of some results.
// A multiplier occurs only where one result is printed by itself.
func capacityMarks(all ...*Summary) (marks []string) {
	censored := map[Censor]bool{}
	marked, times, near, cut := false, false, false, false
	for _, s := range all {
		for i := range s.Capacity {
			r := &s.Capacity[i]
			text := s.capacityText(r.Policy, r.SLO)
			censored[r.Censor] = true
			marked = marked || s.bestCapacity(r.SLO) != ""
			times = times || len(all) == 1 && s.multiplierText(r.Policy, r.SLO) != ""
			near = near || strings.Contains(text, "(<")
			cut = cut || strings.Contains(text, "(0-")
		}
	}
	for _, mark := range []struct {
		occurs bool
		text   string
	}{
		{marked, "*: the highest mean"},
		{times, "×: over the best other policy"},
		{censored[CensorLeft], "<: fails at the lowest load"},
		{censored[CensorRight], ">: passes at the highest"},
		{censored[CensorMixed], ">=: some seeds do either"},
		{censored[CensorOpen], "?: of the cells that have run; others may move it"},
		{near, "(<b): less than b, the next load; the seeds differ by less than that"},
		{cut, "(0-b): 95 % interval, cut at 0"},
	} {
		if mark.occurs {
			marks = append(marks, mark.text)
		}
	}
	return marks
}

// capacity is the row of a policy under an objective, nil if it has none.
func (s *Summary) capacity(policy string, slo float64) *CapacityRow {
	i := slices.IndexFunc(s.Capacity, func(r CapacityRow) bool { return r.Policy == policy && r.SLO == slo })
	if i < 0 {
		return nil
	}
	return &s.Capacity[i]
}
