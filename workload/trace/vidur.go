package trace

// vidur is the CSV of processed traces of the vidur simulator: arrived_at
// (seconds), num_prefill_tokens, num_decode_tokens.
type vidur struct{ table }

// About implements Format.
func (*vidur) About() string {
	return "vidur CSV: arrived_at (s), num_prefill_tokens, num_decode_tokens; no prompt identity"
}

func (*vidur) detect(f *first) bool { return f.table("num_prefill_tokens", "num_decode_tokens") }

func (v *vidur) begin(s source) error {
	s.h.Unit = "s"
	return v.open(s, []string{"arrived_at", "num_prefill_tokens", "num_decode_tokens"}, nil)
}

func (v *vidur) next(r *Row) error {
	if err := v.line(r); err != nil {
		return err
	}
	return v.read(
		value{column: "arrived_at", time: &r.At, needed: true},
		value{column: "num_prefill_tokens", tokens: &r.Input, needed: true},
		value{column: "num_decode_tokens", tokens: &r.Output, needed: true})
}
