package engine

import (
	"cmp"
	"fmt"

	"cacheroute/sim/clock"
)

// Overlap is a step in which computation hides behind the read of the weights:
//
//	step = base + prefill_token*max(0, m - free_tokens) + sequence*n + context_token*C + attention*sum P*(2X+P)
//
// where n sequences decode with C tokens in the KV cache, each prefill chunk
// computes P tokens behind X others, and m = n + sum P. Up to free_tokens a
// step takes as long as its weights take to be read; beyond, each token is
// computed. All coefficients are milliseconds and are rounded once to
// picoseconds, so that the price is integer arithmetic.
type Overlap struct {
	// BaseMS is the price of a step, whatever it holds: overhead and the read
	// of the weights.
	BaseMS float64 `yaml:"base_ms" jsonschema:"exclusiveMinimum=0,maximum=1e6"`
	// SequenceMS is the price of a decoding sequence.
	SequenceMS float64 `yaml:"sequence_ms" jsonschema:"minimum=0,maximum=10000"`
	// ContextMS is the price of a cached token of a decoding sequence.
	ContextMS float64 `yaml:"context_token_ms" jsonschema:"minimum=0,maximum=10"`
	// PrefillMS is the price of a token of the step, decoded or prompt, beyond
	// free_tokens.
	PrefillMS float64 `yaml:"prefill_token_ms" jsonschema:"minimum=0,maximum=1000"`
	// FreeTokens is how many tokens a step computes while its weights are read;
	// 100 to 160 in bf16 on an H100, 0 to 40 in fp8.
	FreeTokens int `yaml:"free_tokens" jsonschema:"minimum=0,maximum=1048576"`
	// AttentionMS is the price of a unit of P*(2X+P), half of a prompt token by
	// a token of its context.
	AttentionMS float64 `yaml:"attention_ms" jsonschema:"minimum=0,maximum=0.001"`
}

// About implements CostSpec.
func (o *Overlap) About() string {
	return "as linear, but computation hides behind the read of the weights, up to free_tokens a step"
}

// Check implements CostSpec.
func (o *Overlap) Check() error {
	if err := cmp.Or(
		between("base_ms", o.BaseMS, 0, 1e6), between("sequence_ms", o.SequenceMS, 0, 1e4),
		between("context_token_ms", o.ContextMS, 0, 10), between("prefill_token_ms", o.PrefillMS, 0, 1e3),
		between("free_tokens", float64(o.FreeTokens), 0, 1<<20), between("attention_ms", o.AttentionMS, 0, 1e-3),
	); err != nil {
		return err
	}
	if o.BaseMS == 0 {
		return fmt.Errorf("base_ms: must be positive, or time could stand still")
	}
	return nil
}

// Build implements CostSpec.
func (o *Overlap) Build() CostModel {
	// base + compute*max(0, m - free) = (base - compute*free) + max(compute*free, compute*m)
	compute := picoseconds(o.PrefillMS)
	read := compute * int64(o.FreeTokens)
	return overlapped{
		base: max(1, picoseconds(o.BaseMS)) - read, read: read, compute: compute,
		sequence: picoseconds(o.SequenceMS), context: picoseconds(o.ContextMS), attention: picoseconds(o.AttentionMS),
	}
}

// overlapped prices a step, in picoseconds, at base + max(read, compute*tokens)
// + token*tokens + sequence*decodes + context*(their tokens in the cache) +
// attention*(prefill work). base + read is at least 1, the rest not negative.
type overlapped struct{ base, read, compute, token, sequence, context, attention int64 }

func (o overlapped) StepTime(b Batch) clock.Time {
	n := int64(b.Decodes)
	m := n + b.Prefill
	exact := o.base + max(o.read, o.compute*m) + o.token*m + o.sequence*n + o.context*b.DecodeContext + o.attention*b.PrefillWork
	rough := float64(o.base) + max(float64(o.read), float64(o.compute)*float64(m)) + float64(float64(o.token)*float64(m)) +
		float64(float64(o.sequence)*float64(n)) + float64(float64(o.context)*float64(b.DecodeContext)) +
		float64(float64(o.attention)*float64(b.PrefillWork))
	return bounded(exact, rough)
}

func (o overlapped) DecodeSpan(n int, context, k int64) clock.Time {
	step := o.StepTime(Batch{Decodes: n, DecodeContext: context})
	return arithmetic(int64(step), o.context*int64(n), float64(o.context)*float64(n), k)
}

// arithmetic sums k steps of which the first takes first and each takes more
// than the one before by growth, whose approximation tells of an overflow.
func arithmetic(first, growth int64, rough float64, k int64) clock.Time {
	pairs := k * (k - 1) / 2
	return bounded(k*first+growth*pairs, float64(float64(k)*float64(first))+float64(rough*float64(pairs)))
}
