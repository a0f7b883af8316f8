package policies

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// DualMap is the paper's DualMap-style policy: two candidates a key by two
// hash rings, the one with the longer cached prefix unless its predicted TTFT
// exceeds theta, else the one with the smaller predicted TTFT (DualMap, arXiv
// 2602.06502, section 3; repository ASISys/DualMap).
//
// Our reading, as in NVIDIA Dynamo's port: a request is placed once, the
// harness having no queue of its own to migrate from; the hash covers the
// routing key; what is cached is judged from the router's history, without an
// eviction model. A candidate is as warm as the last prompt of the key that was
// sent there agrees with this one, and where the key has never been sent, as
// the destination's last prompt of any key does (the template). Answers are
// not counted. Equal hits go to the less loaded, then to a coin.
type DualMap struct {
	// Theta is the predicted TTFT above which warmth no longer decides, in
	// seconds. The authors' code has SLO/2, their text the SLO; the default is
	// half of the paper's 3.5 s.
	Theta float64 `yaml:"theta_s" jsonschema:"minimum=0,maximum=1e6"`
	// TimePerToken is the prefill time of a token for the prediction, in
	// seconds; 0 takes the marginal price of the fleet's cost model.
	TimePerToken float64 `yaml:"time_per_token_s" jsonschema:"minimum=0,maximum=1000"`
	// Vnodes is the number of points a destination on each ring.
	Vnodes int `yaml:"vnodes" jsonschema:"minimum=1,maximum=65536"`
}

// About implements Spec.
func (s *DualMap) About() string {
	return "two hashed destinations a key: the warmer one unless its predicted TTFT is too long"
}

// Check implements Spec.
func (s *DualMap) Check() error {
	return cmp.Or(
		within("theta_s", s.Theta, 0, 1e6),
		within("time_per_token_s", s.TimePerToken, 0, 1e3),
		within("vnodes", float64(s.Vnodes), 1, maxVnodes))
}

// Build implements Spec.
func (s *DualMap) Build(env Env) (Policy, error) {
	perToken := cmp.Or(s.TimePerToken, env.PrefillSecondsPerToken)
	if err := within("time_per_token_s", perToken, 0, 1e3); err != nil {
		return nil, fmt.Errorf("%w (from the cost model)", err)
	}
	if err := checkRing(env, s.Vnodes); err != nil {
		return nil, err
	}
	p := &dualMap{
		budget:  math.MaxInt64,
		seen:    make([][]mark, 2*len(env.KeyHashes)),
		last:    slices.Repeat([]int32{-1}, env.Destinations),
		pending: make([]int64, env.Destinations),
		open:    newLedger(),
		rng:     env.Rand,
	}
	if tokens := s.Theta / perToken; tokens < math.MaxInt32 {
		p.budget = int64(tokens)
	}
	for i := range p.homes {
		seed := hashOf(env.HashSeed, uint64(i), 2)
		p.homes[i] = newHomes(env, seed, ringHash(env.Destinations, s.Vnodes, seed))
	}
	return p, nil
}

type dualMap struct {
	homes   [2]homes
	budget  int64    // theta in prefill tokens
	seen    [][]mark // by 2*key + candidate: the last prompt of the key there
	last    []int32  // by destination: where in seen its last prompt is, or -1
	pending []int64  // by destination: predicted uncached tokens before their first token
	open    ledger   // what each request added to pending
	rng     *rand.Rand
}

// mark is what the router keeps of a prompt's segment.
type mark struct {
	chain  uint64
	tokens int32
}

// candidate is one of the two destinations of a request.
type candidate struct {
	destination, slot int // slot in seen
	hit               int32
	cost              int64 // predicted TTFT in prefill tokens
}

func (p *dualMap) Route(r *workload.Request, v *View) int {
	c := p.better(r, v)
	p.seen[c.slot] = remember(p.seen[c.slot], r.Prompt)
	p.last[c.destination] = int32(c.slot)
	uncached := r.PromptTokens - c.hit
	p.pending[c.destination] += int64(uncached)
	p.open.put(r.Index, uncached)
	return c.destination
}

func (p *dualMap) better(r *workload.Request, v *View) candidate {
	first := int(p.homes[0].of(r.Key))
	second := int(p.homes[1].of(r.Key))
	if second == first {
		second = (first + 1) % v.Destinations()
	}
	warm, cold := p.candidate(r, 0, first), p.candidate(r, 1, second)
	less := cold.hit - warm.hit
	if less == 0 {
		less = int32(v.InFlight(warm.destination) - v.InFlight(cold.destination))
	}
	if less > 0 || less == 0 && p.rng.IntN(2) == 1 {
		warm, cold = cold, warm
	}
	if warm.cost > p.budget && cold.cost < warm.cost {
		return cold
	}
	return warm
}

func (p *dualMap) candidate(r *workload.Request, which, destination int) candidate {
	c := candidate{destination: destination, slot: 2*int(r.Key) + which}
	prompt := p.seen[c.slot]
	if at := p.last[destination]; len(prompt) == 0 && at >= 0 {
		prompt = p.seen[at]
	}
	// An engine always computes the last token.
	c.hit = min(agreement(prompt, r.Prompt), r.PromptTokens-1)
	c.cost = p.pending[destination] + int64(r.PromptTokens-c.hit)
	return c
}

// agreement is the number of leading tokens that two prompts share. Segments of
// one chain that differ in length are the last that agree: the next chains
// contain the lengths.
func agreement(a []mark, b []workload.Segment) int32 {
	tokens := int32(0)
	for i := range min(len(a), len(b)) {
		if a[i].chain != b[i].Chain {
			break
		}
		tokens += min(a[i].tokens, b[i].Tokens)
	}
	return tokens
}

// remember overwrites old with what later prompts can share of prompt: its
// segments up to the first unique one.
func remember(old []mark, prompt []workload.Segment) []mark {
	old = old[:0]
	for i := range prompt {
		if prompt[i].Chain == 0 {
			break
		}
		old = append(old, mark{chain: prompt[i].Chain, tokens: prompt[i].Tokens})
	}
	return old
}

// FirstToken implements Observer: the prefill is over.
func (p *dualMap) FirstToken(r *workload.Request, destination int, _ clock.Time) {
	p.pending[destination] -= int64(p.open.take(r.Index))
}

// Done implements Observer: a request that failed before its first token is
// pending no more.
func (p *dualMap) Done(r *workload.Request, destination int, _ clock.Time) {
	p.pending[destination] -= int64(p.open.take(r.Index))
}
