package policies

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// PlanInput is what Algorithm 1 reads.
type PlanInput struct {
	Rates        []float64  // lambda_b in requests/s, by key
	Destinations int        // R
	Seed         uint64     // of random placement and random ties; else unused
	Rule         CacheRoute // parameters and switches; Dispatch is not used
}

// Plan is Algorithm 1 of the paper: it admits the keys with the highest rates
// while their assignments fit C = R*W slots, then gives each in turn the k_b
// destinations with the least planned load. It is a pure function of its
// input. Keys of equal rate go by index; one of rate 0 takes no place, as an
// estimate that has not seen a key knows nothing of it.
//
// A key that needs more than R destinations gets all of them and is noted as
// infeasible; so is one that enforce_w leaves with fewer than k_b.
func Plan(in PlanInput) (Table, error) {
	if err := in.check(); err != nil {
		return Table{}, err
	}
	p := &planner{in: in, t: Table{
		Load:  make([]float64, in.Destinations),
		Slots: make([]int, in.Destinations),
		QCap:  in.Rule.QCap,
		spans: make([]span, len(in.Rates)),
	}}
	admitted := p.admit(byFallingRate(in.Rates))
	p.warmUp()
	p.place(admitted)
	return p.t, nil
}

func (in *PlanInput) check() error {
	if err := in.Rule.Check(); err != nil {
		return err
	}
	if !(in.Destinations >= 1 && in.Destinations <= math.MaxInt32) {
		return fmt.Errorf("destinations: must be positive, got %d", in.Destinations)
	}
	for b, rate := range in.Rates {
		if !(rate >= 0 && rate <= math.MaxFloat64) {
			return fmt.Errorf("rates: key %d: must be finite and not negative, got %g", b, rate)
		}
	}
	return nil
}

// byFallingRate orders keys by rate, equal ones by index. The bits of floats
// that are not negative rise with their value.
func byFallingRate(rates []float64) []keyed {
	order := make([]keyed, len(rates))
	for b, rate := range rates {
		order[b] = keyed{word: ^math.Float64bits(rate + 0), index: int32(b)} // +0 makes -0 a 0
	}
	sortByWord(order)
	return order
}

// rateOf reads the rate back from the order: in place of a look-up in Rates,
// which misses the cache once a key.
func rateOf(it keyed) float64 { return math.Float64frombits(^it.word) }

type planner struct {
	in PlanInput
	t  Table
}

// copies is k_b = max(1, ceil(lambda_b/q_cap)) before any limit (Eq. 1).
func (p *planner) copies(rate float64) float64 {
	if p.in.Rule.QCap == 0 || !p.in.Rule.Replication {
		return 1
	}
	return max(1, math.Ceil(rate/p.in.Rule.QCap))
}

// grant is k_b clamped to the fleet: destinations must be different.
func (p *planner) grant(rate float64) int {
	return int(min(p.copies(rate), float64(p.in.Destinations)))
}

// admit is step 4. It returns the admitted part of order, compacted in place.
func (p *planner) admit(order []keyed) []keyed {
	free := p.in.Destinations * p.in.Rule.Slots // C
	admitted := order[:0]
	for i, it := range order {
		k := p.grant(rateOf(it))
		if free == 0 || rateOf(it) == 0 || k > free && p.in.Rule.Admit == "stop" {
			p.leaveCold(order[i:])
			break
		}
		if k > free {
			p.leaveCold(order[i : i+1])
			continue
		}
		free -= k
		p.t.AdmittedRate += rateOf(it)
		p.t.Assignments += k
		admitted = append(admitted, it)
	}
	return admitted
}

func (p *planner) leaveCold(keys []keyed) {
	for _, it := range keys {
		p.t.ColdRate += rateOf(it)
	}
}

// warmUp is step 5.
func (p *planner) warmUp() {
	if p.in.Rule.ColdInit == "none" {
		return
	}
	for r := range p.t.Load {
		p.t.Load[r] = p.t.ColdRate / float64(p.in.Destinations)
	}
}

// place is steps 6 to 11.
func (p *planner) place(admitted []keyed) {
	rng := rand.New(rand.NewPCG(p.in.Seed, 0x9e3779b97f4a7c15))
	var c chooser = newLightest(p.t.Load, p.in.Rule.Tie == "random", rng)
	if p.in.Rule.Placement == "random" {
		c = newAnyOf(p.in.Destinations, rng)
	}
	full := func(r int32) bool { return p.in.Rule.EnforceW && p.t.Slots[r] == p.in.Rule.Slots }
	p.t.Admitted = make([]int32, len(admitted))
	p.t.flat = make([]int32, p.t.Assignments)
	at := 0
	for i, it := range admitted {
		rate := rateOf(it)
		set := c.choose(p.t.flat[at : at+p.grant(rate)])
		if want := p.copies(rate); float64(len(set)) < want {
			p.t.Infeasible = append(p.t.Infeasible, Infeasible{Key: int(it.index), Rate: rate, Wanted: want, Given: len(set)})
		}
		for _, r := range set {
			p.t.Load[r] += rate / float64(len(set))
			p.t.Slots[r]++
		}
		c.settle(set, p.t.Load, full)
		p.t.Admitted[i] = it.index
		p.t.spans[it.index] = span{at: at, n: len(set)}
		at += len(set)
	}
	p.t.Assignments = at
}
