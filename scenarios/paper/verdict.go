package paper

import (
	"math"
	"slices"

	"cacheroute/results"
	"cacheroute/scenarios"
)

// Verdict says how much of a number of the paper a simulation gives.
type Verdict string

// The verdicts, from the best down.
const (
	ByValue Verdict = "value" // within the tolerance of its kind, or in the paper's own interval
	ByRatio Verdict = "ratio" // its ratio to the reference of its rivals within 25 %
	ByOrder Verdict = "order" // its place among its rivals
	Miss    Verdict = "miss"
	NotRun  Verdict = "not run"
)

// Verdicts lists them in that order.
var Verdicts = []Verdict{ByValue, ByRatio, ByOrder, Miss, NotRun}

const (
	pointsNear   = 3.0  // of hits and other shares in per cent
	relativeNear = 0.25 // of latencies, ratios and the like
	rungsNear    = 1.0  // of capacities, on the ladder of the table
)

// kind is a sort of figure: how near is near, and how it is printed.
type kind struct {
	near   func(paper, simulated float64, ladder []float64) bool
	ratio  bool // can be compared as a ratio to a reference
	digits int
}

// kinds is the table of them. Names are those of tables.yaml.
var kinds = map[string]kind{
	"hit":        {nearPoints, true, 1},    // KV hit in per cent
	"capacity":   {nearRung, true, 0},      // requests/s
	"p99":        {nearRelative, true, 2},  // TTFT in seconds
	"imbalance":  {nearRelative, true, 2},  // largest over mean
	"failures":   {nearRelative, false, 2}, // per cent
	"multiplier": {nearRelative, false, 2}, // a capacity over another
	"points":     {nearPoints, false, 1},   // a difference of hits
	"churn":      {nearPoints, false, 1},   // per cent of keys
	"share":      {nearPoints, false, 1},   // per cent
	"gini":       {nearGini, false, 3},
	"ms":         {nearRelative, false, 0},
	"number":     {nearRelative, false, 0},
	"limit":      {notAbove, false, 0}, // the paper's number is not to be exceeded
	"setting":    {equal, false, 0},
}

func nearPoints(p, s float64, _ []float64) bool   { return math.Abs(s-p) <= pointsNear }
func nearGini(p, s float64, _ []float64) bool     { return math.Abs(s-p) <= pointsNear/100 }
func nearRelative(p, s float64, _ []float64) bool { return math.Abs(s-p) <= relativeNear*math.Abs(p) }
func notAbove(p, s float64, _ []float64) bool     { return s <= p }
func equal(p, s float64, _ []float64) bool        { return p == s }

func nearRung(p, s float64, ladder []float64) bool {
	return math.Abs(scenarios.Rung(s, ladder)-scenarios.Rung(p, ladder)) <= rungsNear+1e-9
}

// judged is what a verdict is given on.
type judged struct {
	kind             string
	ladder           []float64
	paper, simulated Number
	name             string // among its rivals
}

// byValue: within the tolerance, or in the interval that the paper prints. A
// share below a bound (<0.3) is one that is below it. A capacity below the ladder
// (<30) is at rung 0, which no truth can be far from; one above it (>500) can be
// anything, so it is near only to another above it.
func (c *judged) byValue() bool {
	p, s := c.paper, float64(c.simulated.Mean)
	switch {
	case !c.simulated.Mean.Finite():
		return false
	case p.Censor == results.CensorLeft && c.kind != "capacity":
		return s < float64(p.Mean)
	case (p.Censor == results.CensorRight) != (c.simulated.Censor == results.CensorRight):
		return false
	case p.Lo.Finite() && s >= float64(p.Lo) && s <= float64(p.Hi):
		return true
	}
	return kinds[c.kind].near(float64(p.Mean), s, c.ladder)
}

// byRatio: the ratio to the reference is the paper's within 25 %. There is no
// such ratio for the reference itself, nor if one of the four numbers is
// censored, zero or not finite.
func (c *judged) byRatio(reference *judged) bool {
	if reference == nil || reference.name == c.name || !kinds[c.kind].ratio {
		return false
	}
	for _, n := range []Number{c.paper, c.simulated, reference.paper, reference.simulated} {
		if n.Censor != results.CensorNone || !n.Mean.Finite() || n.Mean == 0 {
			return false
		}
	}
	paper := float64(c.paper.Mean / reference.paper.Mean)
	return nearRelative(paper, float64(c.simulated.Mean/reference.simulated.Mean), nil)
}

// byOrder: every rival stands on the side on which the paper has it. Where two
// numbers of the paper are within the tolerance of each other, the simulated
// ones may also be; equal ones must be. A number without a rival has no place.
func (c *judged) byOrder(rivals []*judged) bool {
	others := 0
	for _, r := range rivals {
		if r.name == c.name {
			continue
		}
		others++
		if !c.simulated.comparable() || !r.simulated.comparable() || !agree(c, r) {
			return false
		}
	}
	return others > 0
}

// comparable: a p99 can be infinite and still be the largest.
func (n Number) comparable() bool { return !math.IsNaN(float64(n.Mean)) }

// agree: the simulated numbers of a pair stand as the paper's do. Two that are
// both above the ladder say nothing of each other, so they agree only with two
// that are so in the paper.
func agree(a, b *judged) bool {
	if a.simulated.Censor == results.CensorRight && b.simulated.Censor == results.CensorRight {
		return a.paper.Censor == results.CensorRight && b.paper.Censor == results.CensorRight
	}
	near := func(x, y results.Float) bool {
		n := kinds[a.kind].near
		return x == y || n(float64(x), float64(y), a.ladder) || n(float64(y), float64(x), a.ladder)
	}
	paper, simulated := a.paper.Mean-b.paper.Mean, a.simulated.Mean-b.simulated.Mean
	tied := near(a.paper.Mean, b.paper.Mean) && near(a.simulated.Mean, b.simulated.Mean)
	return tied || paper < 0 && simulated < 0 || paper > 0 && simulated > 0
}

// verdict judges a number among its rivals, of which it is one.
func (c *judged) verdict(rivals []*judged, reference string) Verdict {
	var ref *judged
	if i := slices.IndexFunc(rivals, func(r *judged) bool { return r.name == reference }); i >= 0 {
		ref = rivals[i]
	}
	switch {
	case c.byValue():
		return ByValue
	case c.byRatio(ref):
		return ByRatio
	case c.byOrder(rivals):
		return ByOrder
	}
	return Miss
}
