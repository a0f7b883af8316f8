package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"

	"github.com/zeebo/xxh3"

	"cacheroute/workload/lines"
)

// weka is the JSON of the WEKA kv-cache-tester: an object a conversation, whose
// requests have t (s from its start), in, out and hash_ids, one for each whole
// block of 64 tokens, numbered within the conversation. Sub-agents hold requests
// of their own. When conversations began is not recorded.
type weka struct {
	object
	source
	rng    *rand.Rand
	start  float64 // of the latest conversation, seconds
	text   []byte
	line   int64
	name   string
	rows   []Row // of the conversation in hand
	ids    []uint64
	spans  []int // where the ids of each row end
	served int
}

const wekaBlock = 64

// About implements Format.
func (*weka) About() string {
	return "WEKA kv-cache-tester JSON: a conversation an object, requests with t (s), in, out, hash_ids (64-token blocks, local to it), sub-agents; needs sessions_per_s, as starts are not recorded"
}

func (*weka) detect(f *first) bool { return f.members["requests"] == '[' && !f.has("timestamp") }

func (w *weka) begin(s source) error {
	w.source = s
	if s.opt.SessionsPerS == 0 {
		return fmt.Errorf("%s: the times at which conversations began are not recorded; wanted a rate for them (sessions_per_s), at which they are drawn", s.in.Path)
	}
	w.rng = rand.New(rand.NewPCG(s.opt.Seed, xxh3.HashString("trace/sessions")))
	s.h.Unit, s.h.IDKind = "s", "chained"
	s.h.Remembers = "the conversation in hand"
	s.h.useBlocks(s.opt.BlockTokens, wekaBlock)
	s.h.note("conversations start as a Poisson process of %v/s, drawn with seed %d", s.opt.SessionsPerS, s.opt.Seed)
	return nil
}

func (w *weka) next(r *Row) error {
	for w.served == len(w.rows) {
		if err := w.conversation(); err != nil {
			return err
		}
	}
	from := 0
	if w.served > 0 {
		from = w.spans[w.served-1]
	}
	ids := append(r.Blocks, w.ids[from:w.spans[w.served]]...)
	*r = w.rows[w.served]
	r.Blocks = ids
	w.served++
	if err := w.h.fits(r); err != nil {
		return w.failed(err)
	}
	return nil
}

func (w *weka) failed(err error) error { return fmt.Errorf("%s:%d: %w", w.in.Path, w.line, err) }

// conversation reads the next object, which may take more than one line.
func (w *weka) conversation() error {
	if err := w.gather(); err != nil {
		return err
	}
	w.rows, w.ids, w.spans, w.served, w.name = w.rows[:0], w.ids[:0], w.spans[:0], 0, ""
	found := false
	err := w.read(w.text, w.h, func(name string) (bool, error) {
		switch name {
		case "id":
			return true, w.object.name(name, &w.name)
		case "block_size":
			v, err := w.whole(name, MaxTokens)
			if err == nil && int32(v) != w.h.BlockTokens {
				err = fmt.Errorf("block_size: read %d, wanted %d (%s)", v, w.h.BlockTokens, w.h.BlocksFrom)
			}
			return true, err
		case "requests":
			found = true
			return true, w.requests("")
		}
		return false, nil
	})
	if err == nil && !found {
		err = errors.New("no member requests")
	}
	if err != nil {
		return w.failed(err)
	}
	w.finish()
	return nil
}

// gather collects the lines of one object.
func (w *weka) gather() error {
	w.text = w.text[:0]
	depth, quoted, escaped := 0, false, false
	for {
		line, err := w.in.Next()
		if err != nil && (err != io.EOF || len(w.text) == 0) {
			return err
		}
		if err == io.EOF {
			return nil // the object is cut short; reading it says so
		}
		if len(w.text) == 0 {
			if line = bytes.TrimSpace(line); len(line) == 0 {
				continue
			}
			w.line = int64(w.in.Number)
		}
		if len(w.text)+len(line) > lines.MaxLine {
			return w.failed(fmt.Errorf("the object is longer than %d MiB", lines.MaxLine>>20))
		}
		w.text = append(append(w.text, line...), ' ')
		for _, c := range line {
			switch {
			case escaped:
				escaped = false
			case quoted:
				escaped, quoted = c == '\\', c != '"'
			case c == '"':
				quoted = true
			case c == '{' || c == '[':
				depth++
			case c == '}' || c == ']':
				depth--
			}
		}
		if depth <= 0 {
			return nil
		}
	}
}

// requests reads a list of requests; agent names the sub-agent that has them.
func (w *weka) requests(agent string) error {
	return w.list("requests", func() error {
		var r Row
		r.reset()
		r.Line, r.Session, r.Known = w.line, agent, true
		from, kind, nested := len(w.ids), "", false
		err := w.members(w.h, func(name string) (bool, error) {
			switch name {
			case "t":
				return true, w.time(name, 0, &r.At)
			case "in":
				return true, w.tokens(name, &r.Input)
			case "out":
				return true, w.tokens(name, &r.Output)
			case "type":
				return true, w.object.name(name, &kind)
			case "hash_ids":
				return true, w.object.ids(name, &w.ids)
			case "api_time":
				return true, w.optional(func() error { return w.time(name, 0, &r.E2E) })
			case "think_time":
				return true, w.optional(func() error { return w.time(name, 0, &r.Think) })
			case "requests":
				nested = true
				return true, w.requests(agent + "/" + strconv.Itoa(len(w.rows)))
			}
			return false, nil
		})
		if err != nil {
			return err
		}
		if nested || kind == "subagent" {
			if len(w.ids) != from && !nested {
				return errors.New("a sub-agent with hash_ids and no requests")
			}
			return nil
		}
		w.rows, w.spans = append(w.rows, r), append(w.spans, len(w.ids))
		return nil
	})
}

// finish places the conversation in time and among the others.
func (w *weka) finish() {
	w.start += w.rng.ExpFloat64() / w.opt.SessionsPerS
	if w.name == "" {
		w.name = "line " + strconv.FormatInt(w.line, 10)
	}
	scope := xxh3.HashString(w.name)
	for i := range w.ids {
		w.ids[i] = Chain(scope, 0, w.ids[i])
	}
	for i := range w.rows {
		w.rows[i].At += int64(w.start * 1e6)
		w.rows[i].Session = w.name + w.rows[i].Session
	}
}
