package trace

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"cacheroute/workload/lines"
)

// KeyKind is where the routing key of a request comes from.
type KeyKind uint8

// The kinds of key rules.
const (
	KeyAuto    KeyKind = iota // a key that the file states, else a prefix, a session, or none
	KeyNone                   // all requests have one key
	KeyField                  // a field of the file
	KeySession                // the conversation
	KeyPrefix                 // the first blocks of the prompt
)

// KeyRule is how requests get their routing keys.
type KeyRule struct {
	Kind  KeyKind
	Depth int    // blocks of KeyPrefix
	Field string // of KeyField; "": that which the format calls the key
}

// keyWords is what a rule may be.
const keyWords = "auto, none, session, field, field:NAME or prefix:<number of blocks, at least 1>"

// ParseKey reads a rule: auto (or nothing), none, session, field, field:NAME or
// prefix:DEPTH.
func ParseKey(text string) (KeyRule, error) {
	kind, rest, parts := strings.Cut(text, ":")
	switch {
	case text == "" || text == "auto":
		return KeyRule{Kind: KeyAuto}, nil
	case text == "none":
		return KeyRule{Kind: KeyNone}, nil
	case text == "session":
		return KeyRule{Kind: KeySession}, nil
	case text == "field":
		return KeyRule{Kind: KeyField}, nil
	case kind == "field" && strings.TrimSpace(rest) != "":
		return KeyRule{Kind: KeyField, Field: strings.TrimSpace(rest)}, nil
	case kind == "prefix" && parts:
		if depth, err := strconv.Atoi(rest); err == nil && depth >= 1 && depth <= 1<<20 {
			return KeyRule{Kind: KeyPrefix, Depth: depth}, nil
		}
	}
	return KeyRule{}, fmt.Errorf("key: read %s, wanted %s", lines.Excerpt([]byte(text)), keyWords)
}

func (k KeyRule) String() string {
	switch k.Kind {
	case KeyNone:
		return "none"
	case KeySession:
		return "session"
	case KeyPrefix:
		return "prefix:" + strconv.Itoa(k.Depth)
	case KeyField:
		if k.Field == "" {
			return "field"
		}
		return "field:" + k.Field
	}
	return "auto"
}

// Hash names the key of a request; chains are those of its blocks. A request
// without a session, or of whose prompt nothing is known, has a key of its own.
func (k KeyRule) Hash(r *Row, chains []uint64) uint64 {
	switch {
	case k.Kind == KeyField:
		return xxh3.HashString(r.Key)
	case k.Kind == KeySession && r.Session != "":
		return xxh3.HashString(r.Session)
	case k.Kind == KeySession, k.Kind == KeyPrefix && !r.Known:
		return Chain(uint64(r.At), r.Input, uint64(r.Output)+1)
	case k.Kind == KeyPrefix && len(chains) > 0:
		return PrefixKey(chains[min(k.Depth, len(chains))-1])
	}
	return PrefixKey(0)
}

// PrefixKey names the key of the prompts that begin with a chain; 0 is none.
func PrefixKey(chain uint64) uint64 { return fold(chain^0x9fb21c651e98df25, 0x8ebc6af09c88c6e3) }

// Chain names a block of some tokens together with the chain before it. It is a
// 64-bit mix (rounds of 128-bit multiply-fold, as in wyhash): with 10 million
// blocks the chance of one collision is about 3e-6.
func Chain(parent uint64, tokens int32, id uint64) uint64 {
	h := fold(parent^0xa0761d6478bd642f, uint64(tokens)^0xe7037ed1a0b428db)
	return fold(h^id^0x3c6ef372fe94f82b, 0x8ebc6af09c88c6e3)
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// Chains appends the chain of each block of a row to dst.
func (h *Header) Chains(r *Row, dst []uint64) []uint64 {
	parent, left := uint64(0), r.Input
	for _, id := range r.Blocks {
		tokens := min(left, h.BlockTokens)
		parent = Chain(parent, tokens, id)
		dst = append(dst, parent)
		left -= tokens
	}
	return dst
}
