package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cacheroute/scenarios"
	"cacheroute/workload"
)

// Axis is one input that the envelope moves while all others stay.
type Axis struct {
	Name   string  `json:"input"`
	About  string  `json:"about"`
	Points []Point `json:"points"` // from the smallest value on
	Holds  string  `json:"holds"`  // in words: how far it may move
}

// Point is the verdict with a moved input.
type Point struct {
	Value   string  `json:"value"`
	Base    bool    `json:"as_judged"`
	Verdict Verdict `json:"verdict"` // empty: none, see Note
	P99     *Gain   `json:"p99_gain"`
	// Capacity is nil where the load alone moves: a load has no capacity.
	Capacity *Gain  `json:"capacity_gain"`
	Note     string `json:"note,omitempty"`
}

// Points of the axes.
var (
	driftSigmas  = []float64{0.3, 0.6, 1.2} // of a lognormal step; the paper's is 0.3 (App. E)
	loadParts    = []float64{0.3, 0.45, belowKnee, 0.75, nearKnee, 1.05, 1.2}
	halfAndTwice = []float64{0.5, 2}
	skewFactors  = []float64{0.75, 1.25}
)

// sweepReplicates are enough to see where a verdict changes.
const sweepReplicates = 5

// envelope repeats the gate with one input moved at a time, on the first
// replicates.
func (g *gate) envelope(ctx context.Context, base *measured) ([]Axis, error) {
	j := g.judge(base)
	few := *g
	few.seeds = g.seeds[:min(len(g.seeds), sweepReplicates)]
	g = &few
	judged := Point{Base: true, Verdict: j.Verdict, P99: &j.P99, Capacity: &j.Capacity}
	all := []Axis{}
	for _, axis := range []func(context.Context, *measured, Point) (*Axis, error){g.loadAxis, g.driftAxis, g.cacheAxis, g.keysAxis, g.skewAxis} {
		a, err := axis(ctx, base, judged)
		if err != nil {
			return nil, err
		}
		if a != nil && len(a.Points) > 1 {
			a.Holds = a.words(j.Verdict)
			all = append(all, *a)
		}
	}
	return all, nil
}

// loadAxis judges p99 and failures at other loads.
func (g *gate) loadAxis(ctx context.Context, base *measured, _ Point) (*Axis, error) {
	knee := median(loadsOf(base.knees[0]))
	m := &measured{}
	var loads []float64
	for _, part := range loadParts {
		loads = append(loads, threeDigits(part*knee))
	}
	if err := g.runPairs(ctx, g.planned(base.rates), loads, m); err != nil {
		return nil, err
	}
	a := &Axis{Name: "load", About: "requests/s, as a part of the baseline's knee; p99 and failures alone"}
	for i, load := range loads {
		gain := g.latencyGain(m, load)
		p := Point{Value: fmt.Sprintf("%g (%g of the knee)", load, loadParts[i]), Base: loadParts[i] == nearKnee, P99: &gain}
		lacks := g.evidence(m, load).lacks()
		switch {
		case lacks != nil:
			p.Verdict, p.Note = Inconclusive, strings.Join(lacks, "; ")
		case g.failuresRise(m, load) || gain.Outcome == Loss || gain.Outcome == Tie:
			p.Verdict = Keep
		case gain.Outcome == Win:
			p.Verdict = Enable
		default:
			p.Verdict = Inconclusive
		}
		a.Points = append(a.Points, p)
	}
	return a, nil
}

// driftAxis plans from rates that are one step off; the baseline has no plan.
func (g *gate) driftAxis(ctx context.Context, base *measured, judged Point) (*Axis, error) {
	if p, _, err := g.plan(base); p == nil || err != nil {
		return nil, err
	}
	judged.Value = "0"
	a := &Axis{Name: "rates", About: "sigma of one lognormal step between the rates of the plan and those that come, another draw for each replicate", Points: []Point{judged}}
	for _, sigma := range driftSigmas {
		moved := *g
		moved.drift = sigma
		p, err := moved.point(ctx, fmt.Sprint(sigma), base, true)
		if err != nil {
			return nil, err
		}
		a.Points = append(a.Points, p)
	}
	return a, nil
}

func (g *gate) cacheAxis(ctx context.Context, base *measured, judged Point) (*Axis, error) {
	a := &Axis{Name: "KV cache", About: "blocks of a destination"}
	blocks := g.runner.Study.Fleet.KVBlocks
	return a, g.around(ctx, a, base, halfAndTwice, judged, func(s *scenarios.Study, by float64) string {
		if by != 1 {
			s.Fleet.KVBlocks = max(1, int(by*float64(blocks)))
		}
		return fmt.Sprint(s.Fleet.KVBlocks)
	})
}

func (g *gate) keysAxis(ctx context.Context, base *measured, judged Point) (*Axis, error) {
	if g.runner.Trace() != nil {
		return nil, nil // keys of a recording cannot be multiplied
	}
	a := &Axis{Name: "active keys", About: "the most frequent, with all of the traffic"}
	return a, g.around(ctx, a, base, halfAndTwice, judged, func(s *scenarios.Study, by float64) string {
		n, ok := workload.ScaledKeys(s.Workload.Synthetic.Keys.Spec, by)
		if !ok {
			return ""
		}
		s.Workload.Synthetic.Keys.Spec = n
		return fmt.Sprintf("x%g", by)
	})
}

func (g *gate) skewAxis(ctx context.Context, base *measured, judged Point) (*Axis, error) {
	if g.runner.Trace() != nil {
		return nil, nil
	}
	a := &Axis{Name: "skew", About: "sigma or exponent of the key rates; a population of another sigma is also another draw"}
	return a, g.around(ctx, a, base, skewFactors, judged, func(s *scenarios.Study, by float64) string {
		n, ok := workload.SkewedKeys(s.Workload.Synthetic.Keys.Spec, by)
		if !ok {
			return ""
		}
		s.Workload.Synthetic.Keys.Spec = n
		return fmt.Sprintf("x%g", by)
	})
}

// around judges the study as it is changed by factors below and above 1. change
// names the value; an empty name has no such study.
func (g *gate) around(ctx context.Context, a *Axis, base *measured, factors []float64, judged Point, change func(s *scenarios.Study, by float64) string) error {
	same := *g.runner.Study
	if judged.Value = change(&same, 1); judged.Value == "" {
		return nil
	}
	placed := false
	for _, by := range factors {
		if by > 1 && !placed {
			a.Points, placed = append(a.Points, judged), true
		}
		s := *g.runner.Study
		value := change(&s, by)
		if value == "" {
			continue
		}
		p, err := g.changed(ctx, &s, value, base)
		if err != nil {
			return err
		}
		a.Points = append(a.Points, p)
	}
	return nil
}

// changed judges another study with the same replicates.
func (g *gate) changed(ctx context.Context, s *scenarios.Study, value string, base *measured) (Point, error) {
	if err := s.Check(); err != nil {
		return unknown(value, err)
	}
	r, err := scenarios.Prepare(s, nil)
	if err != nil {
		return unknown(value, err)
	}
	moved := *g
	moved.runner = r
	return moved.point(ctx, value, base, false)
}

// point judges; the baseline is that of base if the two are the same.
func (g *gate) point(ctx context.Context, value string, base *measured, same bool) (Point, error) {
	m, err := g.measure(ctx, base, same)
	if err != nil {
		return unknown(value, err)
	}
	j := g.judge(m)
	return Point{Value: value, Verdict: j.Verdict, P99: &j.P99, Capacity: &j.Capacity, Note: strings.Join(j.Evidence.lacks(), "; ")}, nil
}

// unknown is a point that cannot be judged, such as a baseline without a knee.
// Any other error ends the sweep.
func unknown(value string, err error) (Point, error) {
	var bad *scenarios.BadInput
	if errors.As(err, &bad) {
		return Point{Value: value, Note: bad.Error()}, nil
	}
	return Point{}, err
}

// Notes say why points have no verdict, or none that decides.
func (a *Axis) Notes() (all []string) {
	for _, p := range a.Points {
		if p.Note != "" {
			all = append(all, p.Value+": "+p.Note)
		}
	}
	return all
}

// words says how far the input may move from where it was judged.
func (a *Axis) words(verdict Verdict) string {
	base := 0
	for i := range a.Points {
		if a.Points[i].Base {
			base = i
		}
	}
	if a.Points[base].Verdict != verdict {
		return fmt.Sprintf("%s where it was judged, by p99 alone", a.Points[base].Verdict)
	}
	reach := func(step int) string {
		last := base
		for i := base + step; i >= 0 && i < len(a.Points); i += step {
			if v := a.Points[i].Verdict; v != verdict {
				if v == "" {
					v = "no verdict"
				}
				return fmt.Sprintf("to %s, then %s at %s", a.Points[last].Value, v, a.Points[i].Value)
			}
			last = i
		}
		if last == base {
			return ""
		}
		return fmt.Sprintf("to %s, the end of the sweep", a.Points[last].Value)
	}
	down, up := reach(-1), reach(1)
	switch {
	case down == "":
		return "up " + up
	case up == "":
		return "down " + down
	}
	return "down " + down + "; up " + up
}
