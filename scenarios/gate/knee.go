package gate

import (
	"context"
	"math"
	"slices"

	"cacheroute/scenarios"
)

// The ladder on which a knee is sought: rungs a factor apart between the lowest
// and highest load of the study and, where that does not reach, beyond them, then
// halvings of the last step down to some 2 %.
const (
	rungRatio    = math.Sqrt2
	halvings     = 4
	rungsBeyond  = 20 // a factor of 1,000 above
	rungsBeneath = 8  // a factor of 16 below, where a window has few requests
)

// findKnees finds the knee of a policy for each replicate, first where start has
// it, else on the loads of the study.
func (g *gate) findKnees(ctx context.Context, shadow *scenarios.Runner, policy int, start []float64, m *measured) error {
	knees := make([]float64, len(g.seeds))
	m.knees[policy] = knees
	loads := g.runner.Study.LoadsQPS
	return scenarios.Parallel(ctx, g.Workers, len(g.seeds), func(ctx context.Context, i int) (err error) {
		lowest, highest := slices.Min(loads), slices.Max(loads)
		if start != nil && start[i] > 0 {
			lowest, highest = start[i], start[i]
		}
		knees[i], err = knee(lowest, highest, func(load float64) (bool, error) {
			cell, _, err := shadow.Run(ctx, g.cell(policy, load, g.seeds[i]), &scenarios.Tally{}, nil)
			return cell.Passes(g.slo, g.runner.Study.Measure.MaxFailureRate), err
		})
		return err
	})
}

// knee is the highest load that passes: the highest rung, as low loads can fail
// on cold caches where higher ones pass, refined below the next rung. It is 0 if
// no rung passes and the highest rung if all do.
func knee(lowest, highest float64, passes func(load float64) (bool, error)) (float64, error) {
	rung := func(i int) float64 { return lowest * math.Pow(rungRatio, float64(i)) }
	top := int(math.Ceil(math.Log(highest/lowest)/math.Log(rungRatio) - 1e-9))
	passed := top + 1
	for ok := false; !ok; { // down to the highest rung that passes
		passed--
		if passed < -rungsBeneath {
			return 0, nil
		}
		var err error
		if ok, err = passes(rung(passed)); err != nil {
			return 0, err
		}
	}
	for climbs := passed == top; climbs; { // and up from the top while they pass
		if passed == top+rungsBeyond {
			return rung(passed), nil
		}
		ok, err := passes(rung(passed + 1))
		if err != nil {
			return 0, err
		}
		if climbs = ok; ok {
			passed++
		}
	}
	low, high := rung(passed), rung(passed+1)
	for range halvings {
		middle := math.Sqrt(low * high)
		ok, err := passes(middle)
		if err != nil {
			return 0, err
		}
		if ok {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}
