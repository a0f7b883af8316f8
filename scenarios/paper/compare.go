package paper

import "fmt"

// table compares one table.
func (b *bench) table(t *table) (Table, error) {
	out := Table{Table: t.Table, Title: t.Title, Place: t.Place, Counts: !t.Again}
	for _, c := range t.Columns {
		out.Columns = append(out.Columns, c.Name)
	}
	groups := map[string][]*judged{}
	var pending []func()
	for _, r := range t.Rows {
		row := Row{Name: r.Name, Cells: make([]Cell, len(t.Columns))}
		for i, c := range t.Columns {
			cell, at := &row.Cells[i], r.source.or(c.source).or(t.source)
			fill(&at.Load, commonLoad)
			cell.Kind, cell.Study, cell.Policy, cell.Fitted = at.Kind, at.Study, at.Policy, t.Fitted
			paper, printed, err := parseNumber(r.Paper[i], at.Kind)
			if err != nil {
				return out, fmt.Errorf("tables.yaml: table %s, row %s: %w", t.Table, r.Name, err)
			}
			simulated, reason := b.measure(at)
			if reason == "" {
				cell.Simulated = &simulated
			}
			if !printed {
				continue
			}
			cell.Paper = &paper
			if reason != "" {
				cell.Verdict, cell.Reason = NotRun, reason
				continue
			}
			rival, group := r.Name, c.Name
			switch t.Rivals {
			case "row":
				rival, group = c.Name, fmt.Sprintf("%s %s %v", r.Name, at.Kind, at.SLO)
			case "none":
				group = r.Name + " " + c.Name
			}
			j := &judged{kind: at.Kind, ladder: b.ladder(at.Study), paper: paper, simulated: simulated, name: rival}
			groups[group] = append(groups[group], j)
			pending = append(pending, func() { cell.Verdict = j.verdict(groups[group], t.Reference) })
		}
		out.Rows = append(out.Rows, row)
	}
	for _, judge := range pending {
		judge()
	}
	return out, nil
}
