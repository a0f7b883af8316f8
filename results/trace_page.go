package results

import (
	"fmt"
	"html/template"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"cacheroute/workload/trace"
)

var traceTemplate = template.Must(template.New("trace.html").ParseFS(assets, "report/trace.html"))

// tracePage is what the template shows.
type tracePage struct {
	*trace.Info
	Name    string
	Policy  template.HTML // of content security
	Style   template.CSS
	Facts   []traceFact
	Lengths []lengthLine
	Dropped []traceFact
	Rates   *barChart
	Depths  []depthLine
}

type traceFact struct{ Name, Value string }

type lengthLine struct {
	Name string
	trace.LengthInfo
	Mean string
}

// depthLine is a row of the keys by depth.
type depthLine struct {
	Depth, Keys         int64
	Gini, Top, Top4, In string
}

// barChart is drawn without a script, in units of a 1000 x 200 box.
type barChart struct {
	Bars     []chartBar
	Top, End string
}

type chartBar struct {
	X, Y, Width, Height float64
	Title               string
}

// WriteTracePage writes what is known of a trace as a page: one file without
// scripts and without any request to a network.
func WriteTracePage(path string, info *trace.Info) error {
	style, err := readAssets("page.css")
	if err != nil {
		return err
	}
	p := &tracePage{
		Info: info, Name: filepath.Base(info.Header.Path), Style: template.CSS(style[0]), Rates: ratesChart(info),
		Policy: template.HTML(fmt.Sprintf("default-src 'none'; style-src %s; img-src data:; base-uri 'none'; form-action 'none'", hashSource(style[0]))),
	}
	p.fill()
	return WriteFileAtomic(path, func(w io.Writer) error { return traceTemplate.Execute(w, p) })
}

// fill words the figures.
func (p *tracePage) fill() {
	h := p.Header
	add := func(name, format string, args ...any) {
		p.Facts = append(p.Facts, traceFact{name, fmt.Sprintf(format, args...)})
	}
	add("format", "%s, times in %s, %s prompts", h.Format, h.Unit, h.InputKind)
	if h.BlockTokens > 0 {
		add("block ids", "%s, %d tokens (%s)", h.IDKind, h.BlockTokens, h.BlocksFrom)
	}
	add("rows", "%d read, %d kept, %d of them failed", h.RowsRead, h.RowsKept, h.Failed)
	add("arrivals", "%.6g s, mean %.4f/s, coefficient of variation of the gaps %s", p.SpanS, p.MeanQPS, unknownOr(p.GapCV, "%.3f"))
	add("times", "%d distinct, smallest gap %s s, %d rows out of order", p.DistinctTimes, unknownOr(p.SmallestGapS, "%.6g"), p.OutOfOrder)
	add("keys", "%s: %d keys, Gini %.3f, the top key has %.2f %% of the requests", p.KeyRule, p.Keys.Count, p.Keys.Gini, 100*p.Keys.TopShare)
	if p.Sessions > 0 {
		add("sessions", "%d", p.Sessions)
	}
	if p.ObservedTTFTS != nil || p.ObservedCached != nil {
		add("observed", "mean time to first token %s s, cached share of prompt tokens %s", unknownOr(p.ObservedTTFTS, "%.4g"), unknownOr(p.ObservedCached, "%.4f"))
	}
	for _, reason := range slices.Sorted(maps.Keys(h.Dropped)) {
		p.Dropped = append(p.Dropped, traceFact{reason, strconv.Itoa(h.Dropped[reason])})
	}
	for _, l := range []struct {
		name string
		trace.LengthInfo
	}{{"prompt", p.Input}, {"answer", p.Output}} {
		p.Lengths = append(p.Lengths, lengthLine{l.name, l.LengthInfo, fmt.Sprintf("%.1f", l.Mean)})
	}
	for _, k := range p.ByDepth {
		in := "–"
		if k.Reuse != nil {
			in = fmt.Sprintf("%.1f %%", 100**k.Reuse)
		}
		p.Depths = append(p.Depths, depthLine{int64(k.Depth), k.Count, fmt.Sprintf("%.3f", k.Gini),
			fmt.Sprintf("%.2f %%", 100*k.TopShare), fmt.Sprintf("%.1f %%", 100*k.Top4Share), in})
	}
}

// Hit is the ideal hit in words.
func (p *tracePage) Hit() string {
	if p.IdealHit == nil {
		return "unknown"
	}
	text := fmt.Sprintf("%.2f %%", 100**p.IdealHit)
	if r := p.HitRange; r != nil {
		text += fmt.Sprintf(" (%.2f to %.2f %% in the order of arrival)", 100*r[0], 100*r[1])
	}
	return text
}

func unknownOr(v *float64, format string) string {
	if v == nil {
		return "unknown"
	}
	return fmt.Sprintf(format, *v)
}

func ratesChart(info *trace.Info) *barChart {
	top := slices.Max(info.ProfileQPS)
	n := float64(len(info.ProfileQPS))
	c := &barChart{Top: fmt.Sprintf("%.4g requests/s", top), End: fmt.Sprintf("%.4g s", n*info.ProfileBinS)}
	for i, rate := range info.ProfileQPS {
		height := 200 * rate / top
		c.Bars = append(c.Bars, chartBar{X: float64(i) * 1000 / n, Y: 200 - height, Width: 900 / n, Height: height,
			Title: fmt.Sprintf("from %.6g s: %.4g requests/s", float64(i)*info.ProfileBinS, rate)})
	}
	return c
}
