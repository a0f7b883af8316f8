package calib

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"cacheroute/results"
)

//go:embed validate.html
var validateHTML string

var validateTemplate = template.Must(template.New("validate.html").Funcs(template.FuncMap{"percent": percentOf}).Parse(validateHTML))

// validatePage is what the template shows.
type validatePage struct {
	*Validation
	results.PlainPage
	Counted string
	Sums    []namedErrors
	Worst   []string
	Odd     []string
	Plots   []plot
	Shapes  []plotShape
	Columns [3]string
	Lines   []pageLine
}

// pageLine is a row of the table of runs.
type pageLine struct {
	Line, Concurrency int
	Input, Output     string
	Figures           []pageFigure
	Remark            string
}

type pageFigure struct{ Measured, Simulated, Error string }

// WritePage writes the validation as a page: one file without scripts and
// without any request to a network. Equal validations give equal bytes.
func (v *Validation) WritePage(path string) error {
	return results.WriteFileAtomic(path, v.writePage)
}

func (v *Validation) writePage(w io.Writer) error {
	plain, err := results.NewPlainPage("")
	if err != nil {
		return err
	}
	p := &validatePage{
		Validation: v, PlainPage: plain, Counted: v.counted(), Sums: v.sums(), Worst: v.worstRuns(), Odd: v.oddRuns(),
		Plots: v.plots(), Shapes: v.plotShapes(), Columns: figureNames,
	}
	for _, c := range v.Rows {
		line := pageLine{
			Line: c.Line, Concurrency: c.Concurrency, Input: fmt.Sprintf("%.0f", c.Input), Output: fmt.Sprintf("%.0f", c.Output),
			Remark: c.pageRemark(),
		}
		for _, x := range c.compared() {
			line.Figures = append(line.Figures, pageFigure{figure(x.measured), figure(x.simulated), signed(x.err)})
		}
		p.Lines = append(p.Lines, line)
	}
	return validateTemplate.Execute(w, p)
}

// pageRemark also says whether the KV cache limits the run.
func (c Check) pageRemark() string {
	switch m, s := c.Measured.KVBound, c.Simulated.KVBound; {
	case c.remark() != "":
		return c.remark()
	case m && s:
		return "KV-bound"
	case m:
		return "KV-bound as measured only"
	case s:
		return "KV-bound as simulated only"
	}
	return ""
}
