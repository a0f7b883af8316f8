package calib

import (
	"fmt"
	"math"
	"slices"
)

// figureNames head the compared figures of a run.
var figureNames = [3]string{"TTFT mean, ms", "TPOT mean, ms", "output tokens/s"}

// Size of a picture and of its margins, in the units of its view box.
const (
	plotWidth, plotHeight = 320.0, 230.0
	plotLeft, plotRight   = 52.0, 12.0
	plotTop, plotBottom   = 26.0, 26.0
	plotMark              = 3.5 // radius of a mark
)

// plot is the deviations of one figure by its measured value.
type plot struct {
	Title         string
	Width, Height float64
	Left          float64
	Lines         []plotLine
	Points        []plotPoint

	from, to float64 // measured, at the left and the right edge
	bound    float64 // deviation at the top edge
}

// plotLine is a line of the grid with its label.
type plotLine struct {
	Path   string
	Strong bool
	Text   plotText
}

type plotText struct{ X, Y, Anchor, Text string }

// plotPoint is a run.
type plotPoint struct {
	Path, Title string
	Color       int // of its shape
	Hollow      bool
}

// plotShape is an entry of the legend.
type plotShape struct {
	Name  string
	Color int
}

// colors is how many colours the style of the report has.
const colors = 10

// plots draws a picture for each figure that runs have.
func (v *Validation) plots() []plot {
	var all []plot
	for i, name := range figureNames {
		p := plot{Title: name, Width: plotWidth, Height: plotHeight, Left: plotLeft}
		if !p.scale(v.Rows, i) {
			continue
		}
		p.grid()
		shapes := v.shapes()
		for _, c := range v.Rows {
			if p.drawable(c.compared()[i]) {
				p.point(c, c.compared()[i], slices.Index(shapes, c.row.Shape()))
			}
		}
		all = append(all, p)
	}
	return all
}

func (*plot) drawable(x compared) bool {
	return x.measured.Finite() && x.measured > 0 && x.err.Finite()
}

// scale fits the axes to the runs; the deviations of runs that are not steady do
// not stretch theirs. False if no run has the figure.
func (p *plot) scale(rows []Check, figure int) bool {
	p.from, p.to = math.Inf(1), 0
	most := 0.0
	for _, c := range rows {
		x := c.compared()[figure]
		if !p.drawable(x) {
			continue
		}
		p.from, p.to = math.Min(p.from, float64(x.measured)), math.Max(p.to, float64(x.measured))
		if c.steady() {
			most = math.Max(most, math.Abs(float64(x.err)))
		}
	}
	p.from, p.to = p.from/1.15, p.to*1.15
	p.bound = 1
	for _, b := range []float64{0.5, 0.2, 0.1, 0.05, 0.02} {
		if most <= b {
			p.bound = b
		}
	}
	return p.to > 0
}

func (p *plot) x(measured float64) float64 {
	return plotLeft + (plotWidth-plotLeft-plotRight)*math.Log(measured/p.from)/math.Log(p.to/p.from)
}

func (p *plot) y(deviation float64) float64 {
	return plotTop + (plotHeight-plotTop-plotBottom)*(p.bound-deviation)/(2*p.bound)
}

// grid draws the deviations 0, half the bound and the bound, and round measured
// values.
func (p *plot) grid() {
	for k := -2; k <= 2; k++ {
		d := p.bound * float64(k) / 2
		y, label := p.y(d), "0"
		if k != 0 {
			label = fmt.Sprintf("%+.3g %%", 100*d)
		}
		p.Lines = append(p.Lines, plotLine{
			Path: fmt.Sprintf("M%.1f %.1fH%.1f", plotLeft, y, plotWidth-plotRight), Strong: k == 0,
			Text: plotText{fmt.Sprintf("%.1f", plotLeft-6), fmt.Sprintf("%.1f", y+4), "end", label},
		})
	}
	for _, value := range p.ticks() {
		x := p.x(value)
		p.Lines = append(p.Lines, plotLine{
			Path: fmt.Sprintf("M%.1f %.1fV%.1f", x, plotTop, plotHeight-plotBottom),
			Text: plotText{fmt.Sprintf("%.1f", x), fmt.Sprintf("%.1f", plotHeight-plotBottom+16), "middle", fmt.Sprintf("%.12g", value)},
		})
	}
}

// ticks are round measured values that leave room for their labels, or one near
// the middle if there is none.
func (p *plot) ticks() (all []float64) {
	const apart = 40
	last := math.Inf(-1)
	for e := math.Floor(math.Log10(p.from)); e <= math.Log10(p.to); e++ {
		for _, m := range []float64{1, 2, 5} {
			value := m * math.Pow(10, e)
			if x := p.x(value); value >= p.from && value <= p.to && x-last >= apart {
				last = x
				all = append(all, value)
			}
		}
	}
	if all == nil {
		middle := math.Sqrt(p.from * p.to)
		unit := math.Pow(10, math.Floor(math.Log10(middle))-1)
		all = append(all, math.Round(middle/unit)*unit)
	}
	return all
}

// point draws a run: a circle, or a triangle at the edge that it lies beyond.
func (p *plot) point(c Check, x compared, color int) {
	const r = plotMark
	d := float64(x.err)
	at, y := p.x(float64(x.measured)), p.y(math.Max(-p.bound, math.Min(p.bound, d)))
	path := fmt.Sprintf("M%.1f %.1fa%v %v 0 1 0 %v 0a%v %v 0 1 0 %v 0Z", at-r, y, r, r, 2*r, r, r, -2*r)
	switch {
	case d > p.bound:
		path = fmt.Sprintf("M%.1f %.1fl%v %vh%vZ", at, y-r, r, 2*r, -2*r)
	case d < -p.bound:
		path = fmt.Sprintf("M%.1f %.1fl%v %vh%vZ", at, y+r, r, -2*r, -2*r)
	}
	p.Points = append(p.Points, plotPoint{Path: path, Color: color % colors, Hollow: !c.steady(), Title: fmt.Sprintf(
		"line %d, %.0f in, %.0f out, %d clients: measured %s, simulated %s, %s %%", c.Line, c.Input, c.Output, c.Concurrency, figure(x.measured), figure(x.simulated), signed(x.err))})
}

// steady tells whether a run counts in the mean errors of steady runs.
func (c Check) steady() bool {
	return c.Failed == "" && !c.Measured.KVBound && len(c.Contradicts) == 0
}

// shapes lists the shapes of the runs in the order of the file.
func (v *Validation) shapes() []Shape {
	var all []Shape
	for _, c := range v.Rows {
		if !slices.Contains(all, c.row.Shape()) {
			all = append(all, c.row.Shape())
		}
	}
	return all
}

// plotShapes is the legend.
func (v *Validation) plotShapes() []plotShape {
	var all []plotShape
	for i, s := range v.shapes() {
		all = append(all, plotShape{fmt.Sprintf("%d in, %d out", s.Input, s.Output), i % colors})
	}
	return all
}
