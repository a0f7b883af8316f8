package policies

import (
	"cmp"
	"slices"
)

// What Keep tolerates before it moves a key. The values are those of a study
// over lognormal steps of 0.3 on 30 destinations, where they keep nearly all of
// the balance of a plan from scratch.
const (
	keepImbalance = 0.10 // of the largest load above the mean
	keepMargin    = 0.15 // by which a key must beat one that has a place, and fall before it loses a copy
	keepTraffic   = 0.09 // of all traffic that is moved at once to balance
)

// Keep plans like Algorithm 1, but from an earlier table: keys stay where they
// are unless they lose their place or their destination is the hottest. Slicer
// (Adya et al., OSDI 2016) balances so. The rule has placement lpt, ties by index
// and no enforce_w.
func Keep(in PlanInput, before *Table) (Table, error) {
	if err := in.check(); err != nil {
		return Table{}, err
	}
	k := &keeper{
		in: in, before: before, load: make([]float64, in.Destinations),
		copies: make([]int, len(in.Rates)), sets: make([][]int32, len(in.Rates)),
	}
	k.admit()
	k.place()
	k.balance()
	return k.table(), nil
}

type keeper struct {
	in       PlanInput
	before   *Table
	admitted []int32 // by falling rate
	cold     float64
	load     []float64
	copies   []int     // k_b by key
	sets     [][]int32 // T(b) by key, of the admitted
}

// admit takes the most frequent keys, those that have a place with a margin.
func (k *keeper) admit() {
	boosted := slices.Clone(k.in.Rates)
	for _, b := range k.before.Admitted {
		boosted[b] *= 1 + keepMargin
	}
	free := k.in.Destinations * k.in.Rule.Slots
	stopped := false
	for _, it := range byFallingRate(boosted) {
		n := k.grant(it.index)
		if fits := n <= free; !fits || stopped {
			stopped = stopped || k.in.Rule.Admit == "stop"
			k.cold += k.in.Rates[it.index]
			continue
		}
		free -= n
		k.copies[it.index] = n
		k.admitted = append(k.admitted, it.index)
	}
	slices.SortFunc(k.admitted, func(a, b int32) int {
		return cmp.Or(cmp.Compare(k.in.Rates[b], k.in.Rates[a]), cmp.Compare(a, b))
	})
}

// grant is k_b, or the number that the key has had if its rate is little below
// what that needs.
func (k *keeper) grant(b int32) int {
	p := planner{in: k.in}
	n, had, rate := p.grant(k.in.Rates[b]), len(k.before.Assigned(int(b))), k.in.Rates[b]
	if had > n && rate > (1-keepMargin)*float64(had-1)*k.in.Rule.QCap {
		return had
	}
	return n
}

// place leaves keys where they are, then gives what is missing to the least
// loaded.
func (k *keeper) place() {
	for r := range k.load {
		k.load[r] = k.cold / float64(len(k.load))
	}
	for _, b := range k.admitted {
		old := k.before.Assigned(int(b))
		k.sets[b] = slices.Clone(old[:min(len(old), k.copies[b])])
		for _, r := range k.sets[b] {
			k.load[r] += k.share(b)
		}
	}
	for _, b := range k.admitted {
		for len(k.sets[b]) < k.copies[b] {
			r := k.lightest(k.sets[b])
			k.sets[b] = append(k.sets[b], r)
			k.load[r] += k.share(b)
		}
	}
}

// share is the load of one of the key's assignments.
func (k *keeper) share(b int32) float64 { return k.in.Rates[b] / float64(k.copies[b]) }

// lightest is the destination of the least load that is not among those given.
func (k *keeper) lightest(but []int32) int32 {
	best := int32(-1)
	for r, load := range k.load {
		if !slices.Contains(but, int32(r)) && (best < 0 || load < k.load[best]) {
			best = int32(r)
		}
	}
	return best
}

// balance moves assignments from the hottest destination to the lightest while
// that is needed, helps, and little has moved.
func (k *keeper) balance() {
	total := 0.0
	for _, l := range k.load {
		total += l
	}
	limit, budget := (1+keepImbalance)*total/float64(len(k.load)), keepTraffic*total
	stuck := make([]bool, len(k.load))
	for {
		hot := -1
		for r, load := range k.load {
			if !stuck[r] && load > limit && (hot < 0 || load > k.load[hot]) {
				hot = r
			}
		}
		if hot < 0 {
			return
		}
		b, to := k.move(int32(hot), limit, budget)
		if b < 0 {
			stuck[hot] = true
			continue
		}
		w := k.share(b)
		k.sets[b][slices.Index(k.sets[b], int32(hot))] = to
		k.load[hot] -= w
		k.load[to] += w
		budget -= w
	}
}

// move chooses an assignment of a hot destination and where it goes: the largest
// whose whole load is too much there, else the smallest. The new destination
// stays cooler than this one was. -1: none.
func (k *keeper) move(hot int32, limit, budget float64) (key, to int32) {
	key = -1
	best, excess := 0.0, k.load[hot]-limit
	for _, b := range k.admitted {
		w := k.share(b)
		if w == 0 || w > budget || !slices.Contains(k.sets[b], hot) {
			continue
		}
		r := k.lightest(k.sets[b])
		if r < 0 || k.load[r]+w >= k.load[hot] {
			continue
		}
		worth := min(1, excess/w) // load taken off for each unit of load moved
		if worth > best || worth == best && w > k.share(key) {
			best, key, to = worth, b, r
		}
	}
	return key, to
}

// table packs the sets.
func (k *keeper) table() Table {
	t := Table{
		Admitted: k.admitted, ColdRate: k.cold, Load: k.load, Slots: make([]int, len(k.load)),
		QCap: k.in.Rule.QCap, spans: make([]span, len(k.in.Rates)),
	}
	for _, b := range k.admitted {
		set := k.sets[b]
		t.spans[b] = span{at: len(t.flat), n: len(set)}
		t.flat = append(t.flat, set...)
		t.AdmittedRate += k.in.Rates[b]
		for _, r := range set {
			t.Slots[r]++
		}
		if want := (&planner{in: k.in}).copies(k.in.Rates[b]); float64(len(set)) < want {
			t.Infeasible = append(t.Infeasible, Infeasible{Key: int(b), Rate: k.in.Rates[b], Wanted: want, Given: len(set)})
		}
	}
	t.Assignments = len(t.flat)
	return t
}
