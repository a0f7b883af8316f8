package paper

import (
	_ "embed"
	"html/template"
	"io"

	"cacheroute/results"
)

//go:embed paper.html
var pageText string

//go:embed paper.css
var pageCSS string

var pageTemplate = template.Must(template.New("paper.html").Funcs(template.FuncMap{
	"mark":  func(v Verdict) string { return marks[v] },
	"class": func(v Verdict) string { return map[Verdict]string{ByValue: "good", Miss: "bad", NotRun: "none"}[v] },
	"count": orDash,
	"text":  (*Number).text,
}).Parse(pageText))

// htmlPage is what the template shows.
type htmlPage struct {
	*Report
	results.PlainPage
	Version  string
	Legend   string
	Verdicts []Verdict
	Figure   []bars
}

// WritePage writes the report as one page without scripts and without any
// request to a network.
func (r *Report) WritePage(path, version string) error {
	plain, err := results.NewPlainPage(pageCSS)
	if err != nil {
		return err
	}
	p := htmlPage{r, plain, version, legend, Verdicts, r.figure()}
	return results.WriteFileAtomic(path, func(w io.Writer) error { return pageTemplate.Execute(w, &p) })
}

// bars are one half of Figure 2: a pair of bars a policy.
type bars struct {
	Title string
	Rows  []bar
	Limit float64 // where the objective lies, 0: none
}

// bar is the paper's number and the simulated one, as widths in figureWidth.
type bar struct {
	Name, PaperText, SimulatedText string
	Y                              int
	Paper, Simulated               float64
}

const (
	figureWidth = 300.0
	barHeight   = 34
)

// figure is Figure 2, nothing if its table was not asked for.
func (r *Report) figure() (all []bars) {
	for i := range r.Tables {
		t := &r.Tables[i]
		if t.Table != "F2" {
			continue
		}
		for c, title := range t.Columns {
			all = append(all, t.bars(c, title))
		}
	}
	return all
}

func (t *Table) bars(column int, title string) bars {
	b := bars{Title: title}
	most := 0.0
	each := func(f func(i int, name string, c *Cell)) {
		for i, row := range t.Rows {
			if c := &row.Cells[column]; c.Paper != nil && c.Simulated != nil && c.Simulated.Mean.Finite() {
				f(i, row.Name, c)
			}
		}
	}
	each(func(_ int, _ string, c *Cell) { most = max(most, float64(c.Paper.Mean), float64(c.Simulated.Mean)) })
	each(func(i int, name string, c *Cell) {
		scale := figureWidth / most
		b.Rows = append(b.Rows, bar{name, c.Paper.Text, c.Simulated.Text, i * barHeight, float64(c.Paper.Mean) * scale, float64(c.Simulated.Mean) * scale})
	})
	if t.Rows[0].Cells[column].Kind == "p99" {
		b.Limit = primarySLO * figureWidth / most
	}
	return b
}
