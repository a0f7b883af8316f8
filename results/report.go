package results

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
)

// Report is all that report.html is made of. Equal reports give equal bytes.
type Report struct {
	Manifest Manifest
	Study    string // YAML with every default
	Summary  Summary
	Profiles []CellProfile // of one seed; none: the page says so
}

// assets are the parts of the page. uPlot is a copy of the published release.
//
//go:embed report
var assets embed.FS

// pageScripts are the scripts of the page, in the order in which they run.
var pageScripts = []string{"uPlot.iife.min.js", "format.js", "chart.js", "figures.js", "strips.js", "drift.js", "page.js"}

var pageTemplate = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"percent": func(f float64) string { return short(100 * f) },
	"number":  func(v any) string { return strings.Trim(fmt.Sprint(v), "[]") },
}).ParseFS(assets, "report/page.html"))

// page is what the template shows.
type page struct {
	*Report
	Policy    template.HTML // of content security
	Style     template.CSS
	Scripts   []template.JS
	Verdict   verdict
	Knees     []kneesRow
	SLOs      []string
	Ladder    []ladderLine
	Names     []string // of the policies of the ladder
	Drift     *driftTable
	Origins   []originCount
	Notes     []pageNote
	MoreNotes int
	// HitsMissing says why no cell has a hit rate, empty if one has.
	HitsMissing string
	Left        []string // what the page leaves out
	Data        *pageData
}

// kneesRow is the capacities of a policy, by objective.
type kneesRow struct {
	Policy string
	Cells  []struct{ QPS, Times string }
}

// ladderLine is the p99 TTFT at one load, by policy.
type ladderLine struct {
	Load string
	P99  []string
}

// originCount is how many numbers have an origin.
type originCount struct {
	Origin Origin
	N      int
}

// pageNote is a warning of some rows, with the first of them.
type pageNote struct {
	Text, Where string
	More        int
}

// WriteReport writes report.html.
func WriteReport(path string, r *Report) error {
	return WriteFileAtomic(path, func(w io.Writer) error { return r.write(w, pageLimits) })
}

func (r *Report) write(w io.Writer, l limits) error {
	p := page{Report: r, Verdict: r.verdict(), Data: r.data(l), HitsMissing: r.Summary.hitsMissing()}
	p.Drift = r.Summary.driftTable(p.Data)
	p.Left = p.Data.thinned
	for _, n := range r.Summary.notes() {
		p.Notes = append(p.Notes, pageNote{n.text, n.where, n.count - 1})
	}
	if more := len(p.Notes) - l.notes; more > 0 {
		p.Notes, p.MoreNotes = p.Notes[:l.notes], more
	}
	for _, o := range Origins {
		if n := r.Manifest.Count(o); n > 0 {
			p.Origins = append(p.Origins, originCount{o, n})
		}
	}
	p.fillTables()
	if err := p.fillAssets(); err != nil {
		return err
	}
	short := *r
	if len(short.Study) > l.studyBytes {
		short.Study = strings.ToValidUTF8(short.Study[:l.studyBytes], "") + "\n..."
		p.Left = append(p.Left, "The study is cut; study.yaml has all of it.")
	}
	p.Report = &short
	return pageTemplate.Execute(w, &p)
}

// fillAssets reads style and scripts, and allows them, by their hashes, and
// nothing else: no other script, no style, no request.
func (p *page) fillAssets() error {
	styles, err := readAssets("uPlot.min.css", "page.css")
	if err != nil {
		return err
	}
	style := strings.Join(styles, "\n")
	scripts, err := readAssets(pageScripts...)
	if err != nil {
		return err
	}
	p.Style = template.CSS(style)
	allowed := ""
	for _, script := range scripts {
		p.Scripts = append(p.Scripts, template.JS(script))
		allowed += " " + hashSource(script)
	}
	p.Policy = template.HTML(fmt.Sprintf(
		"default-src 'none'; script-src%s; style-src %s; img-src data:; base-uri 'none'; form-action 'none'", allowed, hashSource(style)))
	return nil
}

func readAssets(names ...string) (texts []string, err error) {
	for _, name := range names {
		text, err := assets.ReadFile("report/" + name)
		if err != nil {
			return nil, err
		}
		texts = append(texts, string(text))
	}
	return texts, nil
}

// hashSource is how a content security policy names a text.
func hashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// fillTables words the tables that do not need a script.
func (p *page) fillTables() {
	s, d := &p.Summary, p.Data
	p.Names = d.Policies
	slos := s.slos()
	for _, slo := range slos {
		p.SLOs = append(p.SLOs, Shortly(slo))
	}
	for _, policy := range d.Policies {
		row := kneesRow{Policy: policy}
		for _, slo := range slos {
			row.Cells = append(row.Cells, struct{ QPS, Times string }{s.capacityWords(policy, slo), signs(s.multiplierText(policy, slo))})
		}
		p.Knees = append(p.Knees, row)
	}
	for l, load := range d.Loads {
		line := ladderLine{Load: Shortly(float64(load))}
		for i := range d.Policies {
			text := "–"
			if at := d.Ladder["p99"][i][l]; at != nil {
				text = strings.Replace(seconds(Float(at[0])), "inf", "∞", 1)
			}
			line.P99 = append(line.P99, text)
		}
		p.Ladder = append(p.Ladder, line)
	}
}
