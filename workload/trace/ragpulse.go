package trace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"

	"github.com/zeebo/xxh3"

	"cacheroute/workload/lines"
)

// ragPulse is the JSONL of RAGPulse: timestamp (a string of seconds),
// input_length, output_length, session_id, and hash_ids by component, in the
// order of the prompt. Components are of any length; where a table of their
// lengths lies beside the trace, prompts are cut into blocks of 16 tokens, named
// by the components that they hold; without it nothing is known of what prompts
// share. What the components leave of a prompt is its own.
type ragPulse struct {
	jsonl
	lengths map[component]int32 // nil: not known
	blocks  cutter
}

// component names a part of prompts.
type component struct {
	list string
	id   uint64
}

const (
	ragPulseBlock  = 16
	mostComponents = 1 << 24
)

var ragPulseMembers = []string{"timestamp", "input_length", "output_length"}

// About implements Format.
func (*ragPulse) About() string {
	return "RAGPulse JSONL: timestamp (s, as text), input_length, output_length, session_id, hash_ids by component, whose lengths are read from NAME.lengths.csv (component, id, tokens) beside it; without that prompts are unknown"
}

func (*ragPulse) detect(f *first) bool {
	return f.members["hash_ids"] == '{' && f.has("timestamp", "input_length")
}

func (p *ragPulse) begin(s source) error {
	p.open(s)
	s.h.Unit = "s"
	path := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(s.in.Path, ".gz"), ".zst"), ".jsonl") + ".lengths.csv"
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		s.h.note("no lengths of components in %s: hash_ids are not used", path)
		return nil
	}
	s.h.IDKind, s.h.BlockTokens, s.h.BlocksFrom = "component", ragPulseBlock, "cut here from components"
	s.h.Remembers = "the lengths of all components"
	return p.readLengths(path)
}

// readLengths reads the table of the lengths of components.
func (p *ragPulse) readLengths(path string) error {
	in, err := lines.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	var t table
	if err := t.open(source{in, &Header{}, &Options{}}, []string{"component", "id", "tokens"}, nil); err != nil {
		return err
	}
	p.lengths = map[component]int32{}
	for {
		var r Row
		if err := t.line(&r); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		c := component{list: t.text("component")}
		if c.id, err = wholeOf("id", t.text("id"), math.MaxUint64); err != nil {
			return in.Errorf("%w", err)
		}
		var tokens int32
		if err := t.read(value{column: "tokens", tokens: &tokens, needed: true}); err != nil {
			return err
		}
		if _, twice := p.lengths[c]; twice || len(p.lengths) == mostComponents {
			return in.Errorf("read component %s, id %d again, or more than %d components", lines.Excerpt([]byte(c.list)), c.id, mostComponents)
		}
		p.lengths[c] = tokens
	}
}

func (p *ragPulse) next(r *Row) error {
	p.blocks = cutter{size: ragPulseBlock}
	err := p.line(r, ragPulseMembers, func(name string) (bool, error) {
		switch name {
		case "timestamp":
			return true, p.time(name, 0, &r.At)
		case "input_length":
			return true, p.tokens(name, &r.Input)
		case "output_length":
			return true, p.tokens(name, &r.Output)
		case "session_id":
			return true, p.optional(func() error { return p.name(name, &r.Session) })
		case "hash_ids":
			return true, p.components(r)
		}
		return false, nil
	})
	if err == nil && p.blocks.total > int64(r.Input) {
		return p.in.Errorf("read components of %d tokens for %d input tokens, wanted at most as many", p.blocks.total, r.Input)
	}
	return err
}

// components reads the lists of ids in the order in which they stand.
func (p *ragPulse) components(r *Row) error {
	if p.lengths == nil {
		return p.members(&Header{}, func(string) (bool, error) { return false, nil })
	}
	r.Known = true
	return p.members(p.h, func(list string) (bool, error) {
		return true, p.list(list, func() error {
			id, err := p.whole(list, math.MaxUint64)
			if err != nil {
				return err
			}
			tokens, ok := p.lengths[component{list, id}]
			if !ok {
				return fmt.Errorf("%s: read id %d, which has no length", lines.Excerpt([]byte(list)), id)
			}
			if p.blocks.total+int64(tokens) > MaxTokens {
				return fmt.Errorf("components of more than %d tokens", MaxTokens)
			}
			r.Blocks = p.blocks.cut(r.Blocks, Chain(xxh3.HashString(list), 0, id), tokens)
			return nil
		})
	})
}

// cutter cuts streams of tokens that follow each other into whole blocks.
type cutter struct {
	size  int32
	total int64
	block uint64 // name of the tokens of the block in hand
	held  int32  // their number
}

// cut adds the tokens of a stream and appends the blocks that are full.
func (c *cutter) cut(blocks []uint64, stream uint64, tokens int32) []uint64 {
	c.total += int64(tokens)
	for from := int32(0); from < tokens; {
		n := min(c.size-c.held, tokens-from)
		c.block = Chain(Chain(c.block, n, stream), c.held, uint64(from))
		c.held += n
		from += n
		if c.held == c.size {
			blocks = append(blocks, c.block)
			c.block, c.held = 0, 0
		}
	}
	return blocks
}
