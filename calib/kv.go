package calib

import (
	"fmt"
	"math"
)

// KVFacts is what the size of a server's KV cache follows from, for when the
// engine's own number, which it logs at its start, is not known.
type KVFacts struct {
	WeightsGB   float64 `yaml:"weights_gb"` // 1e9 bytes: what the checkpoint's files weigh
	Layers      int     `yaml:"layers"`
	KVHeads     int     `yaml:"kv_heads"`
	HeadDim     int     `yaml:"head_dim"`
	KVBytes     float64 `yaml:"kv_bytes"`    // of an element: 2 in bf16, 1 in fp8
	GPUs        int     `yaml:"gpus"`        // in tensor parallel
	MemoryGiB   float64 `yaml:"memory_gib"`  // of a GPU, as its driver says: 79.65 of an "80 GB" H100
	Utilisation float64 `yaml:"utilisation"` // the share of it that the engine may use (vLLM gpu_memory_utilization)
	ReserveGiB  float64 `yaml:"reserve_gib"` // of a GPU, for activations, graphs and libraries
}

// KVBlocks estimates the number of KV blocks of so many tokens, and says the
// formula with its numbers:
//
//	(utilisation*memory - reserve - weights/GPUs) / (2*layers*heads*head_dim*bytes*block)
//
// for each GPU, which holds KV heads/GPUs heads, at least one. The reserve is
// not known beforehand: engines measure it as they start, and without it the
// estimate is up to 10 % too high.
func (f KVFacts) KVBlocks(blockTokens int) (blocks int, formula string, err error) {
	if err := f.check(); err != nil {
		return 0, "", err
	}
	if blockTokens < 1 {
		return 0, "", fmt.Errorf("block_tokens: must be positive, got %d", blockTokens)
	}
	heads := (f.KVHeads + f.GPUs - 1) / f.GPUs
	block := 2 * float64(f.Layers) * float64(heads) * float64(f.HeadDim) * f.KVBytes * float64(blockTokens)
	free := float64((f.Utilisation*f.MemoryGiB-f.ReserveGiB)*(1<<30)) - float64(f.WeightsGB*1e9/float64(f.GPUs))
	formula = fmt.Sprintf("estimated, the engine's own log number always wins: (%v x %v GiB - %v GiB reserve - %v GB / %d GPUs) / (2 x %d layers x %d heads a GPU x %d x %v bytes x %d tokens)",
		f.Utilisation, f.MemoryGiB, f.ReserveGiB, f.WeightsGB, f.GPUs, f.Layers, heads, f.HeadDim, f.KVBytes, blockTokens)
	if free < block {
		return 0, "", fmt.Errorf("kv_facts: no memory is left for a block, %s", formula)
	}
	return int(min(free/block, math.MaxInt32)), formula, nil
}

// check names the fact that cannot be.
func (f KVFacts) check() error {
	for _, c := range []struct {
		name      string
		x, lo, hi float64
	}{
		{"weights_gb", f.WeightsGB, 1e-3, 1e5}, {"layers", float64(f.Layers), 1, 1e3}, {"kv_heads", float64(f.KVHeads), 1, 1e4},
		{"head_dim", float64(f.HeadDim), 1, 1e4}, {"kv_bytes", f.KVBytes, 0.1, 8}, {"gpus", float64(f.GPUs), 1, 1024},
		{"memory_gib", f.MemoryGiB, 1, 1e4}, {"utilisation", f.Utilisation, 0.01, 1}, {"reserve_gib", f.ReserveGiB, 0, 1e4},
	} {
		if !(c.x >= c.lo && c.x <= c.hi) {
			return fmt.Errorf("kv_facts.%s: must lie between %v and %v, got %v", c.name, c.lo, c.hi, c.x)
		}
	}
	return nil
}
