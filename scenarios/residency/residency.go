// Package residency predicts the KV hit rate of a destination without
// simulating it: the approximation of Che et al. (2002), one characteristic time
// for which a block stays in an LRU cache after its last use. It is a diagnostic
// and no basis for a decision: docs/residency.md says when it fails.
package residency

import "math"

// Cache is the KV cache of a destination.
type Cache struct {
	BlockTokens int
	Blocks      float64
	// Template is the blocks that all prompts begin with. They never leave.
	Template float64
}

// Stream is the requests of one key at one destination, a Poisson process.
type Stream struct {
	Rate         float64 // requests/s
	PromptTokens float64 // mean
	// Whole blocks behind the template: of the key's context, then of one of its
	// retrieved blocks.
	Context, Retrieved float64
	// Variants is how many retrieved blocks the key has, and Stay the probability
	// that a request has that of the one before; else another one follows.
	Variants int
	Stay     float64
	// Unique is the mean of blocks that are never asked for again: the turn, the
	// answer, what does not fill a block.
	Unique float64
}

// Hit is tokens per second.
type Hit struct{ Cached, Prompt float64 }

// Add sums destinations.
func (h *Hit) Add(x Hit) {
	h.Cached += x.Cached
	h.Prompt += x.Prompt
}

// Rate is the share of the prompt tokens that is cached, NaN without any.
func (h Hit) Rate() float64 { return h.Cached / h.Prompt }

// Time is the characteristic time in seconds: the blocks used within it fill
// the cache. It is infinite if nothing is ever evicted.
func (c Cache) Time(streams []Stream) float64 {
	room := c.Blocks - c.Template
	if room <= 0 {
		return 0
	}
	filled := func(t float64) float64 {
		sum := 0.0
		for i := range streams {
			s := &streams[i]
			sum += s.Rate * (s.Context*s.context().within(t) + s.Retrieved*s.retrieved().within(t) + s.Unique*t)
		}
		return sum
	}
	lo, hi := 0.0, 1.0
	for filled(hi) < room {
		if lo, hi = hi, 2*hi; hi > 1e12 {
			return math.Inf(1)
		}
	}
	for range 60 { // halves the bracket to the last bit
		if mid := (lo + hi) / 2; filled(mid) < room {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// Steady is the hits of a destination that has run for ever, at its
// characteristic time.
func (c Cache) Steady(streams []Stream, time float64) Hit {
	return c.hit(streams, func(g gap) float64 { return 1 - g.longer(time) })
}

// Window is the hits in a window of a destination whose cache was empty at
// instant 0: at instant t a block is there if its last use is neither longer ago
// than the characteristic time nor before 0.
func (c Cache) Window(streams []Stream, time, from, to float64) Hit {
	return c.hit(streams, func(g gap) float64 {
		full := min(max(time, from), to) // from here on the cache evicts
		missed := g.within(full) - g.within(from)
		if full < to {
			missed += (to - full) * g.longer(time)
		}
		return 1 - missed/(to-from)
	})
}

// hit sums the streams, given the probability that a part is there whose uses
// have such a gap. A retrieved block is used less recently than the context
// before it, so it never is there alone.
func (c Cache) hit(streams []Stream, there func(gap) float64) Hit {
	var sum Hit
	for i := range streams {
		s := &streams[i]
		blocks := c.Template + s.Context*there(s.context()) + s.Retrieved*there(s.retrieved())
		sum.Add(Hit{s.Rate * blocks * float64(c.BlockTokens), s.Rate * s.PromptTokens})
	}
	return sum
}

// gap is the distribution of the time between two uses: it is longer than t with
// probability a*exp(-u*t) + b*exp(-v*t).
type gap struct{ a, u, b, v float64 }

// context is used by every request of the key.
func (s *Stream) context() gap { return gap{a: 1, u: s.Rate} }

// retrieved is used again by the next request with probability Stay. Else others
// are, until each request in turn comes back to it with a small probability:
// the sum of two exponential times.
func (s *Stream) retrieved() gap {
	if s.Variants <= 1 || s.Stay >= 1 {
		return s.context()
	}
	back := (1 - s.Stay) / float64(s.Variants-1)
	back = min(back, 1-1e-9) // two equal exponentials, in the limit
	u, v := s.Rate, s.Rate*back
	leave := 1 - s.Stay
	return gap{a: s.Stay - leave*v/(u-v), u: u, b: leave * u / (u - v), v: v}
}

// longer is the probability of a gap above t.
func (g gap) longer(t float64) float64 {
	sum := g.a * math.Exp(-g.u*t)
	if g.b != 0 {
		sum += g.b * math.Exp(-g.v*t)
	}
	return sum
}

// within is the integral of longer from 0 to t. Times the rate of uses it is
// how many different things were used within t.
func (g gap) within(t float64) float64 {
	if g.u == 0 {
		return t
	}
	sum := g.a * -math.Expm1(-g.u*t) / g.u
	if g.b != 0 {
		sum += g.b * -math.Expm1(-g.v*t) / g.v
	}
	return sum
}

// Thinned is the probability to stay when a destination gets only a share of a
// key's requests, drawn at random: it sees every so many-th step of the walk
// over the variants.
func Thinned(stay float64, variants int, share float64) float64 {
	if variants <= 1 {
		return stay
	}
	n := float64(variants)
	memory := stay - (1-stay)/(n-1) // second eigenvalue of the walk
	return 1/n + (1-1/n)*share*memory/(1-(1-share)*memory)
}
