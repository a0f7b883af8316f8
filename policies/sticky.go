package policies

import (
	"cmp"

	"cacheroute/workload"
)

// Sticky sends each key to one destination by consistent hashing, whatever the
// load (paper section 4; Karger et al., STOC 1997). Our reading is the
// convention of LLM routers: a ring, the first point clockwise of the key. The
// ring is drawn anew with the seed of the run, as its imbalance is a sample, unless
// fleet.hash_seed fixes it.
type Sticky struct {
	// Hash is the family: ring; rendezvous (highest random weight, Thaler and
	// Ravishankar 1998); jump (Lamping and Veach, arXiv 1406.2294); maglev
	// (Eisenbud et al., NSDI 2016). All but the ring give every destination
	// the same share of the keys in expectation.
	Hash string `yaml:"hash" jsonschema:"enum=ring,enum=rendezvous,enum=jump,enum=maglev"`
	// Vnodes is the number of points a destination; only the ring has them.
	Vnodes int `yaml:"vnodes" jsonschema:"minimum=1,maximum=65536"`
}

// About implements Spec.
func (s *Sticky) About() string {
	return "consistent hashing: each key always goes to its one destination"
}

// Check implements Spec.
func (s *Sticky) Check() error {
	return cmp.Or(
		oneOf("hash", s.Hash, "ring", "rendezvous", "jump", "maglev"),
		within("vnodes", float64(s.Vnodes), 1, maxVnodes))
}

// Build implements Spec.
func (s *Sticky) Build(env Env) (Policy, error) {
	var find func(point uint64) int32
	switch s.Hash {
	case "ring":
		if err := checkRing(env, s.Vnodes); err != nil {
			return nil, err
		}
		find = ringHash(env.Destinations, s.Vnodes, env.HashSeed)
	case "rendezvous":
		find = rendezvousHash(env.Destinations, env.HashSeed)
	case "jump":
		find = jumpHash(env.Destinations)
	case "maglev":
		find = maglevHash(env.Destinations, env.HashSeed)
	}
	return &sticky{homes: newHomes(env, env.HashSeed, find)}, nil
}

type sticky struct{ homes homes }

func (p *sticky) Route(r *workload.Request, _ *View) int { return int(p.homes.of(r.Key)) }

// Spread implements Spreader.
func (p *sticky) Spread(key int32) []int32 { return []int32{p.homes.of(key)} }

func ringHash(destinations, vnodes int, seed uint64) func(uint64) int32 {
	points := newRing(destinations, vnodes, seed)
	return func(h uint64) int32 { return points[points.first(h)].index }
}

// rendezvousHash gives the destination with the highest hash of (key,
// destination).
func rendezvousHash(destinations int, seed uint64) func(uint64) int32 {
	return func(h uint64) int32 {
		best, high := int32(0), uint64(0)
		for d := range destinations {
			if w := hashOf(seed, h, uint64(d)); w > high {
				best, high = int32(d), w
			}
		}
		return best
	}
}

// jumpHash is figure 1 of Lamping and Veach: jump ahead with probability b/j
// until past the last bucket. The constants are those of their generator.
func jumpHash(destinations int) func(uint64) int32 {
	return func(h uint64) int32 {
		b, j := int64(-1), int64(0)
		for j < int64(destinations) {
			b = j
			h = h*2862933555777941757 + 1
			j = int64(float64(b+1) * (float64(1<<31) / float64(h>>33+1)))
		}
		return int32(b)
	}
}

// maglevHash is section 3.4 of the Maglev paper: destinations in turn claim the
// next free entry of their own permutation of a table of prime size, so that
// entries differ by at most one. The size is theirs, 65,537, and doubles where
// a fleet needs it to stay above 100 entries a destination.
func maglevHash(destinations int, seed uint64) func(uint64) int32 {
	least := 65536
	for least < 100*destinations {
		least *= 2
	}
	size := uint64(nextPrime(least))
	at, skip := make([]uint64, destinations), make([]uint64, destinations)
	for d := range destinations {
		at[d] = hashOf(seed, uint64(d), 0) % size
		skip[d] = hashOf(seed, uint64(d), 1)%(size-1) + 1
	}
	table := make([]int32, size) // destination + 1; 0: free
	for n := uint64(0); n < size; n++ {
		d := n % uint64(destinations)
		for table[at[d]] != 0 {
			at[d] = (at[d] + skip[d]) % size
		}
		table[at[d]] = int32(d) + 1
	}
	return func(h uint64) int32 { return table[h%size] - 1 }
}

func nextPrime(n int) int {
	for ; ; n++ {
		prime := n > 1
		for d := 2; prime && d*d <= n; d++ {
			prime = n%d != 0
		}
		if prime {
			return n
		}
	}
}
