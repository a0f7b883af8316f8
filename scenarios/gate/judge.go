package gate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"cacheroute/results"
)

// Verdict is what to do with the plan.
type Verdict string

// Enable it, keep the baseline, or measure more.
const (
	Enable       Verdict = "enable"
	Keep         Verdict = "keep"
	Inconclusive Verdict = "inconclusive"
)

// Outcome is what an interval says of a gain.
type Outcome string

// A gain is a win if its interval lies above 0 and its mean reaches the margin, a
// loss if the interval lies below 0, a tie if it excludes a gain of the margin,
// else open.
const (
	Win  Outcome = "win"
	Loss Outcome = "loss"
	Tie  Outcome = "tie"
	Open Outcome = "open"
)

// Gain is how much better the candidate is, as a fraction of the baseline's mean,
// with the 95 % interval of the paired replicates.
type Gain struct {
	results.Interval
	Outcome Outcome `json:"outcome"`
	// More is about how many replicates would close an open gain; 0: it is not
	// open, or over mostReplicates.
	More int `json:"replicates_wanted"`
}

// mostReplicates is beyond what anyone runs.
const mostReplicates = 1000

// newGain judges paired values; better is 1 if more is better, else -1.
func newGain(baseline, candidate []float64, better, margin float64) Gain {
	mean := float64(results.NewInterval(baseline).Mean)
	relative := make([]float64, len(baseline))
	for i := range baseline {
		relative[i] = better * (candidate[i] - baseline[i]) / mean
	}
	g := Gain{Interval: results.NewInterval(relative)}
	switch {
	case g.Lo > 0 && float64(g.Mean) >= margin:
		g.Outcome = Win
	case g.Hi < 0:
		g.Outcome = Loss
	case float64(g.Hi) < margin:
		g.Outcome = Tie
	default:
		g.Outcome = Open
		g.More = g.wanted(len(baseline), margin)
	}
	return g
}

// wanted is the number of replicates whose interval would be narrow enough for a
// win, or for a tie if the mean is below the margin, should mean and spread stay.
// One replicate has no spread.
func (g *Gain) wanted(n int, margin float64) int {
	if n < 2 {
		return fewestSeeds
	}
	reach := float64(g.Mean)
	if reach < margin {
		reach = margin - reach
	}
	deviation := float64(g.HalfWidth()) * math.Sqrt(float64(n)) / student(n)
	for more := n + 1; more <= mostReplicates; more++ {
		if student(more)*deviation/math.Sqrt(float64(more)) < reach {
			return more
		}
	}
	return 0
}

// student is the 97.5 % quantile of Student's t for n values.
func student(n int) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(0.975)
}

// Judgement is a verdict with what it rests on.
type Judgement struct {
	Verdict  Verdict `json:"verdict"`
	P99      Gain    `json:"p99_gain"`      // near the knee; less is better
	Capacity Gain    `json:"capacity_gain"` // under the objective
	// FailuresRise: their interval lies above 0 at one of the loads, or their mean
	// rises by more than the objective allows in all.
	FailuresRise bool     `json:"failures_rise"`
	Evidence     Evidence `json:"evidence"`
}

// judge applies the rule of the gate: the plan is enabled if p99 or capacity wins,
// neither loses and failures do not rise. A higher hit rate counts for nothing,
// and too little evidence decides nothing.
func (g *gate) judge(m *measured) Judgement {
	j := Judgement{
		P99:      g.latencyGain(m, m.near),
		Capacity: newGain(loadsOf(m.knees[0]), loadsOf(m.knees[1]), 1, g.Margin),
		Evidence: g.evidence(m, m.below, m.near),
	}
	j.FailuresRise = g.failuresRise(m, m.near) || g.failuresRise(m, m.below)
	win := j.P99.Outcome == Win || j.Capacity.Outcome == Win
	loss := j.P99.Outcome == Loss || j.Capacity.Outcome == Loss
	open := j.P99.Outcome == Open || j.Capacity.Outcome == Open
	switch {
	case j.Evidence.lacks() != nil:
		j.Verdict = Inconclusive
	case j.FailuresRise:
		j.Verdict = Keep
	case win && loss:
		j.Verdict = Inconclusive
	case win:
		j.Verdict = Enable
	case open && !loss:
		j.Verdict = Inconclusive
	default:
		j.Verdict = Keep
	}
	return j
}

func (g *gate) latencyGain(m *measured, load float64) Gain {
	baseline, candidate := g.values(m, load, func(c *results.Cell) results.Float { return c.TTFTP99 })
	return newGain(baseline, candidate, -1, g.Margin)
}

func (g *gate) failuresRise(m *measured, load float64) bool {
	baseline, candidate := g.values(m, load, func(c *results.Cell) results.Float { return c.FailureRate })
	rise := make([]float64, len(baseline))
	for i := range rise {
		rise[i] = candidate[i] - baseline[i]
	}
	i := results.NewInterval(rise)
	return i.Lo > 0 || float64(i.Mean) > g.runner.Study.Measure.MaxFailureRate
}

// values are a figure of both policies at a load, by replicate.
func (g *gate) values(m *measured, load float64, figure func(*results.Cell) results.Float) (baseline, candidate []float64) {
	for i := range m.cells {
		c := &m.cells[i]
		switch {
		case c.LoadQPS != load:
		case c.Policy == g.label(0):
			baseline = append(baseline, float64(figure(c)))
		default:
			candidate = append(candidate, float64(figure(c)))
		}
	}
	return baseline, candidate
}

// reasons words a judgement.
func (j *Judgement) reasons(g *gate, m *measured) []string {
	name := g.label(1)
	all := append(j.Evidence.lacks(),
		fmt.Sprintf("p99 TTFT at %g requests/s is %s", m.near, j.P99.words("lower", "higher", g.Margin)),
		fmt.Sprintf("capacity at p99 <= %s s is %s", results.Shortly(g.slo), j.Capacity.words("higher", "lower", g.Margin)))
	if j.FailuresRise {
		all = append(all, "failures rise under "+name)
	} else {
		all = append(all, "failures do not rise")
	}
	hitA, hitB := g.values(m, m.near, func(c *results.Cell) results.Float { return c.KVHit })
	if up := 100 * (results.NewInterval(hitB).Mean - results.NewInterval(hitA).Mean); up > 0 && j.Verdict != Enable {
		all = append(all, fmt.Sprintf("KV hit is %.1f points higher, which alone is no reason to enable", up))
	}
	return all
}

// mostPercent is the rise above which a factor is easier to read.
const mostPercent = 300

// words says how a gain is read.
func (g *Gain) words(better, worse string, margin float64) string {
	if !g.Mean.Finite() {
		return "unknown: in a run no request came, or over 1 % failed without a deadline"
	}
	word, mean := better, 100*float64(g.Mean)
	if mean < 0 {
		word, mean = worse, -mean
	}
	unit, half := " % "+word, 100*float64(g.HalfWidth())
	if mean > mostPercent { // no fall is over 100 %
		mean, half, unit = 1+mean/100, half/100, " times as high"
	}
	text := fmt.Sprintf("%.1f", mean)
	if half >= 0 {
		text += fmt.Sprintf(" ± %.1f", half)
	}
	text += unit
	switch g.Outcome {
	case Win:
		return text + ": a win"
	case Loss:
		return text + ": a loss"
	case Tie:
		return fmt.Sprintf("%s: a tie, as a gain of %.3g %% is excluded", text, 100*margin)
	}
	return text + ": open, its interval holds both no gain and one that counts"
}

// settles says what would close an open verdict.
func (j *Judgement) settles(g *gate) []string {
	if j.Verdict != Inconclusive {
		return []string{}
	}
	if all := g.remedies(j.Evidence); all != nil {
		return all
	}
	all := []string{}
	for _, x := range []struct {
		what string
		gain *Gain
	}{{"p99", &j.P99}, {"capacity", &j.Capacity}} {
		switch {
		case x.gain.Outcome != Open:
		case x.gain.More == 0:
			all = append(all, fmt.Sprintf("%s: over %d replicates of this spread, so longer windows rather than more of them", x.what, mostReplicates))
		case g.runner.Trace() != nil:
			all = append(all, fmt.Sprintf("%s: about %d windows as long as these, so a recording of %.2g times the length", x.what, x.gain.More, float64(x.gain.More)/float64(len(g.seeds))))
		default:
			all = append(all, fmt.Sprintf("%s: about %d seeds in place of %d, if mean and spread stay", x.what, x.gain.More, len(g.seeds)))
		}
	}
	if len(all) == 0 {
		all = append(all, "p99 and capacity contradict each other: say by the objective which of them counts (--set measure.slo_ttft_p99_s)")
	}
	return all
}
