package policies

import (
	"math/rand/v2"

	"cacheroute/workload"
)

// prefixScorer says how much of a prompt each destination is thought to hold.
type prefixScorer interface {
	// score fills in the share of the prompt by destination, 0 to 1.
	score(r *workload.Request, v *View, share []float64)
	// sent tells where the request went.
	sent(r *workload.Request, destination int)
}

// scored sends a request to the destination with the highest weighted sum of
// scores, the tie at random, as llm-d's scheduler does with its max-score
// picker.
type scored struct {
	queue, kv, prefix float64      // weights
	prefixes          prefixScorer // nil: load only
	share             []float64
	signals           []Signal
	best              []int32
	rng               *rand.Rand
}

func newScored(env Env, queue, kv, prefix float64, p prefixScorer) *scored {
	n := env.Destinations
	return &scored{
		queue: queue, kv: kv, prefix: prefix, prefixes: p, rng: env.Rand,
		share: make([]float64, n), signals: make([]Signal, n), best: make([]int32, 0, n),
	}
}

// Looks implements Insider.
func (*scored) Looks() {}

func (p *scored) Route(r *workload.Request, v *View) int {
	if p.prefixes != nil {
		p.prefixes.score(r, v, p.share)
	}
	p.signals[0] = v.Signal(0)
	shortest, longest := p.signals[0].Waiting, p.signals[0].Waiting
	for i := 1; i < len(p.signals); i++ {
		p.signals[i] = v.Signal(i)
		shortest, longest = min(shortest, p.signals[i].Waiting), max(longest, p.signals[i].Waiting)
	}
	p.best = p.best[:0]
	highest := -1.0
	for i, s := range p.signals {
		idle := 1.0
		if longest > shortest {
			idle = float64(longest-s.Waiting) / float64(longest-shortest)
		}
		sum := float64(p.queue*idle) + float64(p.kv*(1-s.KVUsage)) + float64(p.prefix*p.share[i])
		if sum > highest {
			highest, p.best = sum, p.best[:0]
		}
		if sum == highest {
			p.best = append(p.best, int32(i))
		}
	}
	d := int(p.best[0])
	if n := len(p.best); n > 1 {
		d = int(p.best[p.rng.IntN(n)])
	}
	if p.prefixes != nil {
		p.prefixes.sent(r, d)
	}
	return d
}
