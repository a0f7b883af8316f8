package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	capacityWidth = 22 // of the column of an objective
	timesWidth    = 7  // of it, the multiplier
)

// capacities prints the knees: a row a policy, a column an objective.
func (p *printer) capacities() {
	fmt.Fprintln(p.w)
	p.line(bold, fmt.Sprintf("capacity in QPS: highest load with p99 TTFT within the objective and at most %s %% failed,", short(100*p.Capacity[0].MaxFailureRate)))
	p.line(bold, fmt.Sprintf("mean ± 95 %% interval over %s", plural(p.seeds, "seed")))
	fmt.Fprintln(p.w)
	slos := p.objectives()
	name := width("policy")
	for _, policy := range p.policies {
		name = max(name, width(policy))
	}
	for at := 0; at < len(slos); {
		n := min(len(slos)-at, max(1, (lineWidth-name)/capacityWidth))
		p.capacityTable(name, slos[at:at+n])
		at += n
	}
	p.capacityLegend()
}

func (p *printer) objectives() []float64 {
	var slos []float64
	for i := range p.Capacity {
		if slo := p.Capacity[i].SLO; !slices.Contains(slos, slo) {
			slos = append(slos, slo)
		}
	}
	return slos
}

func (p *printer) capacityTable(name int, slos []float64) {
	head := padRight("policy", name)
	best := make([]string, len(slos))
	for i, slo := range slos {
		head += pad("p99 <= "+shortly(slo)+" s", capacityWidth-timesWidth) + pad("", timesWidth)
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
			text := pad(p.capacityText(policy, slo), capacityWidth-timesWidth) + mark + pad(p.multiplierText(policy, slo), timesWidth-1)
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
		if r := &s.Capacity[i]; r.SLO == slo && r.Policy != best {
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
	var parts []string
	censored := map[Censor]bool{}
	marked, times := false, false
	for i := range p.Capacity {
		r := &p.Capacity[i]
		censored[r.Censor] = true
		marked = marked || p.bestCapacity(r.SLO) != ""
		times = times || p.multiplierText(r.Policy, r.SLO) != ""
	}
	if marked {
		parts = append(parts, "*: the highest mean")
	}
	if times {
		parts = append(parts, "×: over the best other policy")
	}
	if censored[CensorLeft] {
		parts = append(parts, "<: fails at the lowest load")
	}
	if censored[CensorRight] {
		parts = append(parts, ">: passes at the highest")
	}
	if censored[CensorMixed] {
		parts = append(parts, ">=: some seeds do either")
	}
	if len(parts) > 0 {
		fmt.Fprintln(p.w)
		p.line(dim, wrap(strings.Join(parts, "; "), lineWidth, ""))
	}
}

// capacityText is a capacity such as "176 ± 11.1", "<30" or ">=40 ± 20".
func (s *Summary) capacityText(policy string, slo float64) string {
	r := s.capacity(policy, slo)
	if r == nil {
		return "-"
	}
	mean := short(float64(r.QPS.Mean))
	switch r.Censor {
	case CensorLeft:
		return "<" + shortly(s.lowestLoad(policy, r.PerSeed[0].Seed))
	case CensorRight:
		return ">" + mean
	case CensorMixed:
		mean = ">=" + mean
	}
	if half := r.QPS.HalfWidth(); half.Finite() {
		return mean + " ± " + short(float64(half))
	}
	return mean
}

// capacity is the row of a policy under an objective, nil if it has none.
func (s *Summary) capacity(policy string, slo float64) *CapacityRow {
	i := slices.IndexFunc(s.Capacity, func(r CapacityRow) bool { return r.Policy == policy && r.SLO == slo })
	if i < 0 {
		return nil
	}
	return &s.Capacity[i]
}

func (s *Summary) multiplierText(policy string, slo float64) string {
	m, err := s.Multiplier(policy, slo)
	if err != nil || math.IsInf(m, 0) {
		return ""
	}
	return fmt.Sprintf("%.2f×", m)
}
