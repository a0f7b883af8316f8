package gate

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"cacheroute/results"
	"cacheroute/scenarios"
)

// Report is what a gate found. In its comparisons a is the baseline and b the
// candidate.
type Report struct {
	Version        string               `json:"version"` // of the program
	Study          string               `json:"study"`
	Baseline       string               `json:"baseline"`
	Candidate      string               `json:"candidate"`
	SLO            float64              `json:"slo_ttft_p99_s"`
	MaxFailureRate float64              `json:"max_failure_rate"`
	Margin         float64              `json:"margin"`
	Judgement                           // verdict and gains
	Reasons        []string             `json:"reasons"`
	Settles        []string             `json:"would_settle"` // an inconclusive verdict
	Replicates     Replicate            `json:"replicates"`
	Plan           *Plan                `json:"plan"` // nil: the candidate needs none
	Loads          []Load               `json:"loads"`
	Capacity       Knees                `json:"capacity_qps"`
	Envelope       []Axis               `json:"envelope"` // empty if it was not asked for
	Sources        []string             `json:"sources"`
	Inputs         []results.Assumption `json:"inputs"` // numbers of the fleet
	Repeat         []string             `json:"repeat_after_a_change_of"`
	Doubts         []string             `json:"doubts"`

	table *scenarios.RoutingTable // nil: keys without names
}

// Replicate says what the intervals are taken over.
type Replicate struct {
	About string           `json:"about"`
	Seeds []uint64         `json:"seeds"`
	Parts []scenarios.Part `json:"parts"` // of a recording, by seed
}

// Load is both policies at one load.
type Load struct {
	OfKnee float64 `json:"of_knee"` // part of the baseline's
	results.ComparedRow
	Worst []Worst `json:"worst_destination"` // of baseline and candidate, near the knee only
}

// Worst is the destination with the highest p99 in the first replicate.
type Worst struct {
	Destination int           `json:"destination"`
	Requests    int64         `json:"requests"`
	OverMean    results.Float `json:"requests_over_mean"`
	TTFTP99     results.Float `json:"ttft_p99_s"`
	KVHit       results.Float `json:"kv_hit"`
	Busy        results.Float `json:"run_busy"`
}

// Knees are the capacities by replicate and their difference.
type Knees struct {
	results.Change
	BySeed [2][]float64 `json:"by_replicate"` // of baseline and candidate
}

// repeat is when the paper repeats the gate (section 5.3).
var repeat = []string{"model", "precision", "context length", "batching", "cache allocation", "active-set distribution"}

func (g *gate) report(m *measured) (*Report, error) {
	s := g.runner.Study
	r := &Report{
		Version: g.Version, Study: s.Name, Baseline: g.label(0), Candidate: g.label(1), SLO: g.slo, MaxFailureRate: s.Measure.MaxFailureRate, Margin: g.Margin,
		Judgement: g.judge(m), Replicates: g.replicates(), Envelope: []Axis{}, Repeat: repeat,
	}
	r.Reasons, r.Settles = r.Judgement.reasons(g, m), r.Judgement.settles(g)
	var err error
	if r.Plan, r.table, err = g.plan(m); err != nil {
		return nil, err
	}
	if r.Inputs, err = s.Assumptions(); err != nil {
		return nil, err
	}
	r.Sources = r.sources(g)
	g.compare(r, m)
	r.Doubts = g.doubts(m, r.Plan)
	return r, nil
}

func (g *gate) replicates() Replicate {
	seeds := fmt.Sprintf("%d paired seeds", len(g.seeds))
	if g.Added > 0 {
		seeds += fmt.Sprintf(", %d of the study and %d more, as --seeds names none", len(g.seeds)-g.Added, g.Added)
	}
	r := Replicate{Seeds: g.seeds, Parts: []scenarios.Part{}, About: seeds + ": both policies meet the same requests, each seed is another draw of them"}
	if g.shadow.Parts == nil {
		return r
	}
	for _, seed := range g.seeds {
		r.Parts = append(r.Parts, g.shadow.Parts[seed])
	}
	r.About = fmt.Sprintf("%d windows of %.4g s of one recording, paired: both policies meet the same requests; the intervals say how such windows differ, not how another day would",
		len(g.seeds), r.Parts[0].ToS-r.Parts[0].FromS)
	return r
}

// compare fills in loads and capacities.
func (g *gate) compare(r *Report, m *measured) {
	summary := results.Summarise(r.Study, m.cells, []float64{g.slo}, r.MaxFailureRate)
	var c results.Comparison
	c.Compare(&summary, &summary, results.Selection{
		Policies: [][2]string{{r.Baseline, r.Candidate}}, Loads: []float64{m.below, m.near}, Seeds: g.seeds, Paired: true,
	})
	for i, part := range []float64{belowKnee, nearKnee} {
		r.Loads = append(r.Loads, Load{OfKnee: part, ComparedRow: c.Rows[i], Worst: []Worst{}})
	}
	for _, p := range m.profiles {
		r.Loads[1].Worst = append(r.Loads[1].Worst, worst(p))
	}
	a, b := loadsOf(m.knees[0]), loadsOf(m.knees[1])
	r.Capacity = Knees{BySeed: [2][]float64{a, b}, Change: results.NewPaired(a, b)}
}

// worst finds the destination with the highest p99, of equals the busiest.
func worst(p *results.Profile) Worst {
	d := &p.ByDestination
	at, sum := 0, int64(0)
	for i, n := range p.Destinations {
		sum += n
		later := d.TTFTP99[i] > d.TTFTP99[at] || !(d.TTFTP99[at] >= 0) // undefined without requests
		if later || d.TTFTP99[i] == d.TTFTP99[at] && d.RunBusy[i] > d.RunBusy[at] {
			at = i
		}
	}
	n := p.Destinations[at]
	return Worst{
		Destination: at, Requests: n, OverMean: results.Float(float64(n) * float64(len(p.Destinations)) / float64(max(1, sum))),
		TTFTP99: d.TTFTP99[at], KVHit: d.KVHit[at], Busy: d.RunBusy[at],
	}
}

// sources say where requests, rates and the numbers of the fleet come from.
func (r *Report) sources(g *gate) []string {
	requests := "requests: generated, as the study says (given)"
	if g.runner.Trace() != nil {
		requests = "requests: recorded (measured)"
	}
	all := []string{requests}
	if r.Plan != nil {
		all = append(all, fmt.Sprintf("rates of the plan: %s, %s", r.Plan.Rates, r.Plan.About))
	}
	m := results.Manifest{Assumptions: r.Inputs}
	var counts []string
	for _, o := range results.Origins {
		if n := m.Count(o); n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, o))
		}
	}
	return append(all, "numbers of the fleet: "+strings.Join(counts, ", "))
}

// JSON writes the report.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// Write writes gate.json, gate.html and, where keys have names, the judged
// assignment as table.json to a folder. Each file is whole or not there.
func (r *Report) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if r.table != nil {
		if err := r.table.WriteFile(filepath.Join(dir, "table.json")); err != nil {
			return err
		}
	}
	if err := results.WriteFileAtomic(filepath.Join(dir, "gate.json"), r.JSON); err != nil {
		return err
	}
	return results.WriteFileAtomic(PagePath(dir), r.page)
}

// PagePath is the page of a gate's folder.
func PagePath(dir string) string { return filepath.Join(dir, "gate.html") }
