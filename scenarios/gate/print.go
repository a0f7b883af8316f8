package gate

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"

	"cacheroute/results"
)

// section is a table of evidence: a title and its rows.
type section struct {
	Title string
	Rows  []row
}

// row is a figure of both policies and their difference.
type row struct {
	Name, Baseline, Candidate, Diff string
}

// sections lay the evidence out for terminal and page.
func (r *Report) sections() []section {
	var all []section
	for i := range r.Loads {
		l := &r.Loads[i]
		s := section{Title: fmt.Sprintf("at %g requests/s, %g of the knee of %s", l.LoadQPS, l.OfKnee, r.Baseline)}
		s.Rows = []row{
			change("p99 TTFT, s", l.TTFTP99, 1), change("KV hit, %", l.KVHit, 100), change("requests, max/mean", l.Imbalance, 1), change("failed, %", l.FailureRate, 100),
		}
		if len(l.Worst) == 2 {
			a, b := l.Worst[0], l.Worst[1]
			s.Rows = append(s.Rows,
				row{"worst destination", fmt.Sprintf("no. %d", a.Destination), fmt.Sprintf("no. %d", b.Destination), "of the first replicate"},
				row{"  p99 TTFT, s", digits(a.TTFTP99), digits(b.TTFTP99), ""},
				row{"  requests/mean", digits(a.OverMean), digits(b.OverMean), ""},
				row{"  KV hit, %", digits(100 * a.KVHit), digits(100 * b.KVHit), ""},
				row{"  busy, %", digits(100 * a.Busy), digits(100 * b.Busy), ""})
		}
		all = append(all, s)
	}
	return append(all, section{fmt.Sprintf("capacity at p99 TTFT <= %s s and at most %.3g %% failed", results.Shortly(r.SLO), 100*r.MaxFailureRate),
		[]row{change("requests/s", r.Capacity.Change, 1)}})
}

// change is a row of means over the replicates.
func change(name string, c results.Change, scale results.Float) row {
	text := signed(scale * c.Diff.Mean)
	if half := scale * c.Diff.HalfWidth(); half.Finite() {
		text += " ± " + digits(half)
	}
	return row{name, digits(scale * c.A), digits(scale * c.B), text}
}

// digits prints three or so.
func digits(f results.Float) string {
	v := float64(f)
	switch {
	case math.IsNaN(v):
		return "-"
	case math.IsInf(v, 0):
		return "inf"
	case math.Abs(v) >= 99.95:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

func signed(f results.Float) string {
	if f >= 0 {
		return "+" + digits(f)
	}
	return digits(f)
}

// percent is a gain with half its interval.
func percent(g *Gain) string {
	if g == nil {
		return ""
	}
	text := signed(100 * g.Mean)
	if half := g.HalfWidth(); half.Finite() {
		text += " ± " + digits(100*half)
	}
	return text
}

// title is what was judged.
func (r *Report) title() string {
	return fmt.Sprintf("%s: %s against %s, p99 TTFT <= %s s", r.Study, r.Candidate, r.Baseline, results.Shortly(r.SLO))
}

// order is the verdict as a sentence.
func (r *Report) order() string {
	switch r.Verdict {
	case Enable:
		return "enable " + r.Candidate
	case Keep:
		return "keep " + r.Baseline
	}
	return "inconclusive: keep " + r.Baseline + " until it is settled"
}

// planWords describes the assignment, empty if there is none.
func (r *Report) planWords() string {
	p := r.Plan
	if p == nil {
		return ""
	}
	traffic := fmt.Sprintf("%.0f %% of the traffic", 100*p.Share)
	if p.Rates == "estimated" {
		traffic = fmt.Sprintf("%.0f %% of the traffic that it was made from and %.0f %% of what came", 100*p.Share, 100*p.Covered)
	}
	return fmt.Sprintf("made at %g requests/s and the same at every load: %d of %d keys admitted with %s, planned load at most %.2f times the mean; rates: %s",
		p.LoadQPS, p.Admitted, p.Keys, traffic, p.Balance, p.About)
}

// Print writes the report for a terminal.
func (r *Report) Print(w io.Writer, st results.Style) error {
	out := bufio.NewWriter(w)
	say := func(label, text string) {
		if text != "" {
			fmt.Fprintln(out, label+results.Wrap(text, len(label), strings.Repeat(" ", len(label))))
		}
	}
	fmt.Fprintln(out, st.Head(r.title()))
	verdict := "verdict: " + r.order()
	switch r.Verdict {
	case Enable:
		verdict = st.Good(verdict)
	case Keep:
		verdict = st.Bad(verdict)
	}
	fmt.Fprintf(out, "\n%s\n", verdict)
	for _, text := range r.Reasons {
		say("  - ", text)
	}
	for _, text := range r.Settles {
		say("would settle it: ", text)
	}
	fmt.Fprintf(out, "\n%-42s %10s %10s  %s\n", "", short(r.Baseline), short(r.Candidate), "difference, 95 % interval")
	for _, s := range r.sections() {
		fmt.Fprintln(out, st.Head(s.Title))
		for _, x := range s.Rows {
			fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("  %-40s %10s %10s  %s", x.Name, x.Baseline, x.Candidate, x.Diff), " "))
		}
	}
	fmt.Fprintln(out)
	say("intervals: ", r.Replicates.About)
	say("evidence: ", r.Evidence.words())
	say("plan: ", r.planWords())
	r.printEnvelope(out, st)
	for _, text := range r.Sources {
		say("input: ", text)
	}
	say("repeat the gate after a change of: ", strings.Join(r.Repeat, ", "))
	for _, text := range r.Doubts {
		say("note: ", text)
	}
	return out.Flush()
}

func (r *Report) printEnvelope(out io.Writer, st results.Style) {
	if len(r.Envelope) == 0 {
		return
	}
	fmt.Fprintln(out, "\n"+st.Head("operating envelope: one input moves, the verdict at each value")+"\n")
	fmt.Fprintf(out, "%-12s %-24s %-13s %18s %18s\n", "", "value", "verdict", "p99 gain, %", "capacity gain, %")
	for _, a := range r.Envelope {
		name := a.Name
		for _, p := range a.Points {
			value, verdict := p.Value, string(p.Verdict)
			if p.Base {
				value += " *"
			}
			if p.Verdict == "" {
				verdict = "none"
			}
			fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%-12s %-24s %-13s %18s %18s", name, value, verdict, percent(p.P99), percent(p.Capacity)), " "))
			name = ""
		}
	}
	fmt.Fprintln(out, "\n*: as judged")
	for _, a := range r.Envelope {
		label := a.Name + ": "
		fmt.Fprintln(out, label+results.Wrap(a.Holds, len(label), "  "))
		for _, text := range a.Notes() {
			fmt.Fprintln(out, "  "+results.Wrap(text, 2, "    "))
		}
	}
	fmt.Fprintln(out)
}

// short cuts a label to its column.
func short(label string) string {
	if r := []rune(label); len(r) > 10 {
		return string(r[:9]) + "…"
	}
	return label
}
