package results

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// lineWidth is the width that the printed tables keep within.
const lineWidth = 100

// Style says how tables are printed.
type Style struct {
	Color bool // ANSI colours, for a terminal
}

// The ANSI codes in use. Nothing is told by them alone.
const (
	bold  = "\x1b[1m"
	green = "\x1b[1;32m"
	dim   = "\x1b[2m"
	reset = "\x1b[0m"
)

// paint colours text that has been set to its width.
func (st Style) paint(code, text string) string {
	if !st.Color || code == "" || strings.TrimSpace(text) == "" {
		return text
	}
	return code + text + reset
}

// PrintLadder prints p99 TTFT and KV hit by load and policy, the capacities for
// each objective, and what is to be doubted of them, beginning with what the
// caller knows.
func PrintLadder(w io.Writer, s *Summary, st Style, doubts ...string) error {
	p := &printer{w: bufio.NewWriter(w), Summary: s, Style: st}
	p.policies, p.loads, p.seeds = s.axes()
	p.line(bold, fmt.Sprintf("%s: p99 TTFT in seconds (inf: over 1 %% failed) and KV hit in %%, mean over %s", s.Study, plural(p.seeds, "seed")))
	for rest := p.policies; len(rest) > 0; {
		n := ladderColumns(rest)
		p.ladder(rest[:n])
		rest = rest[n:]
	}
	p.legend()
	if len(s.Capacity) > 0 {
		p.capacities()
	}
	if len(p.Drift) > 0 {
		p.drifts()
	}
	p.notes(doubts)
	return p.w.Flush()
}

// PrintCapacity prints the capacities for each objective without the loads that
// a search has tried, and what is to be doubted of them.
func PrintCapacity(w io.Writer, s *Summary, st Style, doubts ...string) error {
	p := &printer{w: bufio.NewWriter(w), Summary: s, Style: st}
	p.policies, p.loads, p.seeds = s.axes()
	p.seeds = len(s.Capacity[0].PerSeed)
	p.capacities()
	p.notes(doubts)
	return p.w.Flush()
}

// printer prints one summary.
type printer struct {
	*Summary
	Style
	w        *bufio.Writer
	policies []string
	loads    []float64
	seeds    int
}

func (p *printer) line(code, text string) { fmt.Fprintln(p.w, p.paint(code, text)) }

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

// rung is the ladder of a policy at a load, nil if it has none.
func (s *Summary) rung(policy string, load float64) *LadderRow {
	for i := range s.Ladder {
		if r := &s.Ladder[i]; r.Policy == policy && r.LoadQPS == load {
			return r
		}
	}
	return nil
}

const (
	loadWidth   = 8  // of the column of loads
	ladderWidth = 13 // least width of a policy's pair of columns, with its margin
)

func ladderCell(policy string) int { return max(ladderWidth, width(policy)+2) }

// ladderColumns is the number of policies that fit on a line, at least one.
func ladderColumns(policies []string) int {
	sum := loadWidth
	for n, p := range policies {
		sum += ladderCell(p)
		if sum > lineWidth && n > 0 {
			return n
		}
	}
	return len(policies)
}

// ladder prints a table of some of the policies, with the best p99 of all.
func (p *printer) ladder(policies []string) {
	row := func(first string, cell func(policy string) (code, text string)) {
		line := pad(first, loadWidth)
		for _, policy := range policies {
			code, text := cell(policy)
			line += p.paint(code, pad(text, ladderCell(policy)))
		}
		fmt.Fprintln(p.w, strings.TrimRight(line, " "))
	}
	fmt.Fprintln(p.w)
	row("QPS", func(policy string) (string, string) { return bold, policy })
	row("", func(string) (string, string) { return dim, "p99   hit" })
	for _, load := range p.loads {
		best := p.lowestP99(load)
		row(Shortly(load), func(policy string) (string, string) {
			r := p.rung(policy, load)
			if r == nil {
				return "", "-"
			}
			mark, code := " ", ""
			if best != "" && seconds(r.TTFTP99.Mean) == best {
				mark, code = "*", green
			}
			return code, seconds(r.TTFTP99.Mean) + mark + pad(percent(r.KVHit.Mean), 5)
		})
	}
	if len(p.loads) > 1 {
		row("by load", func(policy string) (string, string) { return "", p.sparkline(policy, ladderCell(policy)-2) })
	}
}

// lowestP99 is the printed best p99 of a load, empty if there is no choice.
func (p *printer) lowestP99(load float64) string {
	best, n := math.Inf(1), 0
	for _, policy := range p.policies {
		if r := p.rung(policy, load); r != nil {
			n++
			best = min(best, cmpLast(float64(r.TTFTP99.Mean)))
		}
	}
	if n < 2 || math.IsInf(best, 1) {
		return ""
	}
	return seconds(Float(best))
}

// cmpLast puts what is undefined behind everything.
func cmpLast(v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(1)
	}
	return v
}

// bars are the heights of a sparkline.
var bars = []rune("▁▂▃▄▅▆▇█")

// scale is the lowest and the highest finite p99 of the ladder.
func (p *printer) scale() (lo, hi float64) {
	lo, hi = math.Inf(1), 0
	for i := range p.Ladder {
		if v := p.Ladder[i].TTFTP99.Mean; v.Finite() && v > 0 {
			lo, hi = min(lo, float64(v)), max(hi, float64(v))
		}
	}
	return lo, hi
}

// sparkline draws the p99 of a policy by load, on a logarithmic scale that all
// policies share. Where loads are more than cells, some are left out.
func (p *printer) sparkline(policy string, cells int) string {
	lo, hi := p.scale()
	n := min(cells, len(p.loads))
	line := make([]rune, n)
	for i := range line {
		at := 0
		if n > 1 {
			at = i * (len(p.loads) - 1) / (n - 1)
		}
		line[i] = '·'
		if r := p.rung(policy, p.loads[at]); r != nil {
			line[i] = bar(float64(r.TTFTP99.Mean), lo, hi)
		}
	}
	return string(line)
}

func bar(v, lo, hi float64) rune {
	switch {
	case math.IsNaN(v):
		return '·'
	case math.IsInf(v, 1):
		return '∞'
	case !(hi > lo) || v <= lo:
		return bars[0]
	}
	part := math.Log(v/lo) / math.Log(hi/lo)
	return bars[min(len(bars)-1, int(part*float64(len(bars))))]
}

// legend explains the marks of the ladder.
func (p *printer) legend() {
	var parts []string
	if len(p.policies) > 1 {
		parts = append(parts, "*: lowest p99 of the row")
	}
	if lo, hi := p.scale(); len(p.loads) > 1 && hi > 0 {
		text := fmt.Sprintf("by load: p99 from %s s ▁ to %s s █, log scale", seconds(Float(lo)), seconds(Float(hi)))
		least := len(p.loads)
		for _, policy := range p.policies {
			least = min(least, ladderCell(policy)-2)
		}
		if least < len(p.loads) {
			text += fmt.Sprintf(", evenly chosen among the %d loads", len(p.loads))
		}
		parts = append(parts, text)
	}
	if len(parts) > 0 {
		fmt.Fprintln(p.w)
		p.line(dim, wrap(strings.Join(parts, "; "), lineWidth, ""))
	}
}
