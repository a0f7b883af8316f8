package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"cacheroute/results"
	"cacheroute/scenarios"
)

// Claim is a statement of the paper's text beside what the simulation says.
type Claim struct {
	Table    string `json:"table"`
	Place    string `json:"place"`
	Text     string `json:"text"`
	Outcome  string `json:"outcome"` // holds, does not hold, cut off, not run
	Evidence string `json:"evidence"`
	Fitted   bool   `json:"fitted"` // the fit of the harness has seen it
}

// The outcomes of a claim. It is cut off if it compares capacities that are all
// above the ladder, which is no evidence that they are equal.
const (
	Holds   = "holds"
	DoesNot = "does not hold"
	CutOff  = "cut off"
)

// claim is a statement and how it is checked.
type claim struct {
	table, place, text string
	fitted             bool
	studies            []string
	check              func(f *findings) bool
}

// findings read the figures that a claim is about and keep them as its evidence.
type findings struct {
	bench    *bench
	where    string // heads what is read next
	evidence []string
	cutOff   bool   // the claim hangs on capacities above the ladder
	reason   string // why a figure was not there
}

func (b *bench) claim(c claim) Claim {
	f := &findings{bench: b}
	out := Claim{Table: c.table, Place: c.place, Text: c.text, Fitted: c.fitted, Outcome: DoesNot}
	if c.check(f) {
		out.Outcome = Holds
	}
	out.Evidence = strings.Join(f.evidence, "; ")
	switch {
	case f.reason != "":
		out.Outcome, out.Evidence = string(NotRun), f.reason
	case f.cutOff:
		out.Outcome = CutOff
	}
	return out
}

// read is a figure of a study, 0 if it was not run.
func (f *findings) read(name string, s source) float64 {
	fill(&s.Load, commonLoad)
	n, reason := f.bench.measure(s)
	if reason != "" {
		f.reason = reason
		return 0
	}
	f.evidence = append(f.evidence, f.where+name+" "+n.Text)
	f.where = ""
	return float64(n.Mean)
}

func (f *findings) capacity(study, policy string, slo float64) float64 {
	return f.read(policy, source{Study: study, Policy: policy, Kind: "capacity", SLO: slo})
}

// capacities are those of several policies, in their order.
func (f *findings) capacities(study string, slo float64, policies ...string) (all []float64) {
	for _, p := range policies {
		all = append(all, f.capacity(study, p, slo))
	}
	return all
}

func (f *findings) hit(study, policy string) float64 {
	return f.read(policy+" hit", source{Study: study, Policy: policy, Kind: "hit"})
}

func (f *findings) p99(study, policy string) float64 {
	return f.read(policy+" p99", source{Study: study, Policy: policy, Kind: "p99"})
}

// rungs is how many rungs of the ladder a capacity lies above another.
func (f *findings) rungs(study string, above, below float64) float64 {
	ladder := f.bench.ladder(study)
	if ladder == nil {
		return 0
	}
	return scenarios.Rung(above, ladder) - scenarios.Rung(below, ladder)
}

// at heads the evidence that follows.
func (f *findings) at(where string) { f.where = where + ": " }

// beats says whether the capacity of a policy is above the best of the others.
func (f *findings) beats(study string, slo float64, policy string, others ...string) bool {
	best := slices.Max(f.capacities(study, slo, others...))
	own := f.capacity(study, policy, slo)
	if own == best && f.atTop(study, policy) {
		f.cutOff = true
	}
	return own > best
}

// atTop says whether a capacity is cut off by the top of the ladder.
func (f *findings) atTop(study, policy string) bool {
	e := f.bench.byName[study]
	if e.runner == nil {
		return false
	}
	r := e.capacityOf(policy, primarySLO)
	return r != nil && r.Censor == results.CensorRight
}

// saturated is the load at which Table 4's imbalance is read, the top of its
// ladder: only there do whales exceed q_cap three times.
const saturated = 500

var (
	baselines = []string{"flat-lb", "sticky", "chwbl", "dualmap", "preble"}
	everyone  = append(slices.Clone(baselines), "cacheroute")
)

// claims are the statements of the text, in the order of the tables.
func claims() []claim {
	return slices.Concat(primaryClaims(), secondClaims(), mechanismClaims(), regimeClaims(), sensitivityClaims(), replanClaims())
}

func primaryClaims() []claim {
	held := []string{"held-out"}
	return []claim{
		{table: "1", place: "section 5.1", text: "CacheRoute sustains more than every baseline at 3.5 s", fitted: true, studies: held, check: func(f *findings) bool {
			return f.beats("held-out", 3.5, "cacheroute", baselines...)
		}},
		{table: "1", place: "section 5.1", text: "at 5 s CacheRoute still sustains more, by less than at 3.5 s", fitted: true, studies: held, check: func(f *findings) bool {
			tight := f.read("over the best at 3.5 s", source{Study: "held-out", Policy: "cacheroute", Kind: "multiplier", Over: "best", SLO: 3.5})
			loose := f.read("at 5 s", source{Study: "held-out", Policy: "cacheroute", Kind: "multiplier", Over: "best", SLO: 5})
			return loose > 1 && loose < tight
		}},
		{table: "1", place: "section 5.1", text: "at 2 s CacheRoute is the only policy that passes any load", fitted: true, studies: held, check: func(f *findings) bool {
			c := f.capacities("held-out", 2, everyone...)
			return c[5] > 0 && slices.Max(c[:5]) == 0
		}},
		{table: "F2", place: "Figure 2a", text: "at 100 QPS only CacheRoute is below the 3.5-s SLO", fitted: true, studies: []string{"primary"}, check: func(f *findings) bool {
			own, best := f.p99("primary", "cacheroute"), math.Inf(1)
			for _, p := range baselines {
				best = min(best, f.p99("primary", p))
			}
			return own <= primarySLO && best > primarySLO
		}},
		{table: "1", place: "section 5.1", text: "locality alone does not help: Sticky and DualMap have higher hit rates than CHWBL and Preble, and a higher p99 at 100 QPS", fitted: true, studies: held, check: func(f *findings) bool {
			higher := func(figure func(study, policy string) float64) bool {
				return min(figure("held-out", "sticky"), figure("held-out", "dualmap")) > max(figure("held-out", "chwbl"), figure("held-out", "preble"))
			}
			hits, slow := higher(f.hit), higher(f.p99)
			return hits && slow
		}},
		{table: "1", place: "section 3.2", text: "at its capacity no key of the primary distribution needs a second destination", studies: []string{"primary-q-cap"}, check: func(f *findings) bool {
			return f.read("keys above q_cap:", source{Study: "primary-q-cap", Kind: "number", Figure: "replicated", Load: 180}) == 0
		}},
		{table: "9", place: "section 5.1", text: "at top-256 CacheRoute is ahead of DualMap at both objectives, by less than at top-128", studies: []string{"wide", "primary"}, check: func(f *findings) bool {
			over := func(study string) float64 {
				return f.read("over dualmap", source{Study: study, Policy: "cacheroute", Kind: "multiplier", Over: "dualmap", SLO: 3.5})
			}
			ahead, ahead5 := f.beats("wide", 3.5, "cacheroute", "dualmap"), f.beats("wide", 5, "cacheroute", "dualmap")
			less := over("wide") < over("primary")
			return ahead && ahead5 && less
		}},
	}
}

func secondClaims() []claim {
	return []claim{
		{table: "2", place: "section 5.1", text: "top-128: CHWBL, DualMap and CacheRoute tie (within a rung)", studies: []string{"second-128"}, check: func(f *findings) bool {
			c := f.capacities("second-128", 3.5, "chwbl", "dualmap", "cacheroute")
			return f.rungs("second-128", slices.Max(c), slices.Min(c)) <= rungsNear
		}},
		{table: "2", place: "section 5.1", text: "top-256: CacheRoute wins (by more than a rung)", studies: []string{"second-256"}, check: func(f *findings) bool {
			c := f.capacities("second-256", 3.5, everyone...)
			return f.rungs("second-256", c[5], slices.Max(c[:5])) > rungsNear
		}},
	}
}

func mechanismClaims() []claim {
	wide := []string{"8b-16", "8b-32", "8b-64", "8b-128", "8b-256", "8b-2000"}
	ablation := []string{"whales", "whales-affinity", "whales-replication"}
	steps := func(f *findings, kind string) (all []float64) {
		s := source{Kind: kind, SLO: 3.5, Load: saturated, Policy: "cacheroute"}
		for _, study := range []string{"whales-affinity", "whales-replication", "whales"} {
			s.Study = study
			all = append(all, f.read(study, s))
		}
		return all
	}
	return []claim{
		{table: "3", place: "section 5.2", text: "CacheRoute never falls below Flat-LB", studies: wide, check: func(f *findings) bool {
			ok := true
			for _, study := range wide {
				f.at(study)
				c := f.capacities(study, 3.5, "flat-lb", "cacheroute")
				ok = ok && c[1] >= c[0]
			}
			return ok
		}},
		{table: "3", place: "section 5.2", text: "Flat-LB and CacheRoute both reach the top of the ladder at top-16, 32 and 64", studies: wide[:3], check: func(f *findings) bool {
			ok := true
			for _, study := range wide[:3] {
				f.at(study)
				f.capacities(study, 3.5, "flat-lb", "cacheroute")
				ok = ok && f.atTop(study, "flat-lb") && f.atTop(study, "cacheroute")
			}
			return ok
		}},
		{table: "3", place: "section 5.2", text: "top-2000: CacheRoute's knee falls from that at top-256 and still is the best or tied", studies: wide[4:], check: func(f *findings) bool {
			before := f.capacity("8b-256", "cacheroute", 3.5)
			f.at("top-2000")
			c := f.capacities("8b-2000", 3.5, everyone...)
			return c[5] < before && c[5] >= slices.Max(c[:5])
		}},
		{table: "4", place: "section 5.2", text: "affinity raises the hit rate by 32 points (here: by half of that or more) and more than doubles the imbalance", studies: ablation[:2], check: func(f *findings) bool {
			gain := f.hit("whales-affinity", "cacheroute") - f.hit("whales", "flat-lb")
			flat := f.read("flat-lb imbalance", source{Study: "whales", Policy: "flat-lb", Kind: "imbalance", Load: saturated})
			own := f.read("cacheroute imbalance", source{Study: "whales-affinity", Policy: "cacheroute", Kind: "imbalance", Load: saturated})
			return gain >= 16 && own > 2*flat
		}},
		{table: "4", place: "section 5.2", text: "imbalance falls with replication, then with LPT", studies: ablation, check: func(f *findings) bool {
			x := steps(f, "imbalance")
			return x[0] > x[1] && x[1] > x[2]
		}},
		{table: "4", place: "section 5.2", text: "the knee moves only with LPT", studies: ablation, check: func(f *findings) bool {
			flat := f.capacity("whales", "flat-lb", 3.5)
			x := steps(f, "capacity")
			return f.rungs("whales", x[0], flat) <= rungsNear && f.rungs("whales", x[1], flat) <= rungsNear && f.rungs("whales", x[2], max(x[0], x[1])) > 0
		}},
	}
}

func regimeClaims() []claim {
	loss := func(slo float64) func(f *findings) bool {
		return func(f *findings) bool {
			c := f.capacities("32b-a", slo, twoPolicies...)
			return c[1] < c[0]
		}
	}
	return []claim{
		{table: "5", place: "section 5.3", text: "8B with whales: CacheRoute wins", studies: []string{"whales"}, check: func(f *findings) bool {
			return f.beats("whales", 3.5, "cacheroute", "flat-lb")
		}},
		{table: "15", place: "Appendix G", text: "aggregate A-32B: CacheRoute loses at 3.5 s", studies: []string{"32b-a"}, check: loss(3.5)},
		{table: "15", place: "Appendix G", text: "aggregate A-32B: CacheRoute loses at 5 s", studies: []string{"32b-a"}, check: loss(5)},
		{table: "15", place: "Appendix G", text: "aggregate B-32B: a tie at 5 s (within a rung)", studies: []string{"32b-b"}, check: func(f *findings) bool {
			c := f.capacities("32b-b", 5, twoPolicies...)
			f.cutOff = f.atTop("32b-b", "flat-lb") && f.atTop("32b-b", "cacheroute")
			return f.rungs("32b-b", slices.Max(c), slices.Min(c)) <= rungsNear
		}},
		{table: "8", place: "Appendix C.1", text: "fp16: no policy meets 3.5 s", studies: []string{"fp16-128"}, check: func(f *findings) bool {
			return slices.Max(f.capacities("fp16-128", 3.5, "flat-lb", "sticky", "cacheroute")) == 0
		}},
		{table: "8", place: "Appendix C.1", text: "fp16: Sticky and CacheRoute hit alike (within 3 points), far above Flat-LB", studies: []string{"fp16-128"}, check: func(f *findings) bool {
			sticky, planned := f.hit("fp16-128", "sticky"), f.hit("fp16-128", "cacheroute")
			return nearPoints(sticky, planned, nil) && min(sticky, planned) > 2*f.hit("fp16-128", "flat-lb")
		}},
	}
}

func sensitivityClaims() []claim {
	keeps := func(study, policy string) func(f *findings) bool {
		return func(f *findings) bool {
			before := f.capacity("primary", policy, 3.5)
			f.at(study)
			return f.rungs(study, before, f.capacity(study, policy, 3.5)) <= rungsNear
		}
	}
	return []claim{
		{table: "10", place: "section 5.4", text: "Gamma gaps cost CacheRoute at most a rung", studies: []string{"primary", "gamma"}, check: keeps("gamma", "cacheroute")},
		{table: "10", place: "section 5.4", text: "Gamma gaps cost Flat-LB nothing (at most a rung)", studies: []string{"primary", "gamma"}, check: keeps("gamma", "flat-lb")},
		{table: "11", place: "section 5.4", text: "the block bootstrap leaves CacheRoute where it was (within a rung)", studies: []string{"primary", "blocks"}, check: keeps("blocks", "cacheroute")},
		{table: "11", place: "section 5.4", text: "the block bootstrap puts Flat-LB below 30 QPS", studies: []string{"blocks"}, check: func(f *findings) bool { return f.capacity("blocks", "flat-lb", 3.5) == 0 }},
		{table: "13", place: "Appendix F.1", text: "q_cap from 50 to 500 QPS changes no capacity of CacheRoute", studies: []string{"q-cap-50", "q-cap-100", "q-cap-200", "q-cap-500"}, check: func(f *findings) bool {
			first := f.capacity("q-cap-50", "cacheroute", 3.5)
			same := true
			f.cutOff = f.atTop("q-cap-50", "cacheroute")
			for _, study := range []string{"q-cap-100", "q-cap-200", "q-cap-500"} {
				same = f.capacity(study, "cacheroute", 3.5) == first && same
			}
			return same
		}},
		{table: "14", place: "Appendix F.2", text: "8 destinations: no load passes", studies: []string{"fleet-8"}, check: func(f *findings) bool {
			return slices.Max(f.capacities("fleet-8", 3.5, twoPolicies...)) == 0
		}},
		{table: "14", place: "Appendix F.2", text: "60 destinations: CacheRoute does not win, and hits less than on 30", studies: []string{"fleet-60", "whales"}, check: func(f *findings) bool {
			wins := f.beats("fleet-60", 3.5, "cacheroute", "flat-lb")
			less := f.hit("fleet-60", "cacheroute") < f.hit("whales", "cacheroute")
			return !wins && less
		}},
	}
}

func replanClaims() []claim {
	both := []string{"drift-fresh", "drift-stale"}
	figure := func(kind, name string) source { return source{Study: "drift-fresh", Kind: kind, Figure: name} }
	return []claim{
		{table: "12", place: "section 5.4", text: "planning anew moves nearly all key sets (94.5 %, within 3 points)", studies: both, check: func(f *findings) bool {
			return nearPoints(94.5, f.read("moved, %:", figure("churn", "sets")), nil)
		}},
		{table: "12", place: "section 5.4", text: "a plan one interval old costs little: at most 3 points of hit on average", studies: both, check: func(f *findings) bool {
			return f.read("points lost:", figure("points", "hit loss")) <= pointsNear
		}},
		{table: "12", place: "section 5.4", text: "installing a plan shows as a warm-up dip, larger than what staleness costs", studies: both, check: func(f *findings) bool {
			dip := f.read("dip, points:", figure("points", "dip"))
			return dip > 0 && dip > f.read("points lost:", figure("points", "hit loss"))
		}},
		{table: "text", place: "section 3.1", text: fmt.Sprintf("128,824 keys are planned within %d ms", planLimitMS), studies: []string{"primary"}, check: func(f *findings) bool {
			return f.read("ms:", source{Study: "primary", Kind: "limit"}) <= planLimitMS
		}},
	}
}
