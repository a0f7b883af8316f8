// Package workload says what arrives and when: keys and their rates, prompts
// made of segments, arrival processes, and readers of recorded traces.
package workload

import (
	"math/bits"

	"cacheroute/sim/clock"
)

// SegmentKind is the role of a stretch of prompt tokens (paper, App. A.1).
type SegmentKind uint8

// The kinds of segments in the order in which a prompt holds them.
const (
	Template  SegmentKind = iota // global, common to all keys
	Context                      // stable per key
	Retrieved                    // few-shot block, one of a key's variants
	History                      // earlier turns and answers of the thread
	Turn                         // the current turn, never seen before
	Prefix                       // a block of a recorded prompt whose role is unknown
	SegmentKinds
)

var segmentKindNames = [SegmentKinds]string{"template", "context", "retrieved", "history", "turn", "prefix"}

func (k SegmentKind) String() string { return segmentKindNames[k] }

// Segment is a run of prompt tokens with one identity. Equal IDs mean equal
// token streams (of which a prompt holds the first Tokens); different IDs
// differ from their first token on. Tokens is at least 1.
type Segment struct {
	// ID names the token stream. 0 is a stream that no other prompt holds.
	ID uint64
	// Chain names everything from the prompt's start through this ID: the IDs
	// and lengths of all earlier segments and this ID (not this length). Two
	// prompts with one Chain agree on all tokens that both hold up to the end
	// of the shorter of the two segments. 0 from the first unique segment on.
	Chain  uint64
	Tokens int32
	Kind   SegmentKind
}

// Request is one request as it arrives at the router.
type Request struct {
	Index int64      // 0, 1, 2... in order of arrival
	At    clock.Time // arrival at the router
	Key   int32      // routing key, dense: 0 <= Key < number of keys

	Prompt       []Segment // never empty
	PromptTokens int32     // sum of the segments' tokens
	OutputTokens int32     // tokens to generate, >= 1

	// Output identifies the generated tokens as a segment that follows the
	// prompt, so that a later prompt of the thread can hold them: ID and Chain
	// as in Segment, 0 when no later prompt does. Unique to the request.
	Output Segment
}

// Source yields requests in order of arrival. It is deterministic: equal specs
// and streams yield equal requests.
type Source interface {
	// Next overwrites r with the next request and reports whether there is
	// one. It may reuse the memory of r.Prompt.
	Next(r *Request) bool
}

// Chained sets the chain of segment id after a parent segment (chain and
// tokens of the previous segment; 0, 0 at the start of a prompt). An id of 0
// or a unique parent gives 0.
//
// It is a 64-bit mix (two rounds of 128-bit multiply-fold, as in wyhash); with
// 10 million distinct chains the chance of one collision is about 3e-6.
func Chained(parent uint64, parentTokens int32, id uint64) uint64 {
	if id == 0 {
		return 0
	}
	if parentTokens == 0 {
		parent = 0x9e3779b97f4a7c15
	} else if parent == 0 {
		return 0
	}
	h := fold(parent^0xa0761d6478bd642f, uint64(parentTokens)^0xe7037ed1a0b428db)
	h = fold(h^id, 0x8ebc6af09c88c6e3)
	if h == 0 {
		h = 1
	}
	return h
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// Append adds a segment of the given identity, kind and length to the prompt
// and keeps chain and token count. A length of 0 adds nothing.
func (r *Request) Append(id uint64, kind SegmentKind, tokens int32) {
	if tokens == 0 {
		return
	}
	s := Segment{ID: id, Kind: kind, Tokens: tokens, Chain: r.next(id)}
	r.Prompt = append(r.Prompt, s)
	r.PromptTokens += tokens
}

// SetOutput sets the length of the answer and, if id is not 0, its identity.
func (r *Request) SetOutput(id uint64, tokens int32) {
	r.OutputTokens = tokens
	r.Output = Segment{ID: id, Kind: History, Tokens: tokens, Chain: r.next(id)}
}

// next is the chain of a segment id that follows the prompt as it stands.
func (r *Request) next(id uint64) uint64 {
	n := len(r.Prompt)
	if n == 0 {
		return Chained(0, 0, id)
	}
	return Chained(r.Prompt[n-1].Chain, r.Prompt[n-1].Tokens, id)
}

// Reset empties r and keeps the memory of its prompt.
func (r *Request) Reset() { *r = Request{Prompt: r.Prompt[:0]} }
