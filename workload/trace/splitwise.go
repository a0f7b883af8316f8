package trace

// splitwise is the CSV of the splitwise-sim simulator. Requests of another type
// than 2 are not to a language model.
type splitwise struct{ table }

// About implements Format.
func (*splitwise) About() string {
	return "splitwise-sim CSV: arrival_timestamp (s), prompt_size, token_size, request_type (2 is an LLM request), application_id; no prompt identity"
}

func (*splitwise) detect(f *first) bool {
	return f.table("arrival_timestamp", "prompt_size", "token_size")
}

func (s *splitwise) begin(from source) error {
	from.h.Unit = "s"
	return s.open(from, []string{"arrival_timestamp", "prompt_size", "token_size"}, []string{"request_type"})
}

func (s *splitwise) next(r *Row) error {
	if err := s.line(r); err != nil {
		return err
	}
	kind := int64(2)
	err := s.read(
		value{column: "arrival_timestamp", time: &r.At, needed: true},
		value{column: "prompt_size", tokens: &r.Input, needed: true},
		value{column: "token_size", tokens: &r.Output, needed: true},
		value{column: "request_type", whole: &kind})
	if kind != 2 {
		r.drop = "not to a language model"
	}
	return err
}
