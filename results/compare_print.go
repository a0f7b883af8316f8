package results

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
)

// red is what got worse.
const red = "\x1b[1;31m"

// columns of the printed comparison: how a figure is called and printed, and
// whether more of it is better (1) or worse (-1).
var columns = []struct {
	title  string
	width  int
	better float64
	scale  float64
	digits int // after the point, of a figure below 1
	change func(*ComparedRow) *Change
}{
	{"p99 TTFT, s", 21, -1, 1, 3, func(r *ComparedRow) *Change { return &r.TTFTP99 }},
	{"KV hit, %", 19, 1, 100, 2, func(r *ComparedRow) *Change { return &r.KVHit }},
	{"imbalance", 19, -1, 1, 2, func(r *ComparedRow) *Change { return &r.Imbalance }},
	{"failed, %", 17, -1, 100, 2, func(r *ComparedRow) *Change { return &r.FailureRate }},
	{"completed, QPS", 19, 1, 1, 2, func(r *ComparedRow) *Change { return &r.Throughput }},
}

// comparisonPrinter prints one comparison.
type comparisonPrinter struct {
	*Comparison
	Style
	w *bufio.Writer
}

// Print prints what differs, then the differences of the figures.
func (c *Comparison) Print(w io.Writer, st Style) error {
	p := &comparisonPrinter{c, st, bufio.NewWriter(w)}
	p.head()
	for _, rows := range c.groups() {
		p.table(rows)
	}
	p.capacities()
	fmt.Fprintln(p.w)
	if text := c.chance(); text != "" {
		p.line(dim, wrap("note: "+text, lineWidth, "      "))
	}
	for _, text := range c.LeftOut {
		p.line(dim, wrap("not compared: "+text, lineWidth, "      "))
	}
	return p.w.Flush()
}

func (p *comparisonPrinter) line(code, text string) { fmt.Fprintln(p.w, p.paint(code, text)) }

func (p *comparisonPrinter) head() {
	for _, side := range []struct {
		name string
		Side
	}{{"A", p.A}, {"B", p.B}} {
		p.line(bold, printable(fmt.Sprintf("%s: %s (study %s, cacheroute %s)", side.name, side.Dir, side.Study, side.Version)))
	}
	if len(p.Differences) == 0 {
		fmt.Fprintln(p.w, "the studies do not differ")
	} else {
		fmt.Fprintln(p.w, "what differs:")
	}
	for _, d := range p.Differences {
		fmt.Fprintln(p.w, "  "+wrap(printable(fmt.Sprintf("%s: %s in A, %s in B", d.Field, orNone(d.A), orNone(d.B))), lineWidth, "    "))
	}
	how := "paired by seed"
	if !p.Paired {
		how = "of unpaired seeds (Welch)"
	}
	fmt.Fprintln(p.w)
	fmt.Fprintln(p.w, wrap(fmt.Sprintf("A, then B - A with its 95 %% interval, %s; *: the interval leaves out 0", how), lineWidth, ""))
	if text := p.infinite(); text != "" {
		fmt.Fprintln(p.w, wrap(text, lineWidth, ""))
	}
}

// infinite explains an infinite p99, empty if there is none.
func (c *Comparison) infinite() string {
	for i := range c.Rows {
		if p := &c.Rows[i].TTFTP99; math.IsInf(float64(p.A), 1) || math.IsInf(float64(p.B), 1) {
			return "inf: over 1 % of the requests of a seed failed, so p99 is infinite; inf -: of both, so there is no difference"
		}
	}
	return ""
}

func orNone(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

// groups are the rows of each pair of policies.
func (c *Comparison) groups() (all [][]ComparedRow) {
	for rows := c.Rows; len(rows) > 0; {
		n := 1
		for n < len(rows) && rows[n].PolicyA == rows[0].PolicyA && rows[n].PolicyB == rows[0].PolicyB {
			n++
		}
		all = append(all, rows[:n])
		rows = rows[n:]
	}
	return all
}

func (r *ComparedRow) title() string {
	if r.PolicyA == r.PolicyB {
		return r.PolicyA
	}
	return r.PolicyA + " (A) and " + r.PolicyB + " (B)"
}

func (r *ComparedRow) seeds() string {
	if r.SeedsA == r.SeedsB {
		return plural(r.SeedsA, "seed")
	}
	return fmt.Sprintf("%d and %d seeds", r.SeedsA, r.SeedsB)
}

// table prints the rows of one pair of policies.
func (p *comparisonPrinter) table(rows []ComparedRow) {
	fmt.Fprintln(p.w)
	p.line(bold, rows[0].title()+", "+rows[0].seeds())
	line := pad("QPS", loadWidth)
	for _, column := range columns {
		line += pad(column.title+" ", column.width)
	}
	fmt.Fprintln(p.w, strings.TrimRight(line, " "))
	for i := range rows {
		line := pad(Shortly(rows[i].LoadQPS), loadWidth)
		for _, column := range columns {
			c := column.change(&rows[i])
			line += p.paint(p.verdict(c, column.better), pad(changeText(*c, column.scale, column.digits), column.width))
		}
		fmt.Fprintln(p.w, strings.TrimRight(line, " "))
	}
}

// verdict is the colour of a clear change.
func (p *comparisonPrinter) verdict(c *Change, better float64) string {
	switch {
	case !c.Clear():
		return ""
	case float64(c.Diff.Mean)*better > 0:
		return green
	}
	return red
}

// changeText is a figure of A and its change, such as "2.21 -0.30±0.05*".
func changeText(c Change, scale float64, digits int) string {
	return figure(scale*float64(c.A), digits) + " " + diffText(c, scale, digits)
}

// diffText is a change alone; without a star it ends in a blank.
func diffText(c Change, scale float64, digits int) string {
	text := withSign(scale*float64(c.Diff.Mean), digits)
	if half := c.Diff.HalfWidth(); half > 0 {
		text += "±" + figure(scale*float64(half), digits)
	}
	if c.Clear() {
		return text + "*"
	}
	return text + " "
}

// figure prints three digits or so; digits says how many come after the point
// of a figure below 1.
func figure(v float64, digits int) string {
	switch size := math.Abs(v); {
	case math.IsNaN(v):
		return "-"
	case math.IsInf(v, 0):
		return "inf"
	case size < 1:
		return fmt.Sprintf("%.*f", digits, v)
	case size < 9.995:
		return fmt.Sprintf("%.2f", v)
	case size < 99.95:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func withSign(v float64, digits int) string {
	switch {
	case math.IsInf(v, -1):
		return "-inf"
	case v >= 0:
		return "+" + figure(v, digits)
	}
	return figure(v, digits)
}

// chance reminds of what many intervals give by themselves.
func (c *Comparison) chance() string {
	intervals, clear, same := 0, 0, true
	for i := range c.Rows {
		for _, column := range columns {
			change := column.change(&c.Rows[i])
			same = same && (change.A == change.B || !change.A.Finite() && !change.B.Finite()) && !(change.Diff.HalfWidth() > 0)
			if change.Diff.HalfWidth() > 0 {
				intervals++
				if change.Clear() {
					clear++
				}
			}
		}
	}
	switch {
	case same:
		return "A and B are identical in every figure"
	case intervals == 0:
		return "no interval (one seed, or no difference between seeds): what differs may be chance"
	case intervals >= 10:
		return fmt.Sprintf("%d of %d intervals leave out 0; were nothing different, about %.0f would by chance", clear, intervals, math.Ceil(0.05*float64(intervals)))
	}
	return ""
}
