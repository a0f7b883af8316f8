package gate

import (
	"context"
	"math"
	"slices"

	"cacheroute/scenarios"
)

// The ladder on which a knee is sought: rungs a factor apart between the lowest
// and highest load of the study and, where that does not reach, beyond them, then
// halvings of the last step down to some 2 %. All policies have the same rungs.
//
// Runner.Capacity is another search: it takes the loads below one that passes to
// pass and strides over many, within given ends. Here neither holds: a verdict
// must not miss a knee above loads that fail on cold caches, and nobody has given
// the ends.
const (
	rungRatio    = math.Sqrt2
	halvings     = 4
	rungsBeyond  = 14 // a factor of 128 above
	rungsBeneath = 8  // a factor of 16 below, where a window has few requests
)

// ladder has rungs from the lowest load of a study, rung 0, to the top, and more
// on either side.
type ladder struct {
	lowest float64
	top    int
}

func newLadder(loads []float64) ladder {
	lowest := slices.Min(loads)
	return ladder{lowest, int(math.Ceil(math.Log(slices.Max(loads)/lowest)/math.Log(rungRatio) - 1e-9))}
}

func (l ladder) load(rung int) float64 { return l.lowest * math.Pow(rungRatio, float64(rung)) }

// knee is the highest load that passes.
type knee struct {
	load     float64 // 0: none passes
	rung     int     // at or below it
	most     bool    // every load tried passes
	requests int64   // of the run at the load
}

// find seeks the knee from a rung on: down to one that passes, as low loads can
// fail on cold caches where higher ones pass, or up until one fails, then between
// the two.
func (l ladder) find(from int, passes func(load float64) (bool, error)) (knee, error) {
	at := from
	ok, err := passes(l.load(at))
	for !ok && err == nil {
		if at--; at < -rungsBeneath {
			return knee{rung: from}, nil
		}
		ok, err = passes(l.load(at))
	}
	for climbs := at == from; climbs && err == nil; {
		if at == l.top+rungsBeyond {
			return knee{load: l.load(at), rung: at, most: true}, nil
		}
		if climbs, err = passes(l.load(at + 1)); climbs {
			at++
		}
	}
	low, high := l.load(at), l.load(at+1)
	for i := 0; i < halvings && err == nil; i++ {
		middle := math.Sqrt(low * high)
		if ok, err = passes(middle); ok {
			low = middle
		} else {
			high = middle
		}
	}
	return knee{load: low, rung: at}, err
}

// findKnees finds the knee of a policy for each replicate, from the rungs of
// other knees on, else from the top.
func (g *gate) findKnees(ctx context.Context, shadow *scenarios.Runner, policy int, other []knee) ([]knee, error) {
	knees := make([]knee, len(g.seeds))
	l := newLadder(g.runner.Study.LoadsQPS)
	err := scenarios.Parallel(ctx, g.Workers, len(g.seeds), func(ctx context.Context, i int) (err error) {
		from := l.top
		if other != nil {
			from = other[i].rung
		}
		var requests int64 // of the last run that passed, which is the knee's
		knees[i], err = l.find(from, func(load float64) (bool, error) {
			cell, _, err := shadow.Run(ctx, g.cell(policy, load, g.seeds[i]), &scenarios.Tally{}, nil)
			ok := cell.Passes(g.slo, g.runner.Study.Measure.MaxFailureRate)
			if ok {
				requests = cell.Requests
			}
			return ok, err
		})
		knees[i].requests = requests
		return err
	})
	return knees, err
}

func loadsOf(knees []knee) []float64 {
	loads := make([]float64, len(knees))
	for i, k := range knees {
		loads[i] = k.load
	}
	return loads
}
