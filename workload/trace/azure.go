package trace

// azure is the CSV of the Azure LLM inference traces of 2023, 2024 and 2025:
// TIMESTAMP, ContextTokens, GeneratedTokens. Dates are without a zone and with
// seven digits, with +00:00 and six digits or none, or ISO with Z.
type azure struct{ table }

// About implements Format.
func (*azure) About() string {
	return "Azure LLM inference CSV of 2023, 2024, 2025: TIMESTAMP, ContextTokens, GeneratedTokens; no prompt identity"
}

func (*azure) detect(f *first) bool { return f.table("TIMESTAMP", "ContextTokens", "GeneratedTokens") }

func (a *azure) begin(s source) error {
	s.h.Unit = "dates"
	return a.open(s, []string{"TIMESTAMP", "ContextTokens", "GeneratedTokens"}, nil)
}

func (a *azure) next(r *Row) error {
	if err := a.line(r); err != nil {
		return err
	}
	var err error
	if r.At, err = dateOf("TIMESTAMP", a.text("TIMESTAMP")); err != nil {
		return a.in.Errorf("%w", err)
	}
	return a.read(
		value{column: "ContextTokens", tokens: &r.Input, needed: true},
		value{column: "GeneratedTokens", tokens: &r.Output, needed: true})
}
