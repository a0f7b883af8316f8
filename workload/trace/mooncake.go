package trace

import (
	"errors"

	"github.com/zeebo/xxh3"
)

// mooncake is the JSONL of the Mooncake traces (kvcache-ai/Mooncake) and of the
// tools that took it over (AIPerf, Dynamo): one request a line with timestamp
// (ms), input_length, output_length (tokens) and hash_ids, one for each block of
// prompt tokens, the last of which may be partial. An id names all blocks up to
// its own. The size of a block is not in the file. Dialects add session_id and
// delay (ms from the answer to this turn), leave out what they do not know, and
// have other names.
type mooncake struct {
	jsonl
	last *recent[string, int64] // arrival of the latest turn by session
}

const mooncakeBlock = 512

// mooncakeNames are the members by all their names.
var mooncakeNames = map[string]string{
	"timestamp": "timestamp", "created_time": "timestamp",
	"input_length": "input_length", "input_tokens": "input_length",
	"output_length": "output_length", "output_tokens": "output_length",
	"hash_ids": "hash_ids", "session_id": "session_id", "delay": "delay", "delay_ms": "delay",
}

// keptSessions is how many sessions a reader remembers.
const keptSessions = 1 << 18

// About implements Format.
func (*mooncake) About() string {
	return "Mooncake JSONL and its dialects: timestamp (ms), input_length, output_length, hash_ids (chained ids of blocks, 512 tokens unless said otherwise), session_id, delay (ms)"
}

func (*mooncake) detect(f *first) bool {
	ids := f.members["hash_ids"]
	return (ids == 0 || ids == '[') && f.hasAny("timestamp", "created_time", "session_id") && !f.has("chat_id") &&
		f.hasAny("input_length", "input_tokens") && f.hasAny("output_length", "output_tokens") && !f.hasAny("prompts", "requests")
}

func (m *mooncake) begin(s source) error {
	m.open(s)
	m.last = newRecent[string, int64](keptSessions)
	s.h.Unit, s.h.Remembers = "ms", "the last arrival of up to 500,000 sessions"
	return nil
}

func (m *mooncake) next(r *Row) error {
	timed := false
	err := m.line(r, nil, func(name string) (bool, error) {
		switch mooncakeNames[name] {
		case "timestamp":
			timed = true
			return true, m.time(name, 3, &r.At)
		case "input_length":
			m.seen["input_length"] = true
			return true, m.tokens(name, &r.Input)
		case "output_length":
			m.seen["output_length"] = true
			return true, m.tokens(name, &r.Output)
		case "hash_ids":
			r.Known = true
			return true, m.ids(name, &r.Blocks)
		case "session_id":
			return true, m.optional(func() error { return m.name(name, &r.Session) })
		case "delay":
			return true, m.optional(func() error { return m.time(name, 3, &r.Think) })
		}
		return false, nil
	})
	if err == nil {
		if err = m.check(r, timed); err != nil {
			return m.in.Errorf("%w", err)
		}
	}
	return err
}

// check completes a row.
func (m *mooncake) check(r *Row, timed bool) error {
	for _, name := range []string{"input_length", "output_length"} {
		if !m.seen[name] {
			return errors.New("no member " + name)
		}
	}
	if !timed {
		before, ok := m.last.get(r.Session)
		if r.Session == "" || !ok || r.Think < 0 {
			return errors.New("no member timestamp, and no session_id with a delay after an earlier turn")
		}
		r.At = before + r.Think
		m.h.note("turns without a timestamp arrive their delay after the turn before, as if its answer took no time; --closed waits for the answers")
	}
	if r.Session != "" {
		m.last.set(r.Session, r.At)
	}
	if !r.Known {
		return nil
	}
	m.blocks()
	return m.h.fits(r)
}

// blocks states what the ids are, once a row has some.
func (m *mooncake) blocks() {
	if m.h.BlockTokens == 0 {
		m.h.IDKind = "chained"
		m.h.useBlocks(m.opt.BlockTokens, mooncakeBlock)
	}
}

// mooncakeDelta is Mooncake JSONL whose later turns hold the new input only: a
// prompt is all turns and answers of its session before it, and its own input.
type mooncakeDelta struct {
	mooncake
	sessions *recent[string, *deltaSession]
}

type deltaSession struct {
	tokens int64    // of all turns and answers so far
	ids    []uint64 // whole blocks of the first turn
}

// About implements Format.
func (*mooncakeDelta) About() string {
	return "Mooncake JSONL whose later turns of a session_id hold the new input only (must be asked for: it looks like mooncake)"
}

func (*mooncakeDelta) detect(*first) bool { return false }

func (m *mooncakeDelta) begin(s source) error {
	m.sessions = newRecent[string, *deltaSession](keptSessions)
	err := m.mooncake.begin(s)
	s.h.InputKind, s.h.Remembers = "delta (made full)", "the first turn's ids and the length of up to 500,000 sessions"
	return err
}

func (m *mooncakeDelta) next(r *Row) error {
	if err := m.mooncake.next(r); err != nil || r.Session == "" {
		return err
	}
	size := int64(max(1, m.h.BlockTokens))
	s, ok := m.sessions.get(r.Session)
	if !ok {
		s = &deltaSession{ids: append([]uint64(nil), r.Blocks[:min(int64(len(r.Blocks)), int64(r.Input)/size)]...)}
		m.sessions.set(r.Session, s)
	}
	full := s.tokens + int64(r.Input)
	s.tokens = full + int64(r.Output)
	if full > MaxTokens {
		return m.in.Errorf("the turns of the session come to %d tokens, wanted at most %d", full, MaxTokens)
	}
	r.Input = int32(full)
	if !ok || m.h.BlockTokens == 0 {
		return nil
	}
	// Behind the first turn comes an answer that no other session has, so no
	// block after it is shared either.
	r.Known, r.Blocks = true, append(r.Blocks[:0], s.ids...)
	private := xxh3.HashString(r.Session) | 1<<63
	for k := int64(len(r.Blocks)); k < (full+size-1)/size; k++ {
		r.Blocks = append(r.Blocks, Chain(private, 0, uint64(k)))
	}
	return nil
}
