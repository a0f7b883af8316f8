package paper

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"cacheroute/results"
)

// source says which figure of which study stands beside a number of the paper.
// What a cell leaves out it takes from its row, its column, its table.
type source struct {
	Study  string  `yaml:"study"`
	Policy string  `yaml:"policy"`
	Kind   string  `yaml:"kind"`   // in kinds
	Figure string  `yaml:"figure"` // which, where the kind has several
	Over   string  `yaml:"over"`   // what a multiplier or a difference is taken over: a policy, or best, the best other
	SLO    float64 `yaml:"slo"`    // of a capacity, seconds
	Load   float64 `yaml:"load"`   // of a figure that is not a capacity, requests/s
	At     int     `yaml:"at"`     // interval of a drift; 0: the mean of all
}

// commonLoad is where figures are read that are not capacities, unless a row
// says another: the paper's common operating point, where Figure 2 and Table 1
// compare p99. It does not say at which load it took the hit rates.
const commonLoad = 100

// or fills in what s leaves out.
func (s source) or(t source) source {
	fill(&s.Study, t.Study)
	fill(&s.Policy, t.Policy)
	fill(&s.Kind, t.Kind)
	fill(&s.Figure, t.Figure)
	fill(&s.Over, t.Over)
	fill(&s.SLO, t.SLO)
	fill(&s.Load, t.Load)
	fill(&s.At, t.At)
	return s
}

func fill[T comparable](to *T, from T) {
	var zero T
	if *to == zero {
		*to = from
	}
}

// table is one table of the paper, or a part of one.
type table struct {
	source    `yaml:",inline"`
	Table     string   `yaml:"table"` // 1 to 15, F2 for Figure 2, text
	Title     string   `yaml:"title"`
	Place     string   `yaml:"place"`
	Fitted    bool     `yaml:"fitted"`    // the fit of the harness has seen it
	Again     bool     `yaml:"again"`     // repeats other cells, so that it does not count
	Rivals    string   `yaml:"rivals"`    // row or none; empty: the column
	Reference string   `yaml:"reference"` // the rival to which ratios are taken
	Columns   []column `yaml:"columns"`
	Rows      []row    `yaml:"rows"`
}

type column struct {
	source `yaml:",inline"`
	Name   string `yaml:"name"`
}

type row struct {
	source `yaml:",inline"`
	Name   string   `yaml:"name"`
	Paper  []string `yaml:"paper"`
}

//go:embed tables.yaml
var tablesFile []byte

// readTables reads the numbers of the paper.
func readTables(data []byte) ([]table, error) {
	var all []table
	if err := yaml.Load(data, &all, yaml.WithKnownFields()); err != nil {
		return nil, fmt.Errorf("tables.yaml: %w", err)
	}
	for _, t := range all {
		for _, r := range t.Rows {
			if len(r.Paper) != len(t.Columns) {
				return nil, fmt.Errorf("tables.yaml: table %s, row %s: read %d numbers, wanted %d", t.Table, r.Name, len(r.Paper), len(t.Columns))
			}
		}
	}
	return all, nil
}

// Number is a number of the paper or of a simulation: a mean with the interval
// over its seeds, or with the range that the paper gives. Lo and Hi are
// undefined where there is no interval.
type Number struct {
	results.Interval
	Censor results.Censor `json:"censor"`
	Text   string         `json:"text"`
	// PerSeed are the knees behind a simulated capacity.
	PerSeed []results.SeedCapacity `json:"per_seed,omitempty"`
}

var (
	plainNumber = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)
	undefined   = results.NewInterval(nil).Lo
)

// parseNumber reads the notation of tables.yaml. ok is false for a number that
// the paper does not print.
func parseNumber(text, kind string) (n Number, ok bool, err error) {
	if text == "-" {
		return n, false, nil
	}
	n = Number{Interval: results.Interval{Lo: undefined, Hi: undefined}, Censor: results.CensorNone, Text: text}
	number := func(s string) results.Float {
		if !plainNumber.MatchString(s) {
			err = fmt.Errorf("read %q, wanted a number such as 3.5, 64.1±1.3, <30, >500 or 2..6", text)
		}
		x, _ := strconv.ParseFloat(s, 64) // the pattern holds
		return results.Float(x)
	}
	switch {
	case strings.HasPrefix(text, "<"):
		n.Censor = results.CensorLeft
		if n.Mean = number(text[1:]); kind == "capacity" {
			n.Mean = 0
		}
	case strings.HasPrefix(text, ">"):
		n.Censor, n.Mean = results.CensorRight, number(text[1:])
	case strings.Contains(text, "±"):
		mean, half, _ := strings.Cut(text, "±")
		n.Mean = number(mean)
		n.Lo, n.Hi = n.Mean-number(half), n.Mean+number(half)
	case strings.Contains(text, ".."):
		lo, hi, _ := strings.Cut(text, "..")
		n.Lo, n.Hi = number(lo), number(hi)
		n.Mean, n.Text = (n.Lo+n.Hi)/2, lo+"–"+hi
	default:
		n.Mean = number(text)
	}
	return n, true, err
}
