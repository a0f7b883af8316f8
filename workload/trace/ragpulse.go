package trace

// ragPulse is the JSONL of RAGPulse: timestamp (a string of seconds),
// input_length, output_length, session_id, and hash_ids by component. The
// lengths of the components are in other files, so nothing is known of what
// prompts share from their start.
type ragPulse struct{ jsonl }

var ragPulseMembers = []string{"timestamp", "input_length", "output_length"}

// About implements Format.
func (*ragPulse) About() string {
	return "RAGPulse JSONL: timestamp (s, as text), input_length, output_length, session_id; its components have no lengths here, so prompts are unknown"
}

func (*ragPulse) detect(f *first) bool {
	return f.members["hash_ids"] == '{' && f.has("timestamp", "input_length")
}

func (p *ragPulse) begin(s source) error {
	p.open(s)
	s.h.Unit = "s"
	s.h.note("hash_ids name components whose lengths are in other files: they are not used")
	return nil
}

func (p *ragPulse) next(r *Row) error {
	return p.line(r, ragPulseMembers, func(name string) (bool, error) {
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
			return true, p.members(&Header{}, func(string) (bool, error) { return false, nil })
		}
		return false, nil
	})
}
