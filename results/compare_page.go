package results

import (
	"html/template"
	"io"
	"strings"
)

var compareTemplate = template.Must(template.New("compare.html").ParseFS(assets, "report/compare.html"))

// comparePage is what the template shows.
type comparePage struct {
	*Comparison
	PlainPage
	Sides      []namedSide
	Columns    []string
	Tables     []compareTable
	Capacities []compareCapacityLine
	Chance     string
	Near       bool // some capacities have no interval, as the loads are too far apart
	Infinite   string
}

type namedSide struct {
	Name string
	Side
}

// compareTable is the rows of a pair of policies.
type compareTable struct {
	Title, Seeds string
	Rows         []compareLine
}

type compareLine struct {
	Load    string
	Figures []comparedFigure
}

// comparedFigure is three cells of a row.
type comparedFigure struct {
	A, B string
	Diff pageChange
}

type pageChange struct {
	Text  string
	Clear bool
}

type compareCapacityLine struct {
	Policy, SLO, A, B string
	Diff              pageChange
	Ratio             string
}

// WritePage writes the comparison as a page of tables: one file without scripts
// and without any request to a network.
func (c *Comparison) WritePage(path string) error {
	plain, err := NewPlainPage("")
	if err != nil {
		return err
	}
	p := &comparePage{Comparison: c, PlainPage: plain, Chance: c.chance(), Infinite: c.infinite(), Sides: []namedSide{{"A", c.A}, {"B", c.B}}}
	for _, column := range columns {
		p.Columns = append(p.Columns, column.title)
	}
	for _, rows := range c.groups() {
		p.Tables = append(p.Tables, newCompareTable(rows))
	}
	for i := range c.Capacity {
		k := &c.Capacity[i]
		p.Near = p.Near || k.narrow()
		p.Capacities = append(p.Capacities, compareCapacityLine{
			Policy: pairName(k.PolicyA, k.PolicyB), SLO: Shortly(k.SLO),
			A: signs(c.knee(k.A, k.CensorA, k.rungsA)), B: signs(c.knee(k.B, k.CensorB, k.rungsB)),
			Diff: pageChange{typeset(k.text()), k.clear()}, Ratio: k.ratio(),
		})
	}
	return WriteFileAtomic(path, func(w io.Writer) error { return compareTemplate.Execute(w, p) })
}

func newCompareTable(rows []ComparedRow) compareTable {
	t := compareTable{Title: rows[0].title(), Seeds: rows[0].seeds()}
	for i := range rows {
		line := compareLine{Load: Shortly(rows[i].LoadQPS)}
		for _, column := range columns {
			c := column.change(&rows[i])
			show := func(f Float) string { return typeset(figure(column.scale*float64(f), column.digits)) }
			line.Figures = append(line.Figures, comparedFigure{show(c.A), show(c.B), pageChange{typeset(diffText(*c, column.scale, column.digits)), c.Clear()}})
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// typeset turns the signs of a terminal into those of a page.
func typeset(text string) string {
	return strings.NewReplacer("-", "−", ">=", "≥", "<=", "≤", "±", " ± ", " ± ", " ± ").Replace(strings.TrimSpace(text))
}
