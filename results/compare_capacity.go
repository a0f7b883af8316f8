package results

import (
	"fmt"
	"slices"
	"strings"
)

// capacities prints the knees of both and their difference.
func (p *comparisonPrinter) capacities() {
	if len(p.Capacity) == 0 {
		return
	}
	fmt.Fprintln(p.w)
	p.line(bold, "capacity in QPS")
	name := width("policy")
	for _, c := range p.Capacity {
		name = max(name, width(pairName(c.PolicyA, c.PolicyB)))
	}
	fmt.Fprintln(p.w, strings.TrimRight(padRight("policy", name)+pad("p99 <= s", 10)+pad("A", 16)+pad("B", 16)+pad("B - A ", 24)+pad("B / A", 8), " "))
	for _, c := range p.Capacity {
		code := ""
		if c.clear() {
			code = red
			if c.Diff.Mean > 0 {
				code = green
			}
		}
		line := padRight(pairName(c.PolicyA, c.PolicyB), name) + pad(Shortly(c.SLO), 10) + pad(p.knee(c.A, c.CensorA, c.rungsA), 16) +
			pad(p.knee(c.B, c.CensorB, c.rungsB), 16) + p.paint(code, pad(c.text(), 24)) + pad(c.ratio(), 8)
		fmt.Fprintln(p.w, strings.TrimRight(line, " "))
	}
	if slices.ContainsFunc(p.Capacity, func(c ComparedCapacity) bool { return c.narrow() }) {
		fmt.Fprintln(p.w)
		p.line(dim, wrap(nearLegend, lineWidth, ""))
	}
}

// nearLegend explains what is printed where the seeds differ by less than the
// loads that were tried.
const nearLegend = "a (<b): less than b, the next load, and the seeds differ by less than that; d (x..y): what those next loads leave open"

func pairName(a, b string) string {
	if a == b {
		return a
	}
	return a + " | " + b
}

// knee is a capacity as in the table of one result. The ladders are equal.
func (c *Comparison) knee(i Interval, censor Censor, r rungs) string {
	mean := short(float64(i.Mean))
	switch censor {
	case CensorLeft:
		lowest := c.Rows[0].LoadQPS
		for _, r := range c.Rows {
			lowest = min(lowest, r.LoadQPS)
		}
		return "<" + Shortly(lowest)
	case CensorRight:
		return ">" + mean
	case CensorOpen:
		return mean + "?"
	case CensorMixed:
		mean = ">=" + mean
	}
	return mean + spread(i, r)
}

// narrow reports whether the seeds tell less of the difference than the ladder.
func (c *ComparedCapacity) narrow() bool {
	r := rungs{next: c.rungsA.next + c.rungsB.next, gap: max(c.rungsA.gap, c.rungsB.gap)}
	return c.Bound == BoundNone && r.hide(c.Diff)
}

// known is the difference with its interval or, where that is narrower than the
// loads are apart, with what the next loads leave open.
func (c *ComparedCapacity) known() Interval {
	if c.narrow() {
		return Interval{c.Diff.Mean, c.B.Mean - Float(c.rungsA.next), Float(c.rungsB.next) - c.A.Mean}
	}
	return c.Diff
}

// text is the difference of two capacities, or what is known of it.
func (c *ComparedCapacity) text() string {
	switch c.Bound {
	case BoundOpen:
		return "open "
	case BoundLower:
		return ">= " + withSign(float64(c.Diff.Mean), 2) + " "
	case BoundUpper:
		return "<= " + withSign(float64(c.Diff.Mean), 2) + " "
	}
	d := c.known()
	if !c.narrow() {
		return changeOnly(d)
	}
	text := fmt.Sprintf("%s (%s..%s)", withSign(float64(d.Mean), 2), withSign(float64(d.Lo), 2), withSign(float64(d.Hi), 2))
	if c.clear() {
		return text + "*"
	}
	return text + " "
}

// clear reports whether the difference has a sign. A knee is a load that passes,
// the next one fails: a bound of 0 between two ladders is not reached.
func (c *ComparedCapacity) clear() bool {
	d := c.known()
	return (Change{Diff: d}).Clear() || c.narrow() && (d.Lo >= 0 || d.Hi <= 0)
}

func (c *ComparedCapacity) ratio() string {
	if !c.Ratio.Finite() {
		return ""
	}
	return fmt.Sprintf("%.2f×", float64(c.Ratio))
}

func changeOnly(d Interval) string {
	text := withSign(float64(d.Mean), 2)
	if half := d.HalfWidth(); half.Finite() {
		text += " ± " + figure(float64(half), 2)
	}
	if (Change{Diff: d}).Clear() {
		return text + "*"
	}
	return text + " "
}
