// Package paper holds the numbers of the CacheRoute paper against what the
// simulator gives for them: every table, cell by cell, and what the text claims.
package paper

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cacheroute/scenarios"
)

// Options says what to compare and how to run it.
type Options struct {
	Tables  []string // 1 to 15, F2, text; nil: all
	Seeds   []uint64 // instead of those of each study; nil: its own
	Workers int      // parallel runs; 0: one for each CPU
	Dir     string   // folder of results
	Tally   *scenarios.Tally
}

// Report is the comparison.
type Report struct {
	Tables  []Table `json:"tables"`
	Claims  []Claim `json:"claims"`
	Counts  []Count `json:"counts"` // by table, then of all
	Studies []Study `json:"studies"`
}

// Table is one table of the paper, or a part of one.
type Table struct {
	Table   string   `json:"table"`
	Title   string   `json:"title"`
	Place   string   `json:"place"`
	Counts  bool     `json:"counts"` // its cells are counted; those of others repeat them
	Columns []string `json:"columns"`
	Rows    []Row    `json:"rows"`
}

// Row is a row of a table.
type Row struct {
	Name  string `json:"name"`
	Cells []Cell `json:"cells"`
}

// Cell is a number of the paper beside the simulated one.
type Cell struct {
	Paper     *Number `json:"paper"` // nil: the paper prints none
	Simulated *Number `json:"simulated"`
	Verdict   Verdict `json:"verdict,omitempty"` // none without a number of the paper
	Reason    string  `json:"reason,omitempty"`  // why it was not run
	Fitted    bool    `json:"fitted"`            // the fit of the harness has seen the paper's number
	Kind      string  `json:"kind"`
	Study     string  `json:"study"`
	Policy    string  `json:"policy,omitempty"`
}

// Study is what was simulated.
type Study struct {
	Name    string   `json:"name"`
	About   string   `json:"about"`   // what is assumed
	Changes []string `json:"changes"` // of the base scenario, as --set takes them
	Seeds   []uint64 `json:"seeds"`
	Cells   int      `json:"cells"`
	Reason  string   `json:"reason,omitempty"` // why it was not run

	yaml []byte // for the folder of results
}

// allTables is the name of the sum of all counts.
const allTables = "all"

// Count is the verdicts of one table, or of all.
type Count struct {
	Table     string          `json:"table"`
	Fitted    map[Verdict]int `json:"fitted"`
	Predicted map[Verdict]int `json:"predicted"`
}

// Run simulates what the tables need and compares.
func Run(ctx context.Context, o Options) (*Report, error) {
	tables, err := readTables(tablesFile)
	if err != nil {
		return nil, err
	}
	if tables, err = pick(tables, o.Tables); err != nil {
		return nil, err
	}
	all := claims()
	all = slices.DeleteFunc(all, func(c claim) bool { return o.Tables != nil && !slices.Contains(o.Tables, c.table) })
	b, err := newBench(o, needed(tables, all))
	if err != nil {
		return nil, err
	}
	if err := b.run(ctx, o); err != nil {
		return nil, err
	}
	r := &Report{}
	if r.Studies, err = b.list(); err != nil {
		return nil, err
	}
	for i := range tables {
		t, err := b.table(&tables[i])
		if err != nil {
			return nil, err
		}
		r.Tables = append(r.Tables, t)
	}
	for _, c := range all {
		r.Claims = append(r.Claims, b.claim(c))
	}
	r.count()
	return r, nil
}

// Names are the tables that can be asked for, in their order.
func Names() []string {
	tables, err := readTables(tablesFile)
	if err != nil {
		panic(err.Error()) // embedded, and read by a test
	}
	var names []string
	for _, t := range tables {
		if !slices.Contains(names, t.Table) {
			names = append(names, t.Table)
		}
	}
	return names
}

// Check refuses names of tables that there are not.
func Check(names []string) error {
	for _, name := range names {
		if !slices.Contains(Names(), name) {
			return scenarios.Badf("--table %s: wanted one of %s", name, strings.Join(Names(), ", "))
		}
	}
	return nil
}

func pick(tables []table, wanted []string) ([]table, error) {
	if err := Check(wanted); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(tables, func(t table) bool { return wanted != nil && !slices.Contains(wanted, t.Table) }), nil
}

// needed are the studies of the tables and claims, each once.
func needed(tables []table, claims []claim) map[string]bool {
	names := map[string]bool{}
	for _, t := range tables {
		for _, r := range t.Rows {
			for _, c := range t.Columns {
				names[r.source.or(c.source).or(t.source).Study] = true
			}
		}
	}
	for _, c := range claims {
		for _, study := range c.studies {
			names[study] = true
		}
	}
	for study, other := range companions {
		if names[study] {
			names[other] = true
		}
	}
	return names
}

// companions are the studies that the figures of another one are taken over.
var companions = map[string]string{"drift-fresh": "drift-stale"}

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

// count adds the verdicts up.
func (r *Report) count() {
	total := Count{allTables, map[Verdict]int{}, map[Verdict]int{}}
	for _, t := range r.Tables {
		if !t.Counts {
			continue
		}
		i := slices.IndexFunc(r.Counts, func(c Count) bool { return c.Table == t.Table })
		if i < 0 {
			i = len(r.Counts)
			r.Counts = append(r.Counts, Count{t.Table, map[Verdict]int{}, map[Verdict]int{}})
		}
		for _, row := range t.Rows {
			for _, c := range row.Cells {
				switch {
				case c.Paper == nil:
				case c.Fitted:
					r.Counts[i].Fitted[c.Verdict]++
					total.Fitted[c.Verdict]++
				default:
					r.Counts[i].Predicted[c.Verdict]++
					total.Predicted[c.Verdict]++
				}
			}
		}
	}
	r.Counts = append(r.Counts, total)
}
