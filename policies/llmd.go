package policies

import (
	"cmp"

	"cacheroute/workload"
)

// LLMD is llm-d's default routing (llm-d inference scheduler, Gateway API
// inference extension): the two load scorers of least-loaded and the approximate
// prefix-cache-scorer, which knows nothing of the engines' caches but remembers
// where it sent which prompts:
//
//	prefix: leading prompt blocks that the router sent to the destination before / prompt blocks
//
// At most max_blocks of a prompt count, above and below the line, so that longer
// prompts with the same beginning look alike. The history of a destination is an
// LRU of capacity_blocks. Our reading: of the blocks of one prompt the first is
// the most recent, so that what is remembered always is a beginning. llm-d's
// autoTune takes the block size and the capacity from the engines' metrics; to
// have it, set them to those of the fleet.
type LLMD struct {
	// QueueWeight weighs the waiting requests of a destination.
	QueueWeight float64 `yaml:"queue_weight" jsonschema:"minimum=0,maximum=1000"`
	// KVWeight weighs the KV blocks in use.
	KVWeight float64 `yaml:"kv_weight" jsonschema:"minimum=0,maximum=1000"`
	// PrefixWeight weighs the remembered share of the prompt.
	PrefixWeight float64 `yaml:"prefix_weight" jsonschema:"minimum=0,maximum=1000"`
	// BlockTokens is the size of a block of the history.
	BlockTokens int `yaml:"block_tokens" jsonschema:"minimum=1,maximum=65536"`
	// MaxBlocks is how many leading blocks of a prompt count.
	MaxBlocks int `yaml:"max_blocks" jsonschema:"minimum=1,maximum=1000000"`
	// CapacityBlocks is how many blocks are remembered for a destination.
	CapacityBlocks int `yaml:"capacity_blocks" jsonschema:"minimum=1,maximum=100000000"`
}

func newLLMD() *LLMD {
	return &LLMD{QueueWeight: 2, KVWeight: 2, PrefixWeight: 3, BlockTokens: 16, MaxBlocks: 256, CapacityBlocks: 31250}
}

// About implements Spec.
func (*LLMD) About() string {
	return "llm-d's default scorers: queue, KV cache in use, and prefix by the router's own history"
}

// Check implements Spec.
func (s *LLMD) Check() error {
	return cmp.Or(
		within("queue_weight", s.QueueWeight, 0, 1000),
		within("kv_weight", s.KVWeight, 0, 1000),
		within("prefix_weight", s.PrefixWeight, 0, 1000),
		within("block_tokens", float64(s.BlockTokens), 1, 65536),
		within("max_blocks", float64(s.MaxBlocks), 1, 1e6),
		within("capacity_blocks", float64(s.CapacityBlocks), 1, 1e8))
}

// Build implements Spec.
func (s *LLMD) Build(env Env) (Policy, error) {
	h := newHistory(env.Destinations, int32(s.BlockTokens), int32(s.MaxBlocks), int64(s.CapacityBlocks))
	return newScored(env, s.QueueWeight, s.KVWeight, s.PrefixWeight, h), nil
}

// LLMDPrecise is llm-d's routing with the precise-prefix-cache-scorer: as llm-d,
// but the prefix score is what the engine itself reports to hold of the prompt at
// this instant, through its KV events:
//
//	prefix: prompt tokens in whole resident blocks / prompt tokens
//
// What an engine is still to compute for the requests on their way does not
// count, as with llm-d's speculativeIndexing off. Our reading of the sample
// weights 2:1:1 is prefix 2, queue 1, KV 1.
type LLMDPrecise struct {
	// QueueWeight weighs the waiting requests of a destination.
	QueueWeight float64 `yaml:"queue_weight" jsonschema:"minimum=0,maximum=1000"`
	// KVWeight weighs the KV blocks in use.
	KVWeight float64 `yaml:"kv_weight" jsonschema:"minimum=0,maximum=1000"`
	// PrefixWeight weighs the resident share of the prompt.
	PrefixWeight float64 `yaml:"prefix_weight" jsonschema:"minimum=0,maximum=1000"`
}

// About implements Spec.
func (*LLMDPrecise) About() string {
	return "llm-d's scorers with the engines' real cache: prefix, queue, KV cache in use"
}

// Check implements Spec.
func (s *LLMDPrecise) Check() error {
	return cmp.Or(
		within("queue_weight", s.QueueWeight, 0, 1000),
		within("kv_weight", s.KVWeight, 0, 1000),
		within("prefix_weight", s.PrefixWeight, 0, 1000))
}

// Build implements Spec.
func (s *LLMDPrecise) Build(env Env) (Policy, error) {
	return newScored(env, s.QueueWeight, s.KVWeight, s.PrefixWeight, resident{}), nil
}

// resident scores prefixes by the engines' caches.
type resident struct{}

func (resident) score(r *workload.Request, v *View, share []float64) {
	for i := range share {
		share[i] = float64(v.Cached(r, i)) / float64(r.PromptTokens)
	}
}

func (resident) sent(*workload.Request, int) {}
