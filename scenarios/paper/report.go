package paper

import "slices"

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
