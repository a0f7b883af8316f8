package policies

import (
	"cmp"

	"cacheroute/workload"
)

// CHWBL is consistent hashing with bounded loads (Mirrokni, Thorup and
// Zadimoghaddam, SODA 2018, arXiv 1608.01350; paper section 4): walk the ring
// clockwise from the key to the first destination whose load stays within
// 1+epsilon times the mean. The load is requests in flight, as in every router
// that does it. The theorem also moves balls that are already placed; request
// routers do not, nor does this.
type CHWBL struct {
	// Rule says which destination with x requests in flight admits one more,
	// when m are in flight on n destinations and c = 1+epsilon:
	//   paper   x+1 <= ceil(c*(m+1)/n)
	//   kubeai  x <= c*(m+1)/n; differs only where that is a whole number
	//   envoy   x <= ceil(ceil(c*(m+1))/n), one more than the paper
	//   sglang  x <= c*m/n
	// The walk is clockwise for all four. (Envoy itself shuffles the hosts, and
	// SGLang's c is 1.5.)
	Rule string `yaml:"rule" jsonschema:"enum=paper,enum=kubeai,enum=envoy,enum=sglang"`
	// Epsilon is the slack over the mean, to the millionth; the paper swept
	// it to 0.25.
	Epsilon float64 `yaml:"epsilon" jsonschema:"minimum=0,maximum=1000"`
	// Overflow says where a request goes that its home does not admit: next, the
	// first clockwise that admits it, as in the theorem; least_loaded, the least
	// loaded of all, the first clockwise of equals, as SGLang's model gateway has
	// it (prefix_hash.rs).
	Overflow string `yaml:"overflow" jsonschema:"enum=next,enum=least_loaded"`
	// Vnodes is the number of ring points a destination.
	Vnodes int `yaml:"vnodes" jsonschema:"minimum=1,maximum=65536"`
}

// About implements Spec.
func (s *CHWBL) About() string {
	return "consistent hashing with bounded loads: the next destination on the ring that is not too busy"
}

// Check implements Spec.
func (s *CHWBL) Check() error {
	return cmp.Or(
		oneOf("rule", s.Rule, "paper", "kubeai", "envoy", "sglang"),
		oneOf("overflow", s.Overflow, "next", "least_loaded"),
		within("epsilon", s.Epsilon, 0, 1000),
		within("vnodes", float64(s.Vnodes), 1, maxVnodes))
}

// Build implements Spec.
func (s *CHWBL) Build(env Env) (Policy, error) {
	if err := checkRing(env, s.Vnodes); err != nil {
		return nil, err
	}
	points := newRing(env.Destinations, s.Vnodes, env.HashSeed)
	return &chwbl{
		points: points,
		homes:  newHomes(env, env.HashSeed, points.first),
		limit:  loadLimits[s.Rule],
		factor: million + millionths(s.Epsilon),
		lowest: s.Overflow == "least_loaded",
	}, nil
}

type chwbl struct {
	points ring
	homes  homes // the home of a key is a point of the ring
	limit  func(factor, total, n int64) int64
	factor int64 // c in millionths
	lowest bool  // a request that overflows goes to the least loaded
}

// Route falls back to the home after a full round. With consistent counts no
// round is ever full: the limits add up to more than m.
func (p *chwbl) Route(r *workload.Request, v *View) int {
	home := p.homes.of(r.Key)
	limit := int(p.limit(p.factor, int64(v.Total()), int64(v.Destinations())))
	if d := int(p.points[home].index); p.lowest && v.InFlight(d) > limit {
		limit = v.InFlight(int(v.Ascending()[0]))
	}
	for _, part := range [2]ring{p.points[home:], p.points[:home]} {
		for i := range part {
			if d := int(part[i].index); v.InFlight(d) <= limit {
				return d
			}
		}
	}
	return int(p.points[home].index)
}

// loadLimits gives the most requests in flight with which a destination admits
// one more, by rule. Integers throughout: c is a count of millionths.
var loadLimits = map[string]func(factor, total, n int64) int64{
	// x+1 <= ceil(y) is x < y.
	"paper":  func(c, m, n int64) int64 { return (c*(m+1) - 1) / (million * n) },
	"kubeai": func(c, m, n int64) int64 { return c * (m + 1) / (million * n) },
	"envoy":  func(c, m, n int64) int64 { return ceilDiv(ceilDiv(c*(m+1), million), n) },
	"sglang": func(c, m, n int64) int64 { return c * m / (million * n) },
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
