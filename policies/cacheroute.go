package policies

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"cacheroute/workload"
)

// CacheRoute is the paper's policy (sections 3.1 and 3.2): Algorithm 1 plans a
// table T from the key rates before the run; a request of an admitted key goes
// to the member of T(b) with the fewest requests in flight, tie at random, and
// never leaves T(b), however loaded ("stability avoids per-request cap
// thrashing"); any other goes to the better of two random destinations of all.
//
// The switches are the points that the paper leaves open; the defaults are the
// literal reading of Algorithm 1.
type CacheRoute struct {
	// Slots is W, the warm prefixes that the planner allots to a destination:
	// about what its KV cache holds, kv_blocks x block_tokens / tokens of a key's
	// prefix. The paper gives no number; with 30 destinations 128 keys fit and 256
	// do not (section 5.1), hence 5 to 8 for its prompts.
	Slots int `yaml:"slots" jsonschema:"minimum=1,maximum=1e6"`
	// QCap is q_cap, the load that one destination serves within the SLO, in
	// requests per second: the knee of a single destination. 0 assumes that it
	// is above the rate of every key, as in the paper's main runs: all k_b = 1.
	QCap float64 `yaml:"q_cap_qps" jsonschema:"minimum=0,maximum=1e9"`
	// Admit says what follows the first key that does not fit the free slots:
	// stop (Algorithm 1, step 4 as a loop) or skip it and try the next.
	Admit string `yaml:"admit" jsonschema:"enum=stop,enum=skip"`
	// Placement of the admitted keys: lpt (steps 7 to 9) or random, k_b different
	// destinations whatever their load (the rows of Table 4 without LPT).
	Placement string `yaml:"placement" jsonschema:"enum=lpt,enum=random"`
	// Replication, if off, gives every key one destination (Table 4, affinity).
	Replication bool `yaml:"replication"`
	// Tie orders destinations of equal load: by index, or by a permutation
	// drawn with the seed of the run.
	Tie string `yaml:"tie" jsonschema:"enum=index,enum=random"`
	// EnforceW limits each destination to W keys. Algorithm 1 limits only their
	// sum, C = R*W.
	EnforceW bool `yaml:"enforce_w"`
	// ColdInit is the load before placement (step 5): uniform, an equal share
	// of the rate of the keys that were not admitted, or none. Neither moves a
	// key; it shifts the reported load.
	ColdInit string `yaml:"cold_init" jsonschema:"enum=uniform,enum=none"`
	// Dispatch chooses within T(b): inflight, or rr, each member in turn.
	Dispatch string `yaml:"dispatch" jsonschema:"enum=inflight,enum=rr"`
	// Replan says what follows a step of a drift of the rates: never keeps the
	// table of the start; every installs, at the start of each interval, the plan
	// of its own true rates; late the plan of the true rates of the interval
	// before; keep that of its own rates with as few moves as balance needs, which
	// is not the paper's. Requests in flight stay where they are and no KV moves.
	Replan string `yaml:"replan" jsonschema:"enum=never,enum=every,enum=late,enum=keep"`
}

// NewCacheRoute returns the parameters of the literal Algorithm 1.
func NewCacheRoute() *CacheRoute {
	return &CacheRoute{
		Slots: 5, Admit: "stop", Placement: "lpt", Replication: true,
		Tie: "index", ColdInit: "uniform", Dispatch: "inflight", Replan: "never",
	}
}

// About implements Spec.
func (s *CacheRoute) About() string {
	return "the paper's plan (Algorithm 1): frequent keys to their planned destinations, others as flat-lb"
}

// Check implements Spec.
func (s *CacheRoute) Check() error {
	return cmp.Or(
		within("slots", float64(s.Slots), 1, 1e6),
		within("q_cap_qps", s.QCap, 0, 1e9),
		oneOf("admit", s.Admit, "stop", "skip"),
		oneOf("placement", s.Placement, "lpt", "random"),
		oneOf("tie", s.Tie, "index", "random"),
		oneOf("cold_init", s.ColdInit, "uniform", "none"),
		oneOf("dispatch", s.Dispatch, "inflight", "rr"),
		oneOf("replan", s.Replan, "never", "every", "late", "keep"),
		s.checkKeep())
}

// checkKeep refuses switches that Keep does not have.
func (s *CacheRoute) checkKeep() error {
	if s.Replan == "keep" && (s.Placement != "lpt" || s.Tie != "index" || s.EnforceW) {
		return fmt.Errorf("replan: keep goes with placement lpt, tie index and without enforce_w only")
	}
	return nil
}

// Build implements Spec: it plans the table of the run.
func (s *CacheRoute) Build(env Env) (Policy, error) {
	if len(env.Rates) != len(env.KeyHashes) {
		return nil, fmt.Errorf("cacheroute: %d rates for %d keys", len(env.Rates), len(env.KeyHashes))
	}
	in := PlanInput{Rates: env.Rates, Destinations: env.Destinations, Seed: env.HashSeed, Rule: *s}
	table, err := Plan(in)
	if err != nil {
		return nil, err
	}
	p := cacheRoute{table: table, flat: twoChoices{rng: env.Rand}, rng: env.Rand}
	if s.Dispatch == "rr" {
		p.turn = make([]int32, len(env.Rates))
	}
	if s.Replan == "never" || env.NextRates == nil {
		return &p, nil
	}
	return &replanning{cacheRoute: p, in: in, interval: env.Interval, next: env.NextRates, at: env.Interval}, nil
}

// Planned is a Policy that follows a routing table.
type Planned interface {
	Policy
	// Table is the table in force. The caller must not change it.
	Table() *Table
}

type cacheRoute struct {
	table Table
	turn  []int32 // by key: whose turn it is in T(b); nil unless dispatch is rr
	flat  twoChoices
	rng   *rand.Rand
}

func (p *cacheRoute) Table() *Table { return &p.table }

// Spread implements Spreader.
func (p *cacheRoute) Spread(key int32) []int32 { return p.table.Assigned(int(key)) }

func (p *cacheRoute) Route(r *workload.Request, v *View) int {
	set := p.table.Assigned(int(r.Key))
	switch {
	case len(set) == 0:
		return p.flat.pick(v)
	case len(set) == 1:
		return int(set[0])
	case p.turn != nil:
		at := p.turn[r.Key]
		p.turn[r.Key] = (at + 1) % int32(len(set))
		return int(set[at])
	}
	return leastOf(set, v, p.rng)
}

// leastOf is the destination of a non-empty set with the fewest requests in
// flight, each of equals with the same chance.
func leastOf(set []int32, v *View, rng *rand.Rand) int {
	best, load, equal := set[0], v.InFlight(int(set[0])), 1
	for _, d := range set[1:] {
		switch q := v.InFlight(int(d)); {
		case q < load:
			best, load, equal = d, q, 1
		case q == load:
			if equal++; rng.IntN(equal) == 0 {
				best = d
			}
		}
	}
	return int(best)
}
