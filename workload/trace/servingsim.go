package trace

import (
	"errors"
	"fmt"
	"math"
)

// servingSim is the JSONL of LLMServingSim: arrival_time_ns, input_toks,
// output_toks and perhaps the token ids of the prompt, which are turned into the
// content ids of 16-token blocks as they are read; or a session with
// sub_requests, each tool_duration_ns after the one before has ended.
type servingSim struct {
	jsonl
	rows     []Row // of the session in hand, the first last
	ids      [][]uint64
	sessions *recent[string, struct{}]
}

const servingSimBlock = 16

// About implements Format.
func (*servingSim) About() string {
	return "LLMServingSim JSONL: arrival_time_ns, input_toks, output_toks, input_tok_ids (made block ids of 16 tokens), sub_requests"
}

func (*servingSim) detect(f *first) bool {
	return f.has("arrival_time_ns") && f.hasAny("input_toks", "sub_requests")
}

func (p *servingSim) begin(s source) error {
	p.open(s)
	p.sessions = newRecent[string, struct{}](keptSessions)
	s.h.Unit, s.h.Remembers = "ns", "the session in hand and the names of up to 500,000 sessions"
	return nil
}

func (p *servingSim) next(r *Row) error {
	for len(p.rows) == 0 {
		if err := p.session(r); err != nil {
			return err
		}
	}
	last := len(p.rows) - 1
	ids := append(r.Blocks[:0], p.ids[last]...)
	*r = p.rows[last]
	r.Blocks = ids
	p.rows, p.ids = p.rows[:last], p.ids[:last]
	return nil
}

// session reads a line, which is one request or several.
func (p *servingSim) session(r *Row) error {
	var subs []Row
	var ids [][]uint64
	var tools []int64
	many, counted := false, false
	err := p.line(r, []string{"arrival_time_ns"}, func(name string) (bool, error) {
		switch name {
		case "arrival_time_ns":
			return true, p.time(name, 9, &r.At)
		case "session_id":
			return true, p.optional(func() error { return p.name(name, &r.Session) })
		case "sub_requests":
			many = true
			return true, p.list(name, func() error {
				var sub Row
				sub.reset()
				tool := int64(0)
				err := p.members(p.h, func(name string) (bool, error) {
					if name == "tool_duration_ns" {
						return true, p.optional(func() error { return p.time(name, 9, &tool) })
					}
					return p.request(&sub, name)
				})
				subs, ids, tools = append(subs, sub), append(ids, sub.Blocks), append(tools, tool)
				return err
			})
		case "input_toks":
			counted = true
		}
		return p.request(r, name)
	})
	if err == nil && counted == many {
		err = p.in.Errorf("%w", errors.New("wanted either input_toks or sub_requests"))
	}
	if err != nil {
		return err
	}
	if !many {
		p.rows, p.ids = append(p.rows, *r), append(p.ids, r.Blocks)
		return nil
	}
	return p.place(r, subs, ids, tools)
}

// request reads what single requests and those of a session have.
func (p *servingSim) request(r *Row, name string) (bool, error) {
	switch name {
	case "input_toks":
		return true, p.tokens(name, &r.Input)
	case "output_toks":
		return true, p.tokens(name, &r.Output)
	case "input_tok_ids":
		r.Known = true
		p.h.BlockTokens, p.h.BlocksFrom, p.h.IDKind = servingSimBlock, "made here from token ids", "content"
		if p.opt.BlockTokens > 0 {
			p.h.BlockTokens = int32(p.opt.BlockTokens)
		}
		return true, p.hash(name, r)
	}
	return false, nil
}

// hash turns token ids into ids of whole blocks.
func (p *servingSim) hash(name string, r *Row) error {
	block, n := uint64(0), int32(0)
	return p.list(name, func() error {
		id, err := p.whole(name, math.MaxUint32)
		block, n = Chain(block, n, id), n+1
		if n == p.h.BlockTokens {
			r.Blocks = append(r.Blocks, block)
			block, n = 0, 0
		}
		return err
	})
}

// place puts the requests of a session in time: each its tool's duration after
// the one before, as if answers took no time.
func (p *servingSim) place(r *Row, subs []Row, ids [][]uint64, tools []int64) error {
	if r.Session == "" {
		r.Session = fmt.Sprintf("line %d", r.Line)
	}
	if _, twice := p.sessions.get(r.Session); twice {
		return p.in.Errorf("session_id: read %.40q a second time, wanted each once", r.Session)
	}
	p.sessions.set(r.Session, struct{}{})
	p.h.note("later requests of a session arrive its tool's duration after the one before, as if answers took no time; --closed waits for the answers")
	at := r.At
	for i := range subs {
		s := &subs[i]
		s.Line, s.Session, s.Turn = r.Line, r.Session, int64(i)
		if i > 0 {
			s.Think = tools[i-1]
			at += s.Think
		}
		s.At = at
	}
	for i := len(subs) - 1; i >= 0; i-- {
		p.rows, p.ids = append(p.rows, subs[i]), append(p.ids, ids[i])
	}
	return nil
}
