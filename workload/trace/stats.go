package trace

import (
	"fmt"
	"math"
)

// Bounds that an honest trace keeps: a wrong unit of time breaks them first.
const (
	maxQPS  = 10000
	maxDays = 400
)

// Bounds of what Stats remember; beyond, they are estimates from a part.
const (
	mostBlocks = 1 << 22
	mostKeys   = 1 << 17 // of each rule
)

// MaxDepth is the deepest prefix that is tried as a key.
const MaxDepth = 16

// fairShare is the largest share of the requests that a prefix may have to be
// taken for one of its own rather than one that most prompts share.
const fairShare = 0.1

// HitBlock is the block of an engine for which ideal hits are worked out.
const HitBlock = 16

// Stats describes a trace that is read once, in memory that does not grow with
// it: some 450 MB at most.
type Stats struct {
	times
	rule          KeyRule
	input, output lengths
	asked         *tally // keys by the rule, if it is not auto
	stated        *tally // by the key of the file
	bySession     *tally
	sessions      *tally
	unstated      int64 // rows without one
	prefix        prefixes

	ttft       float64 // sum of what was observed
	ttfts      int64
	cached     float64 // tokens, and the prompt tokens that they are of
	cachedOf   float64
	cachedRows int64
}

// prefixes is what is known of shared prompts.
type prefixes struct {
	order
	byDepth  [MaxDepth + 1]*tally // keys, from depth 1
	retained [MaxDepth + 1]float64
	blocks   *tally // chains
	total    int64  // blocks read
	chains   []uint64

	prompt, covered float64 // tokens: of all prompts, and in blocks
	shared          float64 // tokens of the blocks that an earlier prompt has
	rows            float64 // with blocks
	whole           float64 // reusable, in whole blocks of HitBlock
	reused, sampled float64 // tokens of the blocks that are counted: seen before, and all
}

func newStats(rule KeyRule) *Stats {
	s := &Stats{rule: rule, times: newTimes(), asked: newTally(mostKeys), stated: newTally(mostKeys),
		bySession: newTally(mostKeys), sessions: newTally(mostKeys)}
	s.prefix.order = order{prompts: usualPrompts, chains: usualChains}
	s.prefix.blocks = newTally(mostBlocks)
	for d := 1; d <= MaxDepth; d++ {
		s.prefix.byDepth[d] = newTally(mostKeys)
	}
	return s
}

// Plausible refuses a rate or span that a wrong unit of time explains best.
func Plausible(h *Header, qps, spanS float64) error {
	if qps > maxQPS || spanS > maxDays*86400 {
		return fmt.Errorf("%s: read %.4g requests/s over %.4g s, wanted at most %d/s and %d days: is the unit %s right?",
			h.Path, qps, spanS, maxQPS, maxDays, h.Unit)
	}
	return nil
}

// qps is the mean rate, 0 if all arrive at one instant.
func (s *Stats) qps() float64 {
	if s.span() == 0 {
		return 0
	}
	return float64(s.n-1) / s.span()
}

func (s *Stats) add(h *Header, r *Row) {
	s.times.add(r.At)
	s.input.add(r.Input)
	s.output.add(r.Output)
	p := &s.prefix
	p.chains = h.Chains(r, p.chains[:0])
	if s.rule.Kind != KeyAuto {
		s.asked.add(s.rule.Hash(r, p.chains))
	}
	if r.Key != "" {
		s.stated.add(KeyRule{Kind: KeyField}.Hash(r, nil))
	} else {
		s.unstated++
	}
	hash := KeyRule{Kind: KeySession}.Hash(r, nil)
	s.bySession.add(hash)
	if r.Session != "" {
		s.sessions.add(hash)
	}
	p.prompt += float64(r.Input)
	if r.Known {
		p.order.add(r, p.chains, func(r *prompt) { p.add(h, r) })
	}
	s.observe(r)
}

// finish counts what still waits for its order.
func (s *Stats) finish(h *Header) {
	s.times.finish()
	s.prefix.order.finish(func(r *prompt) { s.prefix.add(h, r) })
}

// add counts the blocks of a prompt and what an earlier one shares with it.
func (p *prefixes) add(h *Header, r *prompt) {
	p.total += int64(len(r.chains))
	matched, left := len(r.chains), r.input
	for i, chain := range r.chains {
		tokens := min(left, h.BlockTokens)
		left -= tokens
		p.covered += float64(tokens)
		n, stands := p.blocks.add(chain)
		if stands == 0 {
			continue
		}
		p.sampled += stands * float64(tokens)
		if n > 1 {
			p.reused += stands * float64(tokens)
		} else {
			matched = min(matched, i)
		}
	}
	shared := min(int64(matched)*int64(h.BlockTokens), int64(r.input))
	whole := float64(min(shared/HitBlock, (int64(r.input)-1)/HitBlock) * HitBlock)
	p.whole += whole
	if len(r.chains) > 0 {
		p.rows++
		p.shared += float64(shared)
	}
	known := Row{Known: true}
	for d := 1; d <= MaxDepth; d++ {
		p.byDepth[d].add(KeyRule{Kind: KeyPrefix, Depth: d}.Hash(&known, r.chains))
		if matched >= min(d, len(r.chains)) {
			p.retained[d] += whole
		}
	}
}

// idealHit is what an infinite cache would serve of all prompt tokens, and
// whether it is an estimate.
func (p *prefixes) idealHit() (hit float64, estimated bool) {
	if p.blocks.halved == 0 {
		return p.whole / p.prompt, false
	}
	return p.reused / p.sampled * p.covered / p.prompt, true
}

// hitRange bounds the ideal hit in the order of a replay by that in another. In
// any order each block is missed once, so all prompts share as many tokens; of
// each prompt up to HitBlock of them are not whole blocks, or hold its last token.
func (p *prefixes) hitRange() (lo, hi float64) {
	return max(0, p.shared-p.rows*HitBlock) / p.prompt, p.shared / p.prompt
}

func (s *Stats) observe(r *Row) {
	if r.TTFT != Absent {
		s.ttft += float64(r.TTFT)
		s.ttfts++
	}
	if r.Cached != Absent {
		s.cached += float64(r.Cached)
		s.cachedOf += float64(r.Input)
		s.cachedRows++
	}
}

// Rule is the rule of the keys, auto settled: the key that the file states, else
// the best prefix, else the session, else none.
func (s *Stats) Rule(h *Header) KeyRule {
	switch {
	case s.rule.Kind != KeyAuto:
		return s.rule
	case len(s.stated.counts) > 0:
		return KeyRule{Kind: KeyField}
	case h.PromptsKnown():
		return KeyRule{Kind: KeyPrefix, Depth: BestDepth(func(d int) float64 { return keyInfo(s.prefix.byDepth[d], s.n).TopShare })}
	case h.InSessions > 0:
		return KeyRule{Kind: KeySession}
	}
	return KeyRule{Kind: KeyNone}
}

// keys are those of the rule, counted.
func (s *Stats) keys(h *Header) *tally {
	rule := s.Rule(h)
	switch {
	case s.rule.Kind != KeyAuto:
		return s.asked
	case rule.Kind == KeyField:
		if s.unstated > 0 {
			s.stated.counts[KeyRule{Kind: KeyField}.Hash(&Row{}, nil)] = uint32(min(s.unstated, math.MaxUint32))
		}
		return s.stated
	case rule.Kind == KeyPrefix:
		return s.prefix.byDepth[rule.Depth]
	case rule.Kind == KeySession:
		return s.bySession
	}
	one := newTally(1)
	one.counts[0] = uint32(s.n)
	return one
}

// BestDepth is the smallest depth at which no key has more than a tenth of the
// requests: what lies before it is common to most, and what is shared beyond it
// is lost to keys that are deeper still. Where no depth does, it is the one with
// the smallest top share, which top returns.
func BestDepth(top func(depth int) float64) int {
	best, least := 1, 2.0
	for d := 1; d <= MaxDepth && least > fairShare; d++ {
		if t := top(d); t < least {
			best, least = d, t
		}
	}
	return best
}
