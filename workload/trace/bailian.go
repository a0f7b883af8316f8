package trace

import "strconv"

// bailian is the JSONL of the Qwen-Bailian traces: timestamp in seconds,
// 16-token blocks named by their own content, and the turn before as
// parent_chat_id (-1: none). Lengths are of the whole prompt.
type bailian struct {
	jsonl
	roots *recent[int64, int64] // first turn by chat_id
}

const (
	bailianBlock = 16
	keptTurns    = 1 << 22
)

var bailianMembers = []string{"timestamp", "input_length", "output_length", "hash_ids", "chat_id", "parent_chat_id"}

// About implements Format.
func (*bailian) About() string {
	return "Qwen-Bailian JSONL: timestamp (s), input_length, output_length, hash_ids (content ids of 16-token blocks), chat_id, parent_chat_id (the turn before), turn"
}

func (*bailian) detect(f *first) bool {
	return f.has("timestamp", "input_length", "hash_ids", "chat_id")
}

func (b *bailian) begin(s source) error {
	b.open(s)
	b.roots = newRecent[int64, int64](keptTurns)
	s.h.Unit, s.h.IDKind = "s", "content"
	s.h.Remembers = "the session of the last 4 to 8 million turns, some 40 bytes each"
	s.h.useBlocks(s.opt.BlockTokens, bailianBlock)
	return nil
}

func (b *bailian) next(r *Row) error {
	var chat, parent int64
	err := b.line(r, bailianMembers, func(name string) (bool, error) {
		switch name {
		case "timestamp":
			return true, b.time(name, 0, &r.At)
		case "input_length":
			return true, b.tokens(name, &r.Input)
		case "output_length":
			return true, b.tokens(name, &r.Output)
		case "hash_ids":
			r.Known = true
			return true, b.ids(name, &r.Blocks)
		case "chat_id":
			return true, b.chat(name, &chat)
		case "parent_chat_id":
			return true, b.chat(name, &parent)
		case "turn":
			v, err := b.whole(name, 1<<31)
			r.Turn = int64(v)
			return true, err
		}
		return false, nil
	})
	if err != nil {
		return err
	}
	if err := b.h.fits(r); err != nil {
		return b.in.Errorf("%w", err)
	}
	r.Session = strconv.FormatInt(b.root(chat, parent), 10)
	return nil
}

// chat reads the number of a turn; -1 is none.
func (b *bailian) chat(name string, to *int64) error {
	value, err := b.dec.ReadValue()
	if err != nil {
		return err
	}
	if string(value) == "-1" {
		*to = -1
		return nil
	}
	v, err := wholeOf(name, string(value), maxMicros)
	*to = int64(v)
	return err
}

// root finds the first turn of a conversation, whose number names it.
func (b *bailian) root(chat, parent int64) int64 {
	root := chat
	if parent >= 0 {
		before, ok := b.roots.get(parent)
		if ok {
			root = before
		} else {
			root = parent
			b.h.note("some turns have a parent that is not above them: each such parent begins a session")
		}
	}
	b.roots.set(chat, root)
	return root
}
