package engine

import (
	"fmt"
	"math"

	"cacheroute/sim/clock"
)

// Linear is the linear step price: base + sequence*decodes +
// context*(tokens in the KV cache of the decoding sequences) +
// prefill*(prompt tokens) + attention*(prompt tokens by their mean context).
// All coefficients are milliseconds and are rounded once to picoseconds, so
// that the price is integer arithmetic.
type Linear struct {
	// BaseMS is the price of a step, whatever it holds.
	BaseMS float64 `yaml:"base_ms" jsonschema:"exclusiveMinimum=0,maximum=1e6"`
	// SequenceMS is the price of a decoding sequence.
	SequenceMS float64 `yaml:"sequence_ms" jsonschema:"minimum=0,maximum=10000"`
	// ContextMS is the price of a cached token of a decoding sequence.
	ContextMS float64 `yaml:"context_token_ms" jsonschema:"minimum=0,maximum=10"`
	// PrefillMS is the price of a prompt token.
	PrefillMS float64 `yaml:"prefill_token_ms" jsonschema:"minimum=0,maximum=1000"`
	// AttentionMS is the price of a prompt token by a token of context.
	AttentionMS float64 `yaml:"prefill_context_token_ms" jsonschema:"minimum=0,maximum=0.001"`
}

// About implements CostSpec.
func (l *Linear) About() string {
	return "base + sequences + cached context + prompt tokens + their attention, in ms"
}

// Check implements CostSpec.
func (l *Linear) Check() error {
	for _, f := range []struct {
		name  string
		value float64
		max   float64
	}{
		{"base_ms", l.BaseMS, 1e6}, {"sequence_ms", l.SequenceMS, 1e4}, {"context_token_ms", l.ContextMS, 10},
		{"prefill_token_ms", l.PrefillMS, 1e3}, {"prefill_context_token_ms", l.AttentionMS, 1e-3},
	} {
		if !(f.value >= 0 && f.value <= f.max) {
			return fmt.Errorf("%s: must lie between 0 and %v ms, got %v", f.name, f.max, f.value)
		}
	}
	if l.BaseMS == 0 {
		return fmt.Errorf("base_ms: must be positive, or time could stand still")
	}
	return nil
}

// Build implements CostSpec.
func (l *Linear) Build() CostModel {
	ps := func(ms float64) int64 { return int64(math.RoundToEven(ms * float64(clock.Millisecond))) }
	return linear{max(1, ps(l.BaseMS)), ps(l.SequenceMS), ps(l.ContextMS), ps(l.PrefillMS), ps(l.AttentionMS)}
}

// linear holds the coefficients in picoseconds.
type linear struct{ base, sequence, context, prefill, attention int64 }

func (l linear) StepTime(b Batch) clock.Time {
	exact := l.base + l.sequence*int64(b.Decodes) + l.context*b.DecodeContext +
		l.prefill*b.Prefill + l.attention*b.PrefillWork/2
	rough := float64(l.base) + float64(float64(l.sequence)*float64(b.Decodes)) + float64(float64(l.context)*float64(b.DecodeContext)) +
		float64(float64(l.prefill)*float64(b.Prefill)) + float64(float64(l.attention)*float64(b.PrefillWork))
	return bounded(exact, rough)
}

func (l linear) DecodeSpan(n int, context, k int64) clock.Time {
	step := l.StepTime(Batch{Decodes: n, DecodeContext: context})
	return arithmetic(int64(step), l.context*int64(n), float64(l.context)*float64(n), k)
}
