package results

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// FleetSizes is how few destinations take a load within each objective, by
// policy.
type FleetSizes struct {
	Study             string        `json:"study"`
	LoadQPS           float64       `json:"load_qps"`
	From              int           `json:"from"` // the smallest fleet of the search
	To                int           `json:"to"`
	Sizes             []FleetRow    `json:"sizes"` // by policy, objective
	Courses           []FleetCourse `json:"courses"`
	SimulatedRequests int64         `json:"simulated_requests"`
	WallS             float64       `json:"wall_s"` // filled in by the caller, as is CPUS
	CPUS              float64       `json:"cpu_s"`
}

// FleetRow is the size of one policy under one objective over the seeds. A seed
// is censored on the left if the smallest fleet passes, which is its size then,
// on the right if the largest fails: then its size is a lower bound.
type FleetRow struct {
	Policy         string     `json:"policy"`
	SLO            float64    `json:"slo_ttft_p99_s"`
	MaxFailureRate float64    `json:"max_failure_rate"`
	Destinations   Interval   `json:"destinations"`
	Censor         Censor     `json:"censor"`
	PerSeed        []SeedSize `json:"per_seed"`
	Warnings       []string   `json:"warnings"`
}

// SeedSize is the size that one seed found.
type SeedSize struct {
	Seed         uint64 `json:"seed"`
	Destinations int    `json:"destinations"`
	Censor       Censor `json:"censor"`
}

// FleetCourse is what was tried for one policy with one seed, by rising size.
type FleetCourse struct {
	Policy string       `json:"policy"`
	Seed   uint64       `json:"seed"`
	Tried  []FleetTried `json:"tried"`
}

// FleetTried is one run on a fleet of some size.
type FleetTried struct {
	Destinations int  `json:"destinations"`
	Cell         Cell `json:"cell"`
}

// size is the smallest of the tried fleets that passes, and a larger one that
// fails, 0 if there is none.
func (c *FleetCourse) size(slo, maxFailure float64, largest int) (s SeedSize, failsAbove int) {
	s = SeedSize{c.Seed, largest, CensorRight}
	for i, t := range slices.Backward(c.Tried) {
		if !t.Cell.Passes(slo, maxFailure) {
			failsAbove = max(failsAbove, t.Destinations)
			continue
		}
		s.Destinations, s.Censor = t.Destinations, CensorNone
		if i == 0 {
			s.Censor = CensorLeft
		}
	}
	if failsAbove < s.Destinations || s.Censor == CensorRight {
		failsAbove = 0
	}
	return s, failsAbove
}

// Summarise works out the sizes from the courses, which are by policy, then seed.
func (f *FleetSizes) Summarise(slos []float64, maxFailure float64) {
	f.Sizes = []FleetRow{}
	for rest := f.Courses; len(rest) > 0; {
		n := 0
		for n < len(rest) && rest[n].Policy == rest[0].Policy {
			for _, t := range rest[n].Tried {
				f.SimulatedRequests += t.Cell.RunRequests
			}
			n++
		}
		for _, slo := range slos {
			f.Sizes = append(f.Sizes, f.row(rest[:n], slo, maxFailure))
		}
		rest = rest[n:]
	}
}

func (f *FleetSizes) row(seeds []FleetCourse, slo, maxFailure float64) FleetRow {
	row := FleetRow{Policy: seeds[0].Policy, SLO: slo, MaxFailureRate: maxFailure, Warnings: []string{}}
	var sizes []float64
	var censors []Censor
	for i := range seeds {
		s, above := seeds[i].size(slo, maxFailure, f.To)
		if above > 0 {
			row.Warnings = append(row.Warnings, fmt.Sprintf("seed %d passes on %d destinations but fails on %d: near the knee more is not always better", s.Seed, s.Destinations, above))
		}
		row.PerSeed, sizes, censors = append(row.PerSeed, s), append(sizes, float64(s.Destinations)), append(censors, s.Censor)
	}
	row.Destinations, row.Censor = NewInterval(sizes), mergeCensors(censors)
	if len(seeds) == 1 {
		row.Warnings = append(row.Warnings, "one seed: no interval")
	}
	return row
}

// text is a size such as "14.2 ± 0.6", "<=4" or ">128".
func (r *FleetRow) text() string {
	mean := short(float64(r.Destinations.Mean))
	left := slices.ContainsFunc(r.PerSeed, func(s SeedSize) bool { return s.Censor == CensorLeft })
	right := slices.ContainsFunc(r.PerSeed, func(s SeedSize) bool { return s.Censor == CensorRight })
	switch {
	case r.Censor == CensorRight:
		return ">" + mean
	case left && right:
		return "~" + mean
	case left:
		return "<=" + mean
	case right:
		return ">=" + mean
	}
	if half := r.Destinations.HalfWidth(); half.Finite() && half > 0 {
		return mean + " ± " + short(float64(half))
	}
	return mean
}

// bySeed says how many destinations are enough for how many seeds.
func (r *FleetRow) bySeed() string {
	var sizes []int
	for _, s := range r.PerSeed {
		if s.Censor != CensorRight {
			sizes = append(sizes, s.Destinations)
		}
	}
	slices.Sort(sizes)
	every := fmt.Sprintf("all %d", len(r.PerSeed))
	if len(r.PerSeed) == 2 {
		every = "both"
	}
	switch n := len(sizes); {
	case n == 0:
		return "none is enough"
	case len(r.PerSeed) == 1:
		return fmt.Sprintf("%d (one seed)", sizes[0])
	case n < len(r.PerSeed):
		return fmt.Sprintf("%d are enough in %d of %d seeds", sizes[n-1], n, len(r.PerSeed))
	case sizes[0] == sizes[n-1]:
		return fmt.Sprintf("%d in %s seeds", sizes[0], every)
	default:
		return fmt.Sprintf("%d in %s seeds, %d in the best", sizes[n-1], every, sizes[0])
	}
}

// JSON writes all as one document.
func (f *FleetSizes) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(f)
}

// PrintFleetSizes prints the sizes, a table for each objective.
func PrintFleetSizes(w io.Writer, f *FleetSizes, st Style) error {
	b := bufio.NewWriter(w)
	text := fmt.Sprintf("%s: destinations for %s QPS, the fewest of %d to %d with p99 TTFT within the objective and at most %s %% failed, mean ± 95 %% interval over %s",
		f.Study, Shortly(f.LoadQPS), f.From, f.To, short(100*f.Sizes[0].MaxFailureRate), plural(len(f.Sizes[0].PerSeed), "seed"))
	for line := range strings.Lines(wrap(text, lineWidth, "")) {
		fmt.Fprintln(b, st.paint(bold, strings.TrimSuffix(line, "\n")))
	}
	name := width("policy")
	for i := range f.Sizes {
		name = max(name, width(f.Sizes[i].Policy))
	}
	slo := 0.0
	var texts []string
	for _, r := range f.bySLO() {
		if r.SLO != slo {
			slo = r.SLO
			fmt.Fprintf(b, "\n%s\n", st.paint(bold, padRight("policy", name)+pad("p99 <= "+Shortly(slo)+" s", kneeWidth)+"   enough are"))
		}
		texts = append(texts, r.text())
		fmt.Fprintf(b, "%s%s   %s\n", padRight(r.Policy, name), pad(r.text(), kneeWidth), r.bySeed())
	}
	if marks := sizeMarks(texts); len(marks) > 0 {
		fmt.Fprintf(b, "\n%s\n", st.paint(dim, wrap(strings.Join(marks, "; "), lineWidth, "")))
	}
	f.notes(b)
	return b.Flush()
}

// sizeMarks explains the marks that occur.
func sizeMarks(texts []string) (marks []string) {
	for _, m := range []struct{ sign, text string }{
		{"<=", "<=: the smallest fleet passes, at some seeds at least"},
		{">", ">: the largest fails"},
		{">=", ">=: the largest fails at some seeds"},
		{"~", "~: some seeds do either"},
	} {
		if slices.ContainsFunc(texts, func(t string) bool { return strings.TrimRight(t, "0123456789.e+-") == m.sign }) {
			marks = append(marks, m.text)
		}
	}
	return marks
}

// bySLO are the rows by objective, then policy.
func (f *FleetSizes) bySLO() []FleetRow {
	rows := slices.Clone(f.Sizes)
	var order []float64
	for _, r := range rows {
		if !slices.Contains(order, r.SLO) {
			order = append(order, r.SLO)
		}
	}
	slices.SortStableFunc(rows, func(a, b FleetRow) int { return slices.Index(order, a.SLO) - slices.Index(order, b.SLO) })
	return rows
}

// notes prints the doubts in the sizes and in the runs that they come from.
func (f *FleetSizes) notes(w io.Writer) {
	b := newNotebook()
	for _, r := range f.Sizes {
		for _, text := range r.Warnings {
			b.add(fmt.Sprintf("%s, p99 <= %s s", r.Policy, Shortly(r.SLO)), text)
		}
	}
	for _, c := range f.Courses {
		for _, t := range c.Tried {
			for _, text := range t.Cell.Warnings {
				b.add(fmt.Sprintf("%s, %s, seed %d", c.Policy, plural(t.Destinations, "destination"), c.Seed), text)
			}
		}
	}
	if len(b.notes) > 0 {
		fmt.Fprintln(w)
	}
	for _, n := range b.notes {
		fmt.Fprintln(w, wrap("note: "+n.String(), lineWidth, "      "))
	}
}
