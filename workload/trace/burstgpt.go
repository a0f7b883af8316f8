package trace

// burstGPT is the CSV of BurstGPT in both layouts: Timestamp (seconds),
// Model, Request tokens, Response tokens, Total tokens, Log Type, and since
// version 2 Session ID and Elapsed time between them. A request without a
// response has failed.
type burstGPT struct{ table }

// About implements Format.
func (*burstGPT) About() string {
	return "BurstGPT CSV, both layouts: Timestamp (s), Request tokens, Response tokens, Session ID, Elapsed time (s); no prompt identity"
}

func (*burstGPT) detect(f *first) bool {
	return f.table("Timestamp", "Request tokens", "Response tokens")
}

func (b *burstGPT) begin(s source) error {
	s.h.Unit = "s"
	return b.open(s, []string{"Timestamp", "Request tokens", "Response tokens"}, []string{"Session ID", "Elapsed time"})
}

func (b *burstGPT) next(r *Row) error {
	if err := b.line(r); err != nil {
		return err
	}
	return b.read(
		value{column: "Timestamp", time: &r.At, needed: true},
		value{column: "Request tokens", tokens: &r.Input, needed: true},
		value{column: "Response tokens", tokens: &r.Output, needed: true},
		value{column: "Session ID", name: &r.Session},
		value{column: "Elapsed time", time: &r.E2E})
}
