package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"cacheroute/policies"
	"cacheroute/scenarios"
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// planRates is what the plan is made of, brought to the load near the knee: the
// true rates of a study, those of the training window of a trace.
func (g *gate) planRates(qps float64) ([]float64, error) {
	t := g.runner.Trace()
	if t == nil {
		return g.runner.Rates(qps)
	}
	rates := slices.Clone(g.trained.Rates)
	for i := range rates {
		rates[i] *= qps / t.QPS()
	}
	return rates, nil
}

// planned is the shadow replay of the plan of these rates, or of rates that are
// one step of drift off.
func (g *gate) planned(rates []float64) *scenarios.Runner {
	s := g.shadow
	s.PlanRates = map[uint64][]float64{}
	for _, seed := range g.seeds {
		s.PlanRates[seed] = rates
		if g.drift > 0 {
			s.PlanRates[seed] = drifted(rates, g.drift, clock.Streams{Seed: seed}.Rand("gate/drift"))
		}
	}
	return g.runner.Shadow(s)
}

// drifted is the rates after one lognormal step, with their old sum.
func drifted(rates []float64, sigma float64, rng *rand.Rand) []float64 {
	moved := make([]float64, len(rates))
	sum, total := 0.0, 0.0
	for i, rate := range rates {
		moved[i] = rate * math.Exp(sigma*rng.NormFloat64())
		sum, total = sum+rate, total+moved[i]
	}
	for i := range moved {
		moved[i] *= sum / total
	}
	return moved
}

// Plan is the assignment that was judged.
type Plan struct {
	Rates    string  `json:"rates"` // oracle, or estimated
	About    string  `json:"about"`
	LoadQPS  float64 `json:"load_qps"`
	Keys     int     `json:"keys"` // with a rate
	Admitted int     `json:"admitted"`
	Share    float64 `json:"admitted_share"` // of the traffic that was planned
	Covered  float64 `json:"covered_share"`  // of the measured traffic
	Balance  float64 `json:"imbalance"`      // planned, largest over mean load
	Busiest  float64 `json:"busiest_share"`  // of the busiest key, of the traffic that was planned
}

// plan describes the candidate's assignment, nil if it has none; the table has
// names where a router can know them, else it is nil too.
func (g *gate) plan(m *measured) (*Plan, *scenarios.RoutingTable, error) {
	s := g.runner.Study
	rule, ok := s.Policies[1].Spec.(*policies.CacheRoute)
	if !ok {
		return nil, nil, nil
	}
	in := policies.PlanInput{Rates: m.rates, Destinations: s.Fleet.Destinations, Rule: *rule, Seed: clock.Streams{Seed: g.seeds[0]}.Uint64("policy/hash")}
	t, err := policies.Plan(in)
	if err != nil {
		return nil, nil, err
	}
	p := &Plan{Rates: "oracle", LoadQPS: m.near, Admitted: len(t.Admitted), Share: t.AdmittedShare(), Covered: t.AdmittedShare(), Balance: t.Imbalance(),
		About: "the true rates of the workload, which an operator can only estimate"}
	for _, rate := range m.rates {
		if rate > 0 {
			p.Keys++
		}
	}
	p.Busiest = slices.Max(m.rates) / (t.AdmittedRate + t.ColdRate)
	if g.runner.Trace() != nil {
		p.Rates, p.About = "estimated", g.trainWords()
		if p.Covered, err = g.covered(&t); err != nil {
			return nil, nil, err
		}
	}
	names := g.runner.KeyNames()
	if names == nil {
		return p, nil, nil
	}
	table, err := scenarios.NewRoutingTable(&workload.Rates{Names: names, Rates: m.rates, Requests: g.trained.Requests}, in.Destinations, *rule, in.Seed)
	return p, table, err
}

// covered is the share of the measured requests of a trace whose keys the table
// holds.
func (g *gate) covered(t *policies.Table) (float64, error) {
	came, err := g.runner.Trace().EstimateRates(workload.RateWindow{FromS: g.shadow.Parts[g.seeds[0]].FromS, ToS: 2 * g.runner.Trace().Header().SpanS})
	if err != nil {
		return 0, scenarios.Badf("%v", err)
	}
	held, all := 0.0, 0.0
	for key, rate := range came {
		all += rate
		if len(t.Assigned(key)) > 0 {
			held += rate
		}
	}
	return held / all, nil
}

// trainWords says what the plan has seen of a trace.
func (g *gate) trainWords() string {
	text := fmt.Sprintf("counted in the first %.6g s of the recording", g.trained.ToS)
	if g.HalfLifeS > 0 {
		text += fmt.Sprintf(", weights halved every %g s back", g.HalfLifeS)
	}
	return text + "; the plan has seen nothing of what is measured"
}
