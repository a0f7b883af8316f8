package paper

import (
	"fmt"
	"math"

	"cacheroute/results"
)

// gauge reads a figure of a study; reason says why there is none.
type gauge func(b *bench, e *entry, s source) (n Number, reason string)

// gauges are how the kinds are measured.
var gauges = map[string]gauge{
	"hit":        atLoad(100, func(r *results.LadderRow) results.Interval { return r.KVHit }),
	"p99":        atLoad(1, func(r *results.LadderRow) results.Interval { return r.TTFTP99 }),
	"imbalance":  atLoad(1, func(r *results.LadderRow) results.Interval { return r.Imbalance }),
	"failures":   atLoad(100, func(r *results.LadderRow) results.Interval { return r.FailureRate }),
	"capacity":   capacity,
	"multiplier": multiplier,
	"points":     points,
	"churn":      drifted,
	"ms":         drifted,
	"share":      population,
	"gini":       population,
	"number":     population,
	"limit":      planTime,
	"setting":    setting,
}

// measure reads what stands beside a number of the paper.
func (b *bench) measure(s source) (Number, string) {
	e := b.byName[s.Study]
	if e.runner == nil {
		return Number{}, e.reason
	}
	n, reason := gauges[s.Kind](b, e, s)
	if reason == "" && n.Text == "" {
		n.Text = words(n, kinds[s.Kind].digits)
	}
	return n, reason
}

// exactly is a number without an interval.
func exactly(x float64) Number {
	return Number{Interval: results.NewInterval([]float64{x}), Censor: results.CensorNone}
}

// words prints a mean with half its interval.
func words(n Number, digits int) string {
	mean := float64(n.Mean)
	switch {
	case math.IsInf(mean, 0):
		return "inf"
	case math.IsNaN(mean):
		return "-"
	}
	text := fmt.Sprintf("%.*f", digits, mean)
	if half := n.HalfWidth(); half > 0 && half.Finite() {
		text += fmt.Sprintf("±%.*f", digits, float64(half))
	}
	return text
}

func scaled(i results.Interval, by results.Float) results.Interval {
	return results.Interval{Mean: i.Mean * by, Lo: i.Lo * by, Hi: i.Hi * by}
}

func atLoad(scale results.Float, figure func(*results.LadderRow) results.Interval) gauge {
	return func(_ *bench, e *entry, s source) (Number, string) {
		for i := range e.summary.Ladder {
			if r := &e.summary.Ladder[i]; r.Policy == s.Policy && r.LoadQPS == s.Load {
				return Number{Interval: scaled(figure(r), scale), Censor: results.CensorNone}, ""
			}
		}
		return Number{}, fmt.Sprintf("study %s has no %s at %v requests/s", e.name, s.Policy, s.Load)
	}
}

// capacityOf is the capacity of a policy, nil if the study does not have it.
func (e *entry) capacityOf(policy string, slo float64) *results.CapacityRow {
	for i := range e.summary.Capacity {
		if r := &e.summary.Capacity[i]; r.Policy == policy && r.SLO == slo {
			return r
		}
	}
	return nil
}

func capacity(_ *bench, e *entry, s source) (Number, string) {
	r := e.capacityOf(s.Policy, s.SLO)
	if r == nil {
		return Number{}, fmt.Sprintf("study %s has no %s", e.name, s.Policy)
	}
	n := Number{Interval: r.QPS, Censor: r.Censor, PerSeed: r.PerSeed}
	switch n.Censor {
	case results.CensorLeft:
		n.Text = fmt.Sprintf("<%v", e.study.LoadsQPS[0])
	case results.CensorRight:
		n.Text = fmt.Sprintf(">%v", n.Mean)
	case results.CensorMixed:
		n.Text = "≥" + words(n, 0)
	}
	return n, ""
}

// multiplier is a capacity over that of another policy, or over the best of all
// others: the ratio of the means, as in the paper. What the ladder has cut off
// gives no ratio.
func multiplier(b *bench, e *entry, s source) (Number, string) {
	own, reason := capacity(b, e, s)
	if reason != "" {
		return Number{}, reason
	}
	other := Number{}
	for _, p := range e.study.Policies {
		if p.Label == s.Policy || s.Over != "best" && p.Label != s.Over {
			continue
		}
		rival := s
		rival.Policy = p.Label
		if n, _ := capacity(b, e, rival); n.Mean >= other.Mean {
			other = n
		}
	}
	ratio := exactly(float64(own.Mean / other.Mean))
	switch {
	case own.Mean == 0 && other.Mean == 0:
		ratio.Text = "- (0/0)"
	case own.Censor == results.CensorRight && other.Censor == results.CensorRight:
		ratio = exactly(math.NaN())
		ratio.Text = "- (cut off)"
	case own.Censor == results.CensorRight:
		ratio.Text, ratio.Censor = "≥"+words(ratio, 2), results.CensorRight
	case own.Censor == results.CensorNone && other.Censor == results.CensorNone:
		half := seedRatios(own, other).HalfWidth()
		ratio.Lo, ratio.Hi = ratio.Mean-half, ratio.Mean+half
	}
	return ratio, ""
}

// seedRatios are the ratios of two capacities seed by seed.
func seedRatios(own, other Number) results.Interval {
	var all []float64
	for i := range own.PerSeed {
		all = append(all, own.PerSeed[i].QPS/other.PerSeed[i].QPS)
	}
	return results.NewInterval(all)
}

// points are differences of hits: over another policy, or of a drift.
func points(b *bench, e *entry, s source) (Number, string) {
	switch s.Figure {
	case "hit gain":
		return gain(e, s)
	case "che median":
		return exactly(float64(e.residency.Steady.MedianPoints)), ""
	case "che p90":
		return exactly(float64(e.residency.Steady.P90Points)), ""
	}
	return drifted(b, e, s)
}

// gain is the hit rate above that of another policy, seed by seed.
func gain(e *entry, s source) (Number, string) {
	by := map[string]map[uint64]float64{s.Policy: {}, s.Over: {}}
	for _, c := range e.cells {
		if m := by[c.Policy]; m != nil && c.LoadQPS == s.Load {
			m[c.Seed] = 100 * float64(c.KVHit)
		}
	}
	var gains []float64
	for _, seed := range e.study.Seeds {
		gains = append(gains, by[s.Policy][seed]-by[s.Over][seed])
	}
	return Number{Interval: results.NewInterval(gains), Censor: results.CensorNone}, ""
}

// setting is how a study was made.
func setting(_ *bench, e *entry, s source) (Number, string) {
	if s.Figure == "seeds" {
		return exactly(float64(len(e.study.Seeds))), ""
	}
	return exactly(float64(e.study.Fleet.Destinations)), ""
}
