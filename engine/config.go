// Package engine models one destination: a vLLM-v1-style continuous batching
// scheduler over a paged KV cache with prefix caching, and the price of a step.
// It is a state machine without a clock: Start forms and prices the next span
// of steps, Finish applies it; the caller owns when.
package engine

import "fmt"

// Config is the fixed part of a destination.
type Config struct {
	BlockTokens      int // tokens a KV block
	Blocks           int // KV blocks of the destination
	MaxBatchedTokens int // token budget of a step (vLLM max_num_batched_tokens)
	MaxSeqs          int // running sequences (vLLM max_num_seqs)
	Cost             CostModel

	// NoPrefixCaching makes each admission compute all tokens, as benches of
	// unique prompts are often run; what a preempted sequence had is lost.
	NoPrefixCaching bool
}

// Check returns nil or an error that starts with the offending field as a
// study names it.
func (c Config) Check() error {
	for _, f := range []struct {
		name   string
		value  int
		lo, hi int
	}{
		{"block_tokens", c.BlockTokens, 1, 1 << 12},
		{"kv_blocks", c.Blocks, 1, 1 << 30},
		{"max_num_batched_tokens", c.MaxBatchedTokens, 1, 1 << 24},
		{"max_num_seqs", c.MaxSeqs, 1, 1 << 20},
	} {
		if f.value < f.lo || f.value > f.hi {
			return fmt.Errorf("%s: must lie between %d and %d, got %d", f.name, f.lo, f.hi, f.value)
		}
	}
	if c.MaxBatchedTokens < c.MaxSeqs {
		return fmt.Errorf("max_num_batched_tokens: must not be below max_num_seqs (as in vLLM), got %d and %d", c.MaxBatchedTokens, c.MaxSeqs)
	}
	if c.Cost == nil {
		return fmt.Errorf("cost: no cost model")
	}
	return nil
}

// reusable is how many blocks of a sequence of so many tokens may come from the
// cache: whole ones, and never the one with the last token.
func (c *Config) reusable(tokens int32) int32 {
	if c.NoPrefixCaching {
		return 0
	}
	return (tokens - 1) / int32(c.BlockTokens)
}
