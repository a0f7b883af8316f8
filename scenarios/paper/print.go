package paper

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"cacheroute/results"
)

// marks are how a verdict is shown beside a number.
var marks = map[Verdict]string{ByValue: "=", ByRatio: "~", ByOrder: ">", Miss: "x", NotRun: "."}

// legend explains the marks.
const legend = "= value: within tolerance or the paper's interval; ~ ratio to the reference within 25 %; > order: its place among its rivals; x miss; . not run"

// texts are the two numbers of a cell as they are printed.
func (c *Cell) texts() (paper, simulated string) { return c.Paper.text(), c.Simulated.text() }

func (n *Number) text() string {
	if n == nil {
		return "-"
	}
	return n.Text
}

// JSON writes the report as one document.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// Print prints tables, claims and counts for a terminal.
func (r *Report) Print(w io.Writer, st results.Style) error {
	p := printer{st, bufio.NewWriter(w)}
	fmt.Fprintln(p.w, results.Wrap("In each column the paper's number, then the simulated one with its 95 % interval over the seeds. "+legend, 0, ""))
	for i := range r.Tables {
		p.table(&r.Tables[i])
	}
	p.claims(r.Claims)
	p.counts(r.Counts)
	return p.w.Flush()
}

type printer struct {
	results.Style
	w *bufio.Writer
}

func (p *printer) heading(text string) {
	fmt.Fprintln(p.w)
	fmt.Fprintln(p.w, p.Head(results.Wrap(text, 0, "  ")))
}

const (
	printWidth = 100
	gap        = "   " // before a column
)

// table prints as many columns side by side as a line holds.
func (p *printer) table(t *Table) {
	p.heading(t.heading())
	names := 0
	for _, r := range t.Rows {
		names = max(names, utf8.RuneCountInString(r.Name))
	}
	for from := 0; from < len(t.Columns); {
		to, used := from, names
		for to < len(t.Columns) && (to == from || used+t.width(to) <= printWidth) {
			used += t.width(to)
			to++
		}
		p.columns(t, names, from, to)
		from = to
	}
	for _, reason := range t.Reasons() {
		fmt.Fprintln(p.w, p.Faint(results.Wrap("not run: "+reason, 0, "  ")))
	}
}

// Reasons are why some cells were not run, each once.
func (t Table) Reasons() (all []string) {
	for _, row := range t.Rows {
		for _, c := range row.Cells {
			if c.Reason != "" && !slices.Contains(all, c.Reason) {
				all = append(all, c.Reason)
			}
		}
	}
	return all
}

// studies are those behind the table, each once.
func (t *Table) studies() string {
	var all []string
	for _, row := range t.Rows {
		for _, c := range row.Cells {
			if !slices.Contains(all, "`"+c.Study+"`") {
				all = append(all, "`"+c.Study+"`")
			}
		}
	}
	return strings.Join(all, ", ")
}

// heading names a table and its place in the paper.
func (t *Table) heading() string { return fmt.Sprintf("%s: %s (%s)", t.Label(), t.Title, t.Place) }

// Label is how the table is called.
func (t Table) Label() string { return label(t.Table) }

// Label is how the table of a count is called.
func (c Count) Label() string { return label(c.Table) }

// label is how a table is called.
func label(table string) string {
	switch table {
	case "F2":
		return "Figure 2"
	case "text":
		return "Text"
	case allTables:
		return "All"
	}
	return "Table " + table
}

// width is that of a column with the gap before it.
func (t *Table) width(column int) int {
	paper, simulated := t.widths(column)
	return len(gap) + max(utf8.RuneCountInString(t.Columns[column]), paper+1+simulated+2)
}

func (t *Table) widths(column int) (paper, simulated int) {
	for _, r := range t.Rows {
		a, b := r.Cells[column].texts()
		paper, simulated = max(paper, utf8.RuneCountInString(a)), max(simulated, utf8.RuneCountInString(b))
	}
	return paper, simulated
}

func (p *printer) columns(t *Table, names, from, to int) {
	line := fmt.Sprintf("%-*s", names, "")
	for c := from; c < to; c++ {
		line += fmt.Sprintf("%*s", t.width(c), t.Columns[c])
	}
	fmt.Fprintln(p.w, p.Head(line))
	for _, r := range t.Rows {
		line := fmt.Sprintf("%-*s", names, r.Name)
		for c := from; c < to; c++ {
			_, width := t.widths(c)
			paper, simulated := r.Cells[c].texts()
			mark := marks[r.Cells[c].Verdict]
			text := fmt.Sprintf("%*s %1s", width, simulated, mark)
			line += fmt.Sprintf("%*s %s", t.width(c)-width-3, paper, p.painted(r.Cells[c].Verdict, text))
		}
		fmt.Fprintln(p.w, strings.TrimRight(line, " "))
	}
}

func (p *printer) painted(v Verdict, text string) string {
	switch v {
	case ByValue:
		return p.Good(text)
	case Miss:
		return p.Bad(text)
	case NotRun, "":
		return p.Faint(text)
	}
	return text
}

const claimIndent = "               "

func (p *printer) claims(claims []Claim) {
	if len(claims) == 0 {
		return
	}
	p.heading("What the text claims: " + outcomes(claims))
	for _, c := range claims {
		outcome := fmt.Sprintf("%-13s", c.Outcome)
		switch c.Outcome {
		case Holds:
			outcome = p.Good(outcome)
		case DoesNot:
			outcome = p.Bad(outcome)
		}
		fmt.Fprintf(p.w, "%s  %s\n", outcome, results.Wrap(fmt.Sprintf("%s (%s%s)", c.Text, c.Place, ifFitted(c.Fitted)), len(claimIndent), claimIndent))
		fmt.Fprintln(p.w, p.Faint(claimIndent+results.Wrap(c.Evidence, len(claimIndent), claimIndent)))
	}
}

// outcomes counts the claims, fitted and predicted apart.
func outcomes(claims []Claim) string {
	var parts []string
	for _, fitted := range []bool{true, false} {
		n := map[string]int{}
		for _, c := range claims {
			if c.Fitted == fitted {
				n[c.Outcome]++
			}
		}
		text := fmt.Sprintf("%d hold, %d do not, %d cut off, %d not run", n[Holds], n[DoesNot], n[CutOff], n[string(NotRun)])
		parts = append(parts, map[bool]string{true: "fitted ", false: "predicted "}[fitted]+text)
	}
	return strings.Join(parts, "; ")
}

func ifFitted(fitted bool) string {
	if fitted {
		return ", fitted"
	}
	return ""
}

func (p *printer) counts(counts []Count) {
	p.heading("Cells by verdict: fitted are those that the fit of the harness has seen, all others are predicted")
	line := fmt.Sprintf("%-10s", "")
	for _, kind := range []string{"fitted", "predicted"} {
		line += fmt.Sprintf("%12s", kind+":")
		for _, v := range Verdicts {
			line += fmt.Sprintf(" %7s", v)
		}
	}
	fmt.Fprintln(p.w, p.Head(line))
	for _, c := range counts {
		line := fmt.Sprintf("%-10s", c.Label())
		for _, n := range []map[Verdict]int{c.Fitted, c.Predicted} {
			line += strings.Repeat(" ", 12)
			for _, v := range Verdicts {
				line += fmt.Sprintf(" %7s", orDash(n[v]))
			}
		}
		fmt.Fprintln(p.w, line)
	}
}

func orDash(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}
