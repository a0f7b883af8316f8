package workload

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

// mostInCycle bounds the memory of a cycle.
const mostInCycle = 1 << 24

// checkCycle refuses a list of prompts that would not keep the keys' shares.
func (w *Synthetic) checkCycle() error {
	if w.spec.Prompt.Cycle == "" {
		return nil
	}
	for _, share := range w.keys.Share {
		if share != w.keys.Share[0] {
			return errors.New("prompt.cycle: keys with different shares, wanted equal ones, as in keys: {name: zipf, exponent: 0}")
		}
	}
	if n := w.keys.Len() * w.variants; n > mostInCycle {
		return fmt.Errorf("prompt.cycle: %d prompts (keys x variants), wanted at most %d", n, mostInCycle)
	}
	return nil
}

// newCycle is the prompts in their order, each as key * variants + variant.
func (w *Synthetic) newCycle(rng *rand.Rand) []int32 {
	cycle := make([]int32, w.keys.Len()*w.variants)
	for i := range cycle {
		cycle[i] = int32(i)
	}
	if w.spec.Prompt.Cycle == "shuffled" {
		rng.Shuffle(len(cycle), func(i, j int) { cycle[i], cycle[j] = cycle[j], cycle[i] })
	}
	return cycle
}

// inTurn is the prompt of the request in hand.
func (c *synthetic) inTurn() int { return int(c.cycle[c.index%int64(len(c.cycle))]) }
