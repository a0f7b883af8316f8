package calib

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// PrintFits writes fits for a reader.
func PrintFits(w io.Writer, fits []*Fit) error {
	p := &fitPrinter{w: w}
	for i, f := range fits {
		if i > 0 {
			p.line("")
		}
		p.fit(f)
	}
	return p.err
}

// FitsJSON writes fits as one JSON document.
func FitsJSON(w io.Writer, fits []*Fit) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"fits": fits})
}

// fitPrinter keeps the first error.
type fitPrinter struct {
	w   io.Writer
	err error
}

func (p *fitPrinter) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// table writes rows of cells separated by tabs, numbers to the right.
func (p *fitPrinter) table(rows []string) {
	t := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, r := range rows {
		fmt.Fprintln(t, r+"\t")
	}
	if err := t.Flush(); p.err == nil {
		p.err = err
	}
}

func (p *fitPrinter) fit(f *Fit) {
	how := "regression of mean steps"
	switch {
	case f.Refined:
		how = "refined by simulating the bench"
	case f.Steps > 0:
		how = "regression of single steps"
	}
	p.line("%s: %s, %s costs, %s", f.Setup, f.counted(), f.Form, how)
	p.line("")
	p.coefficients(f)
	blocks, origin, source := f.blocks()
	p.line("  kv_blocks %d (%s: %s)", blocks, origin, source)
	if f.PeakPrefillMS > 0 {
		p.line("  hardware's peak: %.4g ms a prompt token (%s)", f.PeakPrefillMS, f.PeakSource)
	}
	p.line("")
	p.line("  %s", f.errorsText())
	if f.Steps == 0 {
		p.shapes(f)
		p.rows(f)
	}
	for _, n := range f.Notes {
		p.line("  note: %s", n)
	}
	for _, n := range f.Warnings {
		p.line("  warning: %s", n)
	}
}

func (p *fitPrinter) coefficients(f *Fit) {
	rows := []string{"\tvalue\t99 % interval"}
	all := f.Coefficients
	if f.Refined {
		all = append(all[:len(all):len(all)], f.Overhead)
	}
	for _, c := range all {
		between := fmt.Sprintf("%.4g to %.4g", c.Lo, c.Hi)
		if c.Untold != "" {
			between = c.Untold
		}
		rows = append(rows, fmt.Sprintf("%s\t%.5g\t%s", c.Name, c.Value, between))
	}
	p.table(rows)
}

// shapes prints the errors of shapes that the fit did not see.
func (p *fitPrinter) shapes(f *Fit) {
	if len(f.Shapes) == 0 {
		return
	}
	p.line("  errors on each shape by a fit to the others:")
	rows := []string{"input\toutput\truns\tTPOT %\tTTFT %\toutput/s %"}
	add := func(shape string, e Errors) {
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t%s", shape, percentOf(e.TPOT), percentOf(e.TTFT), percentOf(e.OutputTokensPer)))
	}
	for _, s := range f.Shapes {
		add(fmt.Sprintf("%d\t%d\t%d", s.Input, s.Output, s.Rows), s.Error)
	}
	add("all\t\t", f.HeldOut)
	p.table(rows)
}

func (p *fitPrinter) rows(f *Fit) {
	p.line("  measured and fitted, in ms:")
	rows := []string{"line\tinput\toutput\tclients\tTPOT\tfit\terr %\tTTFT\tfit\terr %\t"}
	for _, e := range f.Rows {
		var marks []string
		if e.Measured.KVBound {
			marks = append(marks, "KV-bound")
		}
		if e.Odd {
			marks = append(marks, "left out")
		}
		err := e.Fit.against(e.Measured)
		rows = append(rows, fmt.Sprintf("%d\t%.0f\t%.0f\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s", e.Line, e.Row.Input.Max, e.Row.Output.Max, e.Row.Concurrency,
			figure(1e3*e.Measured.TPOT), figure(1e3*e.Fit.TPOT), signed(err.TPOT), figure(1e3*e.Measured.TTFT), figure(1e3*e.Fit.TTFT), signed(err.TTFT),
			strings.Join(marks, ", ")))
	}
	p.table(rows)
}
