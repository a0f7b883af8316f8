package workload

import (
	"fmt"

	"cacheroute/workload/trace"
)

// PromptModel says what the prompts of a trace share where the trace does not:
// an assumption of the user, on which all hits then rest.
type PromptModel struct {
	// TemplateTokens is what the prompts of all keys begin with.
	TemplateTokens int `yaml:"template_tokens,omitempty" jsonschema:"minimum=0,maximum=67108864"`
	// KeyTokens is what the prompts of one key go on with.
	KeyTokens int `yaml:"key_tokens,omitempty" jsonschema:"minimum=0,maximum=67108864"`
	// History makes a turn of a session repeat the prompt of the turn before, if
	// it is long enough to hold it and its answer.
	History bool `yaml:"history,omitempty"`
}

// Check returns nil or an error that begins with the parameter's name.
func (m *PromptModel) Check() error {
	if m == nil {
		return nil
	}
	return first(checkTokens("template_tokens", m.TemplateTokens, 0), checkTokens("key_tokens", m.KeyTokens, 0))
}

// String says the model in words.
func (m *PromptModel) String() string {
	text := fmt.Sprintf("%d tokens common to all, %d to a key", m.TemplateTokens, m.KeyTokens)
	if m.History {
		text += ", and the turns before of a session"
	}
	return text
}

// turnBefore is the latest turn of a session.
type turnBefore struct {
	leaf  uint32
	holds int32 // tokens of its prompt and its answer
	turns uint64
}

// model puts the prompts of which the trace says nothing into the tree of
// blocks. The rows are sorted and have their keys.
func (b *traceBuilder) model() {
	m := b.opt.Prompt
	if m == nil {
		return
	}
	sessions := map[uint64]turnBefore{}
	for i := range b.rows {
		row := &b.rows[i]
		if row.known {
			continue
		}
		before := sessions[row.session]
		turn := turnBefore{turns: before.turns + 1, holds: row.input + row.output}
		if m.History && row.inSession && before.holds > 0 && row.input > before.holds {
			row.leaf = before.leaf
		} else {
			row.leaf = b.grow(b.grow(0, row, m.TemplateTokens, 1), row, m.KeyTokens, uint64(row.key)+2)
		}
		if m.History && row.inSession {
			row.leaf = b.grow(row.leaf, row, int(row.input), trace.Chain(row.session, 0, turn.turns)|1<<63)
			turn.leaf = row.leaf
			sessions[row.session] = turn
		}
	}
}

// grow adds up to so many tokens of a stream to a row that ends with a node, as
// far as its prompt is long, in blocks of HitBlock: prompts of which one ends
// inside a block share the blocks before it.
func (b *traceBuilder) grow(parent uint32, row *builtRow, tokens int, id uint64) uint32 {
	n := min(int32(tokens), row.input-b.tree.at(parent).end)
	for at := int32(0); at < n; at += trace.HitBlock {
		size := min(trace.HitBlock, n-at)
		parent = b.tree.node(trace.Chain(b.tree.at(parent).hash, size, trace.Chain(id, 0, uint64(at))), parent, size)
	}
	return parent
}
