package results

import (
	"slices"
	"strconv"
	"strings"
)

// pageDrift is the intervals of a drift at one load. Matrices are by policy,
// then interval; null is what was not measured, or no new table.
type pageDrift struct {
	Load    int                  `json:"load"`
	FromS   []num                `json:"from_s"`
	Figures map[string][][]point `json:"figures"` // by name
}

// driftFigures are drawn with the interval over the seeds; p99 is apart, as its
// axis is one of factors.
var driftFigures = []struct {
	name   string
	figure func(*DriftRow) Interval
}{
	{"hit", func(r *DriftRow) Interval { return r.KVHit }},
	{"dip", func(r *DriftRow) Interval { return r.Dip }},
}

// churnFigures are what a new table moves.
var churnFigures = []struct {
	name   string
	figure func(*Install) Float
}{
	{"sets", func(x *Install) Float { return x.Sets }},
	{"traffic", func(x *Install) Float { return x.Traffic }},
	{"keys", func(x *Install) Float { return x.Keys }},
	{"counts", func(x *Install) Float { return x.Counts }},
}

// addDrift fills in the intervals of a drift, of as many loads as fit.
func (d *pageData) addDrift(s *Summary, g grid) {
	rows, most := make([][]*DriftRow, len(g.load)), 0 // by load
	starts := make([][]float64, len(g.load))
	for i := range s.Drift {
		r := &s.Drift[i]
		if _, l, ok := g.place(r.Policy, r.LoadQPS); ok {
			rows[l] = append(rows[l], r)
			starts[l] = append(starts[l], float64(r.FromS))
		}
	}
	var loads []int
	for l := range rows {
		slices.Sort(starts[l])
		starts[l] = slices.Compact(starts[l])
		if most = max(most, len(starts[l])); len(rows[l]) > 0 {
			loads = append(loads, l)
		}
	}
	if len(loads) == 0 {
		return
	}
	kept := evenly(len(loads), max(1, d.limits.intervals/(most*len(g.policy))))
	if len(kept) < len(loads) {
		d.left("The intervals of drift are drawn for %d of %d loads; summary.json has all.", len(kept), len(loads))
	}
	fit := max(2, d.limits.intervals/(len(kept)*len(g.policy)))
	if fit < most {
		d.left("%d of %d intervals of drift are drawn, evenly chosen; summary.json has all.", fit, most)
	}
	p99 := s.intervalP99()
	for _, k := range kept {
		l := loads[k]
		d.Drift = append(d.Drift, newPageDrift(p99, g, l, rows[l], starts[l], fit))
	}
}

// newPageDrift is the rows of one load, thinned to as many intervals as fit.
func newPageDrift(p99 map[driftPlace][]float64, g grid, load int, rows []*DriftRow, starts []float64, fit int) pageDrift {
	x := pageDrift{Load: load, Figures: map[string][][]point{}}
	at := map[float64]int{}
	for _, i := range evenly(len(starts), fit) {
		at[starts[i]] = len(x.FromS)
		x.FromS = append(x.FromS, num(starts[i]))
	}
	put := func(name, policy string, i int, p point) {
		if x.Figures[name] == nil {
			x.Figures[name] = make([][]point, len(g.policy))
			for p := range x.Figures[name] {
				x.Figures[name][p] = make([]point, len(at))
			}
		}
		x.Figures[name][g.policy[policy]][i] = p
	}
	for _, r := range rows {
		i, ok := at[float64(r.FromS)]
		if !ok {
			continue
		}
		for _, f := range driftFigures {
			put(f.name, r.Policy, i, newPoint(f.figure(r)))
		}
		put("p99", r.Policy, i, newPoint(logInterval(p99[driftPlace{r.Policy, r.LoadQPS, r.FromS}])))
		for _, f := range churnFigures {
			if r.Install != nil {
				put(f.name, r.Policy, i, point{num(f.figure(r.Install))})
			}
		}
	}
	return x
}

// driftPlace is an interval of a policy at a load.
type driftPlace struct {
	policy string
	load   float64
	from   Float
}

// intervalP99 is the p99 of each interval, by seed.
func (s *Summary) intervalP99() map[driftPlace][]float64 {
	lists := map[driftPlace][]float64{}
	for i := range s.Cells {
		c := &s.Cells[i]
		for _, x := range c.Intervals {
			at := driftPlace{c.Policy, c.LoadQPS, x.FromS}
			lists[at] = append(lists[at], float64(x.TTFTP99))
		}
	}
	return lists
}

// driftTable is the means over the intervals, in words.
type driftTable struct {
	Rows     [][]string
	Words    string
	Installs bool // some policy put a new table in force
}

// driftTable is nil without a drift. What is left out, data says.
func (s *Summary) driftTable(data *pageData) *driftTable {
	means := s.driftMeans()
	if len(means) == 0 {
		return nil
	}
	t := &driftTable{Words: driftWords}
	for _, m := range means {
		t.Installs = t.Installs || m.install != nil
	}
	for _, i := range evenly(len(means), data.limits.means) {
		m := &means[i]
		row := []string{m.policy, Shortly(m.load), strconv.Itoa(m.intervals)}
		for _, word := range m.words() {
			row = append(row, strings.NewReplacer("inf", "∞", "-", "–").Replace(word))
		}
		t.Rows = append(t.Rows, row)
	}
	if len(t.Rows) < len(means) {
		data.left("The table of means over the intervals of drift has %d rows of %d, evenly chosen.", len(t.Rows), len(means))
	}
	return t
}
