package trace

import (
	"errors"
	"fmt"
)

// dynamo is the request trace of Dynamo, schema dynamo.request.trace.v1: a line
// for each request that ended, with times in ms, what was cached and the chained
// hashes of the blocks of its prompt; and lines for tools. Either all requests
// are of an agent's session or none is.
type dynamo struct {
	jsonl
	plain, ofAgent bool // such requests have been read
}

const dynamoSchema = "dynamo.request.trace.v1"

// About implements Format.
func (*dynamo) About() string {
	return "Dynamo request trace v1, JSONL: request_received_ms, input_tokens, output_tokens, cached_tokens, ttft_ms, block hashes, agent sessions"
}

func (*dynamo) detect(f *first) bool { return f.has("schema", "event_type") }

func (d *dynamo) begin(s source) error {
	d.open(s)
	s.h.Unit = "ms"
	return nil
}

// dynamoRow is what one line says beside the row.
type dynamoRow struct {
	schema, event   string
	input, received bool
	block           int64
	replayed        int32 // input_length that the hashes cover
}

func (d *dynamo) next(r *Row) error {
	var e dynamoRow
	err := d.line(r, []string{"schema", "event_type"}, func(name string) (bool, error) {
		switch name {
		case "schema":
			return true, d.name(name, &e.schema)
		case "event_type":
			return true, d.name(name, &e.event)
		case "agent_context":
			return true, d.optional(func() error { return d.agent(r) })
		case "request":
			return true, d.optional(func() error { return d.request(r, &e) })
		}
		return false, nil
	})
	if err == nil {
		if err = d.check(r, &e); err != nil {
			return d.in.Errorf("%w", err)
		}
	}
	return err
}

func (d *dynamo) agent(r *Row) error {
	return d.members(d.h, func(name string) (bool, error) {
		if name == "session_id" {
			return true, d.name(name, &r.Session)
		}
		return false, nil
	})
}

func (d *dynamo) request(r *Row, e *dynamoRow) error {
	return d.members(d.h, func(name string) (bool, error) {
		switch name {
		case "request_received_ms":
			e.received = true
			return true, d.time(name, 3, &r.At)
		case "input_tokens":
			e.input = true
			return true, d.tokens(name, &r.Input)
		case "output_tokens":
			return true, d.tokens(name, &r.Output)
		case "cached_tokens":
			return true, d.optional(func() error {
				v, err := d.whole(name, MaxTokens)
				r.Cached = int64(v)
				return err
			})
		case "ttft_ms":
			return true, d.optional(func() error { return d.time(name, 3, &r.TTFT) })
		case "total_time_ms":
			return true, d.optional(func() error { return d.time(name, 3, &r.E2E) })
		case "replay":
			return true, d.optional(func() error { return d.replay(r, e) })
		}
		return false, nil
	})
}

func (d *dynamo) replay(r *Row, e *dynamoRow) error {
	return d.members(d.h, func(name string) (bool, error) {
		switch name {
		case "trace_block_size":
			v, err := d.whole(name, MaxTokens)
			e.block = int64(v)
			return true, err
		case "input_length":
			return true, d.tokens(name, &e.replayed)
		case "input_sequence_hashes":
			r.Known = true
			return true, d.ids(name, &r.Blocks)
		}
		return false, nil
	})
}

// check completes a row.
func (d *dynamo) check(r *Row, e *dynamoRow) error {
	switch {
	case e.schema != dynamoSchema:
		return fmt.Errorf("schema: read %.40q, wanted %s", e.schema, dynamoSchema)
	case e.event == "tool_end" || e.event == "tool_error":
		r.drop = "of a tool"
		return nil
	case e.event != "request_end":
		return fmt.Errorf("event_type: read %.40q, wanted request_end, tool_end or tool_error", e.event)
	case !e.received || !e.input:
		return errors.New("no members request_received_ms and input_tokens of request")
	}
	d.ofAgent, d.plain = d.ofAgent || r.Session != "", d.plain || r.Session == ""
	if d.ofAgent && d.plain {
		return errors.New("requests with and without agent_context, wanted all or none with it")
	}
	if !r.Known {
		return nil
	}
	if e.replayed != r.Input {
		return fmt.Errorf("read %d input_tokens and hashes for %d, wanted the same", r.Input, e.replayed)
	}
	if d.h.BlockTokens == 0 && e.block > 0 && e.block <= MaxTokens {
		d.h.BlockTokens, d.h.BlocksFrom, d.h.IDKind = int32(e.block), "stated in the file", "chained"
	}
	if e.block == 0 || int64(d.h.BlockTokens) != e.block {
		return wantedBlock("trace_block_size", e.block, d.h)
	}
	return d.h.fits(r)
}
