// Package paper holds the numbers of the CacheRoute paper against what the
// simulator gives for them: every table, cell by cell, and what the text claims.
package paper

import (
	"context"
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
	if names != nil && len(names) == 0 {
		return scenarios.Badf("--table: empty, wanted some of %s", strings.Join(Names(), ", "))
	}
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
