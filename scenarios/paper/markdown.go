package paper

import (
	"fmt"
	"strings"
)

// Markdown are the generated parts of docs/paper.md by name.
func (r *Report) Markdown() map[string]string {
	return map[string]string{"counts": r.countsMarkdown(), "tables": r.tablesMarkdown(), "claims": r.claimsMarkdown(), "studies": r.studiesMarkdown()}
}

// rowMarkdown is a row of a table. A bar in a text would end its cell.
func rowMarkdown(cells ...string) string {
	for i := range cells {
		cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// headMarkdown is the head of a table whose first columns are text and whose
// others are numbers.
func headMarkdown(texts int, names ...string) string {
	line := "|"
	for i := range names {
		line += map[bool]string{true: "---|", false: "--:|"}[i < texts]
	}
	return rowMarkdown(names...) + line + "\n"
}

func (r *Report) countsMarkdown() string {
	names := []string{""}
	for _, of := range []string{"fitted: ", "predicted: "} {
		for i, v := range Verdicts {
			if i > 0 {
				of = ""
			}
			names = append(names, of+string(v))
		}
	}
	var b strings.Builder
	b.WriteString(headMarkdown(1, names...))
	for _, c := range r.Counts {
		cells := []string{c.Label()}
		for _, n := range []map[Verdict]int{c.Fitted, c.Predicted} {
			for _, v := range Verdicts {
				cells = append(cells, orDash(n[v]))
			}
		}
		b.WriteString(rowMarkdown(cells...))
	}
	return b.String()
}

func (r *Report) tablesMarkdown() string {
	var b strings.Builder
	for i := range r.Tables {
		t := &r.Tables[i]
		fmt.Fprintf(&b, "\n### %s: %s\n\n%s; studies %s.\n\n", t.Label(), t.Title, t.Place, t.studies())
		names := []string{""}
		for _, c := range t.Columns {
			names = append(names, c, "simulated")
		}
		b.WriteString(headMarkdown(1, names...))
		for _, row := range t.Rows {
			cells := []string{row.Name}
			for j := range row.Cells {
				paper, simulated := row.Cells[j].texts()
				cells = append(cells, paper, strings.TrimSpace(simulated+" "+marks[row.Cells[j].Verdict]))
			}
			b.WriteString(rowMarkdown(cells...))
		}
		for _, reason := range t.Reasons() {
			fmt.Fprintf(&b, "\nNot run: %s.\n", reason)
		}
	}
	return b.String()
}

func (r *Report) claimsMarkdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Claims: %s.\n\n", outcomes(r.Claims))
	b.WriteString(headMarkdown(4, "the paper says", "where", "here", "evidence"))
	for _, c := range r.Claims {
		outcome := c.Outcome
		if outcome == DoesNot {
			outcome = "**" + outcome + "**"
		}
		b.WriteString(rowMarkdown(c.Text, c.Place+ifFitted(c.Fitted), outcome, c.Evidence))
	}
	return b.String()
}

func (r *Report) studiesMarkdown() string {
	var b strings.Builder
	b.WriteString(headMarkdown(3, "study", "assumed", "changes of `table-1`", "cells"))
	for _, s := range r.Studies {
		changes := "-"
		if len(s.Changes) > 0 {
			changes = "`" + strings.Join(s.Changes, "`, `") + "`"
		}
		about := s.About
		if s.Reason != "" {
			about += "; **not run**"
		}
		b.WriteString(rowMarkdown("`"+s.Name+"`", strings.TrimPrefix(about, "; "), changes, orDash(s.Cells)))
	}
	return b.String()
}
