package results

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// lineWidth is the width that the printed tables keep within.
const lineWidth = 100

// PrintLadder prints p99 TTFT and KV hit by load and policy, the capacities for
// each objective, and what is to be doubted of them, in plain text.
func PrintLadder(w io.Writer, s *Summary) error {
	out := bufio.NewWriter(w)
	policies, loads, seeds := s.axes()
	fmt.Fprintf(out, "%s: p99 TTFT in seconds (inf: over 1 %% failed) and KV hit in %%, mean over %s\n",
		s.Study, plural(seeds, "seed"))
	for rest := policies; len(rest) > 0; {
		n := ladderColumns(rest)
		s.printLadder(out, rest[:n], loads)
		rest = rest[n:]
	}
	if len(s.Capacity) > 0 {
		s.printCapacity(out, policies, seeds)
	}
	s.printNotes(out)
	return out.Flush()
}

// axes returns the policies in their order, the loads by size and the most
// seeds that a load has been run with.
func (s *Summary) axes() (policies []string, loads []float64, seeds int) {
	for i := range s.Ladder {
		r := &s.Ladder[i]
		if !slices.Contains(policies, r.Policy) {
			policies = append(policies, r.Policy)
		}
		if !slices.Contains(loads, r.LoadQPS) {
			loads = append(loads, r.LoadQPS)
		}
		seeds = max(seeds, r.Seeds)
	}
	slices.Sort(loads)
	return policies, loads, seeds
}

const (
	loadWidth   = 8  // of the column of loads
	ladderWidth = 13 // least width of a policy's pair of columns, with its margin
)

func ladderCell(policy string) int { return max(ladderWidth, utf8.RuneCountInString(policy)+2) }

// ladderColumns is the number of policies that fit on a line, at least one.
func ladderColumns(policies []string) int {
	width := loadWidth
	for n, p := range policies {
		width += ladderCell(p)
		if width > lineWidth && n > 0 {
			return n
		}
	}
	return len(policies)
}

func (s *Summary) printLadder(w io.Writer, policies []string, loads []float64) {
	line := func(first string, cells func(policy string) string) {
		b := pad(first, loadWidth)
		for _, p := range policies {
			b += pad(cells(p), ladderCell(p))
		}
		fmt.Fprintln(w, b)
	}
	fmt.Fprintln(w)
	line("QPS", func(p string) string { return p })
	line("", func(string) string { return "p99   hit" })
	for _, load := range loads {
		line(shortly(load), func(p string) string {
			for i := range s.Ladder {
				if r := &s.Ladder[i]; r.Policy == p && r.LoadQPS == load {
					return seconds(r.TTFTP99.Mean) + pad(percent(r.KVHit.Mean), 6)
				}
			}
			return "-"
		})
	}
}

func (s *Summary) printCapacity(w io.Writer, policies []string, seeds int) {
	fmt.Fprintf(w, "\ncapacity in QPS: highest load with p99 TTFT within the objective and at most %s %% failed,\n",
		short(100*s.Capacity[0].MaxFailureRate))
	fmt.Fprintf(w, "mean ± 95 %% interval over %s; ×: over the best other policy, where neither is censored\n\n",
		plural(seeds, "seed"))
	var slos []float64
	name := len("policy")
	for i := range s.Capacity {
		if slo := s.Capacity[i].SLO; !slices.Contains(slos, slo) {
			slos = append(slos, slo)
		}
	}
	for _, p := range policies {
		name = max(name, utf8.RuneCountInString(p))
	}
	const column, times = 22, 7 // the second is the part of the multiplier
	for at := 0; at < len(slos); {
		n := min(len(slos)-at, max(1, (lineWidth-name)/column))
		line := fmt.Sprintf("%-*s", name, "policy")
		for _, slo := range slos[at : at+n] {
			line += pad("p99 <= "+shortly(slo)+" s", column-times) + pad("", times)
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
		for _, p := range policies {
			line := p + strings.Repeat(" ", name-utf8.RuneCountInString(p))
			for _, slo := range slos[at : at+n] {
				line += pad(s.capacityText(p, slo), column-times) + pad(s.multiplierText(p, slo), times)
			}
			fmt.Fprintln(w, strings.TrimRight(line, " "))
		}
		at += n
	}
}

// capacityText is a capacity such as "176 ± 11.1", "<30" or ">=40 ± 20".
func (s *Summary) capacityText(policy string, slo float64) string {
	i := slices.IndexFunc(s.Capacity, func(r CapacityRow) bool { return r.Policy == policy && r.SLO == slo })
	if i < 0 {
		return "-"
	}
	r := &s.Capacity[i]
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

func (s *Summary) multiplierText(policy string, slo float64) string {
	m, err := s.Multiplier(policy, slo)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%.2f×", m)
}

// printNotes prints each warning once, with the number of rows that bear it.
func (s *Summary) printNotes(w io.Writer) {
	var texts []string
	where, count := map[string]string{}, map[string]int{}
	note := func(at, text string) {
		if count[text] == 0 {
			texts = append(texts, text)
			where[text] = at
		}
		count[text]++
	}
	for i := range s.Capacity {
		for _, text := range s.Capacity[i].Warnings {
			note(fmt.Sprintf("%s, p99 <= %s s", s.Capacity[i].Policy, shortly(s.Capacity[i].SLO)), text)
		}
	}
	for i := range s.Cells {
		c := &s.Cells[i]
		for _, text := range c.Warnings {
			note(fmt.Sprintf("%s, %s QPS, seed %d", c.Policy, shortly(c.LoadQPS), c.Seed), text)
		}
	}
	if len(texts) > 0 {
		fmt.Fprintln(w)
	}
	for _, text := range texts {
		if count[text] > 1 {
			where[text] += fmt.Sprintf(" and %d more", count[text]-1)
		}
		fmt.Fprintf(w, "note: %s (%s)\n", text, where[text])
	}
}

// pad sets text to the right of a column of the given width.
func pad(text string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text))) + text
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// seconds prints a latency to three digits or so.
func seconds(f Float) string {
	v := float64(f)
	switch {
	case math.IsNaN(v):
		return "-"
	case math.IsInf(v, 1):
		return "inf"
	case v < 9.995:
		return fmt.Sprintf("%.2f", v)
	case v < 99.95:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func percent(f Float) string {
	if !f.Finite() {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100*float64(f))
}

// short prints three digits, more before the point if there are more.
func short(v float64) string {
	if v >= 99.95 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
