// Package gate decides whether a routing plan should replace the load balancer
// in place: the deployment gate of the paper (section 5.3). A shadow replay runs
// the preserved assignment and the baseline on the same requests, below and near
// the baseline's knee, and enables the plan only if p99 or capacity improves.
package gate

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"

	"cacheroute/policies"
	"cacheroute/results"
	"cacheroute/scenarios"
)

// Where the two policies are compared, as parts of the baseline's knee.
const (
	nearKnee  = 0.9
	belowKnee = 0.6
)

// Options says what to judge and how.
type Options struct {
	Margin    float64  // least improvement that counts, as a fraction of the baseline
	Train     string   // of a trace: the part that rates are estimated from, see scenarios.TrainSpan
	HalfLifeS float64  // of that estimate, see workload.RateWindow
	Windows   int      // of a trace: replicates
	Added     int      // seeds that MoreSeeds gave
	Others    []string // labels of policies that Pair left out
	Envelope  bool     // also find how far the inputs may move
	Workers   int      // parallel runs; 0: one for each CPU
	Version   string   // of the program
	Note      func(format string, args ...any)
}

// gate is one shadow replay in the making, of a study that Pair has left two
// policies.
type gate struct {
	Options
	runner  *scenarios.Runner
	shadow  scenarios.Shadow // without the rates of the plan
	seeds   []uint64         // replicates
	slo     float64
	trained scenarios.Trained // rates of a recording
	// drift is the sigma of a lognormal step between the rates of the plan and
	// those that it should have had.
	drift float64
}

// Run judges the second policy of a prepared study against the first.
func Run(ctx context.Context, r *scenarios.Runner, o Options) (*Report, error) {
	g, err := newGate(r, o)
	if err != nil {
		return nil, err
	}
	o.Note("seeking the knees of %d replicates", len(g.seeds))
	m, err := g.measure(ctx, nil, false)
	if err != nil {
		return nil, interrupted(ctx, err)
	}
	report, err := g.report(m)
	if err != nil {
		return nil, err
	}
	switch {
	case !o.Envelope:
	case report.Evidence.lacks() != nil:
		report.Doubts = append(report.Doubts, "no operating envelope: it takes enough evidence where the inputs do not move")
	default:
		o.Note("sweeping the envelope")
		if report.Envelope, err = g.envelope(ctx, m); err != nil {
			return nil, interrupted(ctx, err)
		}
	}
	return report, nil
}

// interrupted words the end of a context.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.New("interrupted; nothing was written")
	}
	return err
}

func newGate(r *scenarios.Runner, o Options) (*gate, error) {
	s := r.Study
	g := &gate{Options: o, runner: r, seeds: s.Seeds, slo: s.Measure.SLOs[0]}
	if err := r.CheckLoadVaries(); err != nil {
		return nil, err
	}
	for i := range s.Policies {
		if p, ok := s.Policies[i].Spec.(*policies.CacheRoute); ok && p.Replan != "never" {
			return nil, scenarios.Badf("%s: policies.%s.replan: read %s, wanted never: the gate judges one assignment", s.Name, s.Policies[i].Label, p.Replan)
		}
	}
	if r.Trace() != nil {
		return g, g.splitTrace()
	}
	return g, nil
}

// Pair leaves a study its baseline and its candidate, by label. One that it does
// not have is the policy of that name with its defaults. The labels of the others
// are returned.
func Pair(s *scenarios.Study, baseline, candidate string) (others []string, err error) {
	var pair []scenarios.Policy
	for _, label := range []string{baseline, candidate} {
		i := slices.IndexFunc(s.Policies, func(p scenarios.Policy) bool { return p.Label == label })
		switch {
		case i >= 0:
			pair = append(pair, s.Policies[i])
		case policies.Policies[label] != nil:
			p := scenarios.Policy{Label: label}
			p.Name, p.Spec = label, policies.Policies[label]()
			pair = append(pair, p)
		default:
			return nil, scenarios.Badf("%s: no policy with the label %s, wanted one of the study or of cacheroute list policies", s.Name, label)
		}
	}
	if baseline == candidate {
		return nil, scenarios.Badf("--candidate %s: it is the baseline, wanted another policy", candidate)
	}
	for _, p := range s.Policies {
		if p.Label != baseline && p.Label != candidate {
			others = append(others, p.Label)
		}
	}
	s.Policies = pair
	return others, nil
}

// fewestSeeds are run of a study that has fewer.
const fewestSeeds = 10

// MoreSeeds gives a study as many seeds as a gate wants at least, and returns how
// many that were.
func MoreSeeds(s *scenarios.Study) (added int) {
	for next := slices.Max(s.Seeds) + 1; len(s.Seeds) < fewestSeeds; next++ {
		s.Seeds = append(s.Seeds, next)
		added++
	}
	return added
}

// splitTrace cuts what follows the training window into parts of equal length,
// one for each replicate. Each has its own seed, which draws ties and hashes.
func (g *gate) splitTrace() error {
	h := g.runner.Trace().Header()
	trained, err := scenarios.Train(g.runner.Trace(), g.Train, g.HalfLifeS)
	if err != nil {
		return err
	}
	g.trained = *trained
	from := trained.ToS
	g.shadow.Parts = map[uint64]scenarios.Part{}
	first, length := g.runner.Study.Seeds[0], (h.SpanS-from)/float64(g.Windows)
	g.seeds = nil
	for i := range g.Windows {
		seed := first + uint64(i)
		g.seeds = append(g.seeds, seed)
		g.shadow.Parts[seed] = scenarios.Part{FromS: from + float64(i)*length, ToS: from + float64(i+1)*length}
	}
	last := g.shadow.Parts[g.seeds[g.Windows-1]]
	last.ToS = h.SpanS
	g.shadow.Parts[g.seeds[g.Windows-1]] = last
	return nil
}

// label of the baseline (0) and the candidate (1).
func (g *gate) label(i int) string { return g.runner.Study.Policies[i].Label }

// measured is what a shadow replay has found.
type measured struct {
	knees       [2][]knee // by replicate, of the baseline and the candidate
	below, near float64   // loads
	rates       []float64 // of the plan
	cells       []results.Cell
	profiles    [2]*results.Profile // of the first replicate near the knee
}

// measure finds the baseline's knees, plans for the load near them, finds those
// of the plan and runs both policies. Knees of another measurement, if given, are
// where the baseline's are sought first; same says that they are its own.
func (g *gate) measure(ctx context.Context, other *measured, same bool) (*measured, error) {
	m := &measured{}
	var err error
	if other != nil {
		m.knees[0] = other.knees[0][:len(g.seeds)]
	}
	if !same {
		if m.knees[0], err = g.findKnees(ctx, g.runner.Shadow(g.shadow), 0, m.knees[0]); err != nil {
			return nil, err
		}
	}
	loads := loadsOf(m.knees[0])
	typical := median(loads)
	if s := g.runner.Study; typical == 0 {
		return nil, scenarios.Badf("%s: %s meets p99 <= %g s at no load in most replicates, wanted an objective that it meets (--set 'measure.slo_ttft_p99_s=[...]') or other loads (--loads)", s.Name, g.label(0), g.slo)
	}
	m.below, m.near = threeDigits(belowKnee*typical), threeDigits(nearKnee*typical)
	if m.rates, err = g.planRates(m.near); err != nil {
		return nil, err
	}
	shadow := g.planned(m.rates)
	if m.knees[1], err = g.findKnees(ctx, shadow, 1, m.knees[0]); err != nil {
		return nil, err
	}
	return m, g.runPairs(ctx, shadow, []float64{m.below, m.near}, m)
}

// runPairs runs both policies at the loads, on the same requests.
func (g *gate) runPairs(ctx context.Context, shadow *scenarios.Runner, loads []float64, m *measured) error {
	n := len(g.seeds)
	m.cells = make([]results.Cell, 2*len(loads)*n)
	return scenarios.Parallel(ctx, g.Workers, len(m.cells), func(ctx context.Context, i int) error {
		policy, load, seed := i/n/len(loads), loads[i/n%len(loads)], g.seeds[i%n]
		cell, profile, err := shadow.Run(ctx, g.cell(policy, load, seed), &scenarios.Tally{}, nil)
		if err != nil {
			return err
		}
		g.capLatency(&cell)
		m.cells[i] = cell
		if seed == g.seeds[0] && load == m.near {
			m.profiles[policy] = profile
		}
		return nil
	})
}

func (g *gate) cell(policy int, load float64, seed uint64) scenarios.Cell {
	return scenarios.Cell{Policy: &g.runner.Study.Policies[policy], LoadQPS: load, Seed: seed}
}

// capLatency makes the p99 of a run in which over 1 % failed the deadline, which
// those requests have waited for, so that means and intervals exist.
func (g *gate) capLatency(c *results.Cell) {
	if deadline := g.runner.Study.Measure.DeadlineS; deadline > 0 && math.IsInf(float64(c.TTFTP99), 1) {
		c.TTFTP99 = results.Float(deadline)
	}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// threeDigits rounds a load.
func threeDigits(x float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 2, 64), 64)
	return rounded
}
