package policies

import (
	"cmp"
	"math/rand/v2"

	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// Preble is the paper's Preble-style row, "prefix history and live load" with
// a load-cap factor of 1.5 (sections 4 and 5.1; Preble, arXiv 2407.00023):
//
//	H = destinations that served the key within the last 180 s
//	r = argmin q over H, tie: most recent;  if q(r)+1 <= max(1, 1.5*(m+1)/R): return r
//	r = argmin q over all, tie: random;     H += r;  return r
//
// The paper gives no more than the factor, so this is a reading. It is not
// Preble's published E2 rule, which follows a match of more than half of the
// prompt whatever the load and so would hardly ever spill here, while the
// row's hit rate is below CHWBL's.
type Preble struct {
	// History is what a key remembers: the set of its destinations, or only
	// the last one.
	History string `yaml:"history" jsonschema:"enum=set,enum=last"`
	// HistoryExpiry drops a destination that has not served the key for that
	// long, in seconds; Preble's window is 3 minutes.
	HistoryExpiry float64 `yaml:"history_expiry_s" jsonschema:"minimum=0,maximum=1e6"`
	// CapBase is what the factor multiplies: the mean load or that of the
	// least-loaded destination (Preble's own threshold is heaviest over
	// lightest).
	CapBase string `yaml:"cap_base" jsonschema:"enum=mean,enum=min"`
	// CapFactor is the load cap in units of the base, to the millionth.
	CapFactor float64 `yaml:"cap_factor" jsonschema:"minimum=0,maximum=1000"`
	// Admits says which loads are compared: after, those with the request added,
	// q+1 <= max(1, factor*(m+1)/R), as a bound on loads is meant; before, those
	// without it, q <= factor*m/R, which spills less at low loads.
	Admits string `yaml:"admits" jsonschema:"enum=before,enum=after"`
	// Spill is where a request goes when its history is full or empty: the
	// least-loaded destination of all, or the better of two random ones.
	Spill string `yaml:"spill" jsonschema:"enum=global_min,enum=p2c"`
}

func newPreble() *Preble {
	return &Preble{History: "set", HistoryExpiry: 180, CapBase: "mean", CapFactor: 1.5, Admits: "after", Spill: "global_min"}
}

// About implements Spec.
func (s *Preble) About() string {
	return "a destination that lately served the key unless it is too busy, then the least loaded"
}

// Check implements Spec.
func (s *Preble) Check() error {
	return cmp.Or(
		oneOf("history", s.History, "set", "last"),
		within("history_expiry_s", s.HistoryExpiry, 0, 1e6),
		oneOf("cap_base", s.CapBase, "mean", "min"),
		within("cap_factor", s.CapFactor, 0, 1000),
		oneOf("admits", s.Admits, "before", "after"),
		oneOf("spill", s.Spill, "global_min", "p2c"))
}

// Build implements Spec.
func (s *Preble) Build(env Env) (Policy, error) {
	return &preble{
		history: make([][]visit, len(env.KeyHashes)),
		onlyOne: s.History == "last",
		expiry:  clock.FromSeconds(s.HistoryExpiry),
		overMin: s.CapBase == "min",
		after:   s.Admits == "after",
		factor:  millionths(s.CapFactor),
		twoRand: s.Spill == "p2c",
		flat:    twoChoices{rng: env.Rand},
		rng:     env.Rand,
	}, nil
}

type preble struct {
	history [][]visit // by key, most recent first
	onlyOne bool
	expiry  clock.Time
	overMin bool
	after   bool
	factor  int64 // in millionths
	twoRand bool
	flat    twoChoices
	rng     *rand.Rand
}

// visit is the last dispatch of a key to a destination.
type visit struct {
	seenAt      clock.Time
	destination int32
}

func (p *preble) Route(r *workload.Request, v *View) int {
	h := p.history[r.Key]
	for len(h) > 0 && v.Now-h[len(h)-1].seenAt > p.expiry {
		h = h[:len(h)-1]
	}
	lightest := v.InFlight(int(v.Ascending()[0]))
	at := leastVisited(h, v, lightest)
	if at < 0 || v.InFlight(int(h[at].destination)) > p.limit(v, lightest) {
		at, h = p.spill(h, v)
	}
	d := h[at].destination
	copy(h[1:at+1], h[:at])
	h[0] = visit{seenAt: v.Now, destination: d}
	p.history[r.Key] = h
	return int(d)
}

// leastVisited is the place in h of the least-loaded destination, the most
// recent of equals, -1 if h is empty. As h runs from the most recent on, it can
// stop at the first that is as light as any of the fleet: that bounds the scan
// once a hot key has been everywhere.
func leastVisited(h []visit, v *View, lightest int) int {
	best, load := -1, 0
	for i := range h {
		if q := v.InFlight(int(h[i].destination)); best < 0 || q < load {
			best, load = i, q
			if q == lightest {
				break
			}
		}
	}
	return best
}

// limit is the most requests in flight with which a destination takes one more.
func (p *preble) limit(v *View, lightest int) int {
	base, per := int64(v.Total()), int64(v.Destinations())
	if p.overMin {
		base, per = int64(lightest), 1
	}
	if p.after {
		return max(0, int(p.factor*(base+1)/(million*per))-1)
	}
	return int(p.factor * base / (million * per))
}

// spill adds the destination of a spilled request to the history and returns
// its place.
func (p *preble) spill(h []visit, v *View) (int, []visit) {
	var d int
	if p.twoRand {
		d = p.flat.pick(v)
	} else {
		d = v.LeastLoaded(p.rng)
	}
	if p.onlyOne {
		h = h[:0]
	}
	for i := range h {
		if int(h[i].destination) == d {
			return i, h
		}
	}
	return len(h), append(h, visit{destination: int32(d)})
}
