package fit

import (
	"context"
	"math"
	"slices"

	"cacheroute/results"
	"cacheroute/scenarios"
)

// ladder is a policy's simulated ladder as far up as it is needed.
type ladder struct {
	loads []float64
	p99   [][]float64 // by load, then seed, in seconds
	hit   []float64   // by seed at the targets' load
	p99At []float64
}

// enough of a ladder is run once its p99 is beyond all objectives by that
// factor at two loads in a row.
const enough = 1.2

// climb runs a policy's loads from below.
func (t *Targets) climb(ctx context.Context, r *scenarios.Runner, p *scenarios.Policy, tally *scenarios.Tally) (*ladder, error) {
	l := &ladder{}
	over := 0
	for _, q := range r.Study.LoadsQPS {
		if over >= 2 && q > t.AtQPS {
			break
		}
		var p99, hit []float64
		for _, seed := range r.Study.Seeds {
			cell, _, err := r.Run(ctx, scenarios.Cell{Policy: p, LoadQPS: q, Seed: seed}, tally, nil)
			if err != nil {
				return nil, err
			}
			p99 = append(p99, t.finite(&cell, &r.Study.Measure))
			hit = append(hit, float64(cell.KVHit))
		}
		l.loads, l.p99 = append(l.loads, q), append(l.p99, p99)
		if q == t.AtQPS {
			l.hit, l.p99At = hit, p99
		}
		over++
		if geometric(p99) <= enough*slices.Max(t.SLOs) {
			over = 0
		}
	}
	return l, nil
}

// failing is the p99 of a load that does not pass whatever its p99 is, in units
// of the longest objective: the search needs a number.
const failing = 10

// finite is the p99 of TTFT, and beyond all objectives where it is infinite or
// more requests failed than the study allows.
func (t *Targets) finite(c *results.Cell, m *scenarios.Measure) float64 {
	x := float64(c.TTFTP99)
	if math.IsNaN(x) || math.IsInf(x, 0) || float64(c.FailureRate) > m.MaxFailureRate {
		return failing * slices.Max(t.SLOs)
	}
	return max(x, 1e-6)
}

// capacity is the mean over seeds of the highest load that passes.
func (l *ladder) capacity(slo float64) float64 {
	sum := 0.0
	for seed := range l.p99[0] {
		for i := len(l.loads) - 1; i >= 0; i-- {
			if l.p99[i][seed] <= slo {
				sum += l.loads[i]
				break
			}
		}
	}
	return sum / float64(len(l.p99[0]))
}

// crossing is the load at which the p99 of a seed rises beyond an objective for
// good, by interpolation of its logarithm.
func (l *ladder) crossing(seed int, slo float64) float64 {
	top := len(l.loads) - 1
	for i := top; i >= 0; i-- {
		low := l.p99[i][seed]
		if low > slo {
			continue
		}
		if i == top {
			return l.loads[i] + (l.loads[i]-l.loads[i-1])/2
		}
		return l.loads[i] + (l.loads[i+1]-l.loads[i])*math.Log(slo/low)/math.Log(l.p99[i+1][seed]/low)
	}
	// Below the ladder: as if the p99 were proportional to the load.
	return l.loads[0] * slo / l.p99[0][seed]
}

// lowest is the least p99 of all loads.
func (l *ladder) lowest() float64 {
	least := math.Inf(1)
	for _, p99 := range l.p99 {
		least = min(least, geometric(p99))
	}
	return least
}

// geometric is the geometric mean.
func geometric(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(x)))
}

// hopeless is the loss of a point at which nothing is served, so that hits mean
// nothing.
const hopeless = 1e6

// evaluate simulates a point: its loss and the rows.
func (s *Spec) evaluate(ctx context.Context, u []float64, g *Stage, tally *scenarios.Tally) (float64, []Score, error) {
	study, err := scenarios.Load(s.Study, scenarios.Options{Set: s.settings(u)})
	if err != nil {
		return 0, nil, err
	}
	study.Seeds, study.LoadsQPS = g.Seeds, g.LoadsQPS
	r, err := scenarios.Prepare(study, nil)
	if err != nil {
		return 0, nil, err
	}
	loss := 0.0
	var scores []Score
	var ladders []*ladder
	for i := range s.Targets.Rows {
		row := &s.Targets.Rows[i]
		at := slices.IndexFunc(study.Policies, func(p scenarios.Policy) bool { return p.Label == row.Policy })
		if at < 0 {
			return 0, nil, scenarios.Badf("%s: has no policy %s, which targets.rows.%d is of", s.Study, row.Policy, i)
		}
		l, err := s.Targets.climb(ctx, r, &study.Policies[at], tally)
		if err != nil {
			return 0, nil, err
		}
		score, smooth := s.Targets.score(row, l)
		scores, ladders = append(scores, score), append(ladders, l)
		for _, z := range smooth {
			loss += cost(z)
		}
	}
	if s.Targets.Order {
		loss += s.Targets.order(ladders)
	}
	if math.IsNaN(loss) {
		return hopeless, nil, nil
	}
	return loss, scores, nil
}
