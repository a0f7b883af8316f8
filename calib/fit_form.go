package calib

import (
	"math"

	"cacheroute/engine"
)

// form is a cost model that can be fitted: its price is linear in its
// coefficients once the free tokens of a step are known.
type form struct {
	coefficients []string // names as in a preset
	free         bool     // has free_tokens
	attention    float64  // what a prompt token by a token of its context costs, in its coefficient
	// features is what the coefficients multiply in a step, in ms.
	features func(s load, free float64) []float64
	spec     func(theta []float64, free float64) engine.CostSpec
}

// load is what a step holds, on average over some steps.
type load struct{ decodes, context, prefill, work float64 }

// fitForms are the cost models that can be fitted.
var fitForms = map[string]form{
	"linear": {
		attention:    1,
		coefficients: []string{"base_ms", "sequence_ms", "context_token_ms", "prefill_token_ms", "prefill_context_token_ms"},
		features: func(s load, _ float64) []float64 {
			return []float64{1, s.decodes, s.context, s.prefill, s.work / 2}
		},
		spec: func(t []float64, _ float64) engine.CostSpec {
			return &engine.Linear{BaseMS: t[0], SequenceMS: t[1], ContextMS: t[2], PrefillMS: t[3], AttentionMS: t[4]}
		},
	},
	"overlap": {
		attention:    0.5,
		coefficients: []string{"base_ms", "sequence_ms", "context_token_ms", "prefill_token_ms", "attention_ms"},
		free:         true,
		features: func(s load, free float64) []float64 {
			return []float64{1, s.decodes, s.context, math.Max(0, s.decodes+s.prefill-free), s.work}
		},
		spec: func(t []float64, free float64) engine.CostSpec {
			return &engine.Overlap{BaseMS: t[0], SequenceMS: t[1], ContextMS: t[2], PrefillMS: t[3], AttentionMS: t[4], FreeTokens: int(math.Round(free))}
		},
	},
}

// meanStep is the features of the mean step of a closed-loop run as a decoding
// request sees it. A client's cycle is about as many steps as it has output
// tokens; in them each of the others prefills once, in chunks of at most budget
// tokens, and these steps differ from the rest.
func (f form) meanStep(r BenchRow, budget, free float64) []float64 {
	c, in, out := float64(r.Concurrency-r.Waiting), r.Input.Mean, r.Output.Mean
	decode := load{decodes: c, context: c * (in + r.Output.square()/(2*out))}
	chunks := math.Ceil(in / math.Max(1, budget-c))
	share := (c - 1) * chunks / out // of the steps that hold a chunk
	mixed := decode
	if share > 0 {
		each := math.Min(1, share)
		mixed.prefill = (c - 1) * in / out / each
		mixed.work = (c - 1) * r.Input.square() / out / each
		share = each
	}
	x := f.features(mixed, free)
	for j, v := range f.features(decode, free) {
		x[j] = share*x[j] + (1-share)*v
	}
	return x
}
