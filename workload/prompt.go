package workload

import (
	"fmt"

	"cacheroute/workload/lines"
)

// PromptSpec describes prompts as the paper does (Appendix A.1): a template
// common to all keys, a context of the key, a retrieved block that changes
// often, earlier turns of the thread, and the current turn.
type PromptSpec struct {
	// TemplateTokens is the length of what the prompts of all keys begin with.
	TemplateTokens int `yaml:"template_tokens" jsonschema:"minimum=0,maximum=67108864"`
	// ContextTokens is the length of the context of a key, which all its prompts
	// share; drawn once a key, from the seed of the population.
	ContextTokens Length `yaml:"context_tokens"`
	// RetrievedTokens is the length of a retrieved block; drawn once for each
	// variant of a key.
	RetrievedTokens Length `yaml:"retrieved_tokens"`
	// Variants is the number of retrieved blocks that a key has; 0 means 1.
	Variants int `yaml:"variants" jsonschema:"minimum=0,maximum=65536"`
	// StayProbability is how often the next request of a key has the variant of
	// the one before; otherwise it has one of the other variants, all alike.
	StayProbability float64 `yaml:"stay_probability" jsonschema:"minimum=0,maximum=1"`
	// Cycle, if given, takes the prompts from a fixed list, each key with each of
	// its variants, again and again, as benches do: listed, the variants of one
	// key after each other, or shuffled, in one random order a seed. All keys must
	// have the same share, and stay_probability has no say.
	Cycle string `yaml:"cycle,omitempty" jsonschema:"enum=listed,enum=shuffled"`
	// TurnTokens is the length of the current turn, which no earlier prompt holds.
	TurnTokens Length `yaml:"turn_tokens" jsonschema:"required"`
	// Thread, if given, makes earlier turns and answers part of the prompt.
	Thread *ThreadSpec `yaml:"thread,omitempty"`
}

// ThreadSpec makes each request of a key continue the key's thread with
// probability 1 - 1/MeanRequests, so that threads have a geometric length. A
// request whose history would exceed the maximum starts a new thread.
type ThreadSpec struct {
	// MeanRequests is the mean number of requests of a thread.
	MeanRequests float64 `yaml:"mean_requests" jsonschema:"required,minimum=1,maximum=1e9"`
	// MaxHistoryTokens is the most tokens of earlier turns and answers; a request
	// that would have more starts a new thread.
	MaxHistoryTokens int `yaml:"max_history_tokens" jsonschema:"required,minimum=1,maximum=67108864"`
}

// Check returns nil or an error that begins with the parameter's name.
func (p *PromptSpec) Check() error {
	err := first(
		checkTokens("template_tokens", p.TemplateTokens, 0),
		p.ContextTokens.check("context_tokens", 0),
		p.RetrievedTokens.check("retrieved_tokens", 0),
		between("stay_probability", p.StayProbability, 0, 1),
		p.TurnTokens.check("turn_tokens", 1))
	if err == nil && (p.Variants < 0 || p.Variants > 1<<16) {
		err = fmt.Errorf("variants: must be between 0 and %d, got %d", 1<<16, p.Variants)
	}
	if err == nil && p.Cycle != "" && p.Cycle != "listed" && p.Cycle != "shuffled" {
		err = fmt.Errorf("cycle: read %s, wanted listed or shuffled", lines.Excerpt([]byte(p.Cycle)))
	}
	if err == nil && p.Thread != nil {
		err = under("thread", first(
			between("mean_requests", p.Thread.MeanRequests, 1, 1e9),
			checkTokens("max_history_tokens", p.Thread.MaxHistoryTokens, 1)))
	}
	return err
}

func (p *PromptSpec) lengths() []Length {
	return []Length{p.ContextTokens, p.RetrievedTokens, p.TurnTokens}
}

// identity names the n-th token stream of a kind that belongs to a key. It is a
// hash, never 0; streams of different kinds, keys or numbers differ.
func identity(kind SegmentKind, key uint64, n uint64) uint64 {
	h := fold(key^0x9fb21c651e98df25, uint64(kind)+0x3c6ef372fe94f82b)
	h = fold(h^n, 0x8ebc6af09c88c6e3)
	if h == 0 {
		h = 1
	}
	return h
}

// mostTurns bounds the turns and answers that a thread keeps, whatever their
// length: a prompt costs time and memory by its segments.
const mostTurns = 1000

// thread is the state of a key's thread in one cell.
type thread struct {
	requests uint32 // of the key so far: numbers its turns and answers
	tokens   int32  // of all turns
	turns    []turn
}

// turn is an earlier turn or an answer.
type turn struct {
	id     uint64
	tokens int32
}
