package results

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// num is a figure in the data of the page: a whole number, or six digits. 1e999 is how
// a JSON number says infinite: it is read as such by JavaScript.
type num float64

// MarshalJSON writes null for an undefined figure.
func (n num) MarshalJSON() ([]byte, error) {
	v := float64(n)
	switch {
	case math.IsNaN(v):
		return []byte("null"), nil
	case math.IsInf(v, 1):
		return []byte("1e999"), nil
	case v == math.Trunc(v) && math.Abs(v) < 1<<53:
		return strconv.AppendFloat(nil, v, 'f', 0, 64), nil
	}
	return strconv.AppendFloat(nil, v, 'g', 6, 64), nil
}

// point is a mean with the bounds of its interval, or without them.
type point []num

func newPoint(i Interval) point {
	if !i.Lo.Finite() {
		return point{num(i.Mean)}
	}
	return point{num(i.Mean), num(i.Lo), num(i.Hi)}
}

// pageData is what the charts of the page are drawn from. Matrices are by
// policy, then load; null is what has not been run.
type pageData struct {
	Policies []string             `json:"policies"`
	Styles   []int                `json:"styles"` // of Policies
	Loads    []num                `json:"loads"`
	Seeds    []string             `json:"seeds"` // text: more digits than a JavaScript number keeps
	SLOs     []num                `json:"slos"`
	Primary  int                  `json:"primary"` // of SLOs: the first that the study lists
	Best     int                  `json:"best"`    // of Policies, -1 if none
	Lead     bool                 `json:"lead"`    // no other policy ties with the best
	Ladder   map[string][][]point `json:"ladder"`  // by metric
	Kinds    []string             `json:"kinds"`   // of segments that were hit: metrics kind_...
	Dots     [][][]num            `json:"dots"`    // p99 TTFT by seed
	Capacity []pageCapacity       `json:"capacity"`
	Cells    pageCells            `json:"cells"`
	Drift    []pageDrift          `json:"drift"` // by load

	ProfileSeed string        `json:"profile_seed"`
	Goodput     [][][]num     `json:"goodput"` // by objective, policy, load
	Profiles    []pageProfile `json:"profiles"`

	thinned []string // what was left out
	limits  limits
}

type pageCapacity struct {
	Policy  int     `json:"policy"`
	SLO     int     `json:"slo"`
	QPS     point   `json:"qps"`
	Censor  Censor  `json:"censor"`
	Text    string  `json:"text"`
	Times   string  `json:"times"`
	PerSeed [][]any `json:"per_seed"` // seed, QPS, censor
}

type pageProfile struct {
	Policy       int      `json:"policy"`
	Load         int      `json:"load"`
	Destinations []int64  `json:"destinations"`
	Timeline     Timeline `json:"timeline"`
	TTFT         ECDF     `json:"ttft"`
}

// kinds are the parts of the KV hit.
var kinds = []struct {
	name   string
	figure func(*Cell) Float
}{
	{"template", func(c *Cell) Float { return c.KVHitTemplate }},
	{"context", func(c *Cell) Float { return c.KVHitContext }},
	{"retrieved", func(c *Cell) Float { return c.KVHitRetrieved }},
	{"history", func(c *Cell) Float { return c.KVHitHistory }},
	{"turn", func(c *Cell) Float { return c.KVHitTurn }},
	{"prefix", func(c *Cell) Float { return c.KVHitPrefix }},
}

// styled are the policies whose line has the same colour, dash and mark on every
// page.
var styled = []string{"flat-lb", "sticky", "chwbl", "dualmap", "preble", "cacheroute", "least-loaded", "random", "llm-d", "llm-d-precise"}

// styles numbers the look of each policy. Labels take what the page has left.
func styles(policies []string) []int {
	used := map[int]bool{}
	for _, p := range policies {
		used[slices.Index(styled, p)] = true
	}
	all, next := make([]int, len(policies)), 0
	for i, p := range policies {
		if all[i] = slices.Index(styled, p); all[i] >= 0 {
			continue
		}
		for used[next] {
			next++
		}
		all[i], used[next] = next, true
	}
	return all
}

// data chooses and orders what the page shows.
func (r *Report) data(l limits) *pageData {
	s := &r.Summary
	policies, loads, _ := s.axes()
	d := &pageData{Best: -1, Ladder: map[string][][]point{}, Kinds: []string{}, Dots: [][][]num{}, limits: l,
		Capacity: []pageCapacity{}, SLOs: []num{}, Goodput: [][][]num{}, Profiles: []pageProfile{}, Drift: []pageDrift{}}
	if slos := s.slos(); len(slos) > 0 {
		main := slos[d.Primary]
		policies = d.thinPolicies(s, policies, main)
		if best := s.best(main); len(best) > 0 {
			d.Best, d.Lead = slices.Index(policies, best[0].Policy), len(best) == 1
		}
		for _, slo := range slos {
			d.SLOs = append(d.SLOs, num(slo))
		}
	}
	loads = d.thinLoads(policies, loads)
	d.Policies, d.Styles = policies, styles(policies)
	for _, q := range loads {
		d.Loads = append(d.Loads, num(q))
	}
	seeds := s.seeds()
	for _, seed := range seeds {
		d.Seeds = append(d.Seeds, strconv.FormatUint(seed, 10))
	}
	x := newGrid(policies, loads)
	d.addLadder(s, x)
	d.addCells(s, x, seeds)
	d.addCapacity(s, x)
	d.addDrift(s, x)
	r.addProfiles(d, x)
	return d
}

// seeds returns the seeds of all cells, by size.
func (s *Summary) seeds() []uint64 {
	seen := map[uint64]bool{}
	var seeds []uint64
	for i := range s.Cells {
		if seed := s.Cells[i].Seed; !seen[seed] {
			seen[seed] = true
			seeds = append(seeds, seed)
		}
	}
	slices.Sort(seeds)
	return seeds
}

// grid finds the place of a policy and a load in the matrices of the page.
type grid struct {
	policy map[string]int
	load   map[float64]int
}

func newGrid(policies []string, loads []float64) grid {
	g := grid{map[string]int{}, map[float64]int{}}
	for i, p := range policies {
		g.policy[p] = i
	}
	for i, q := range loads {
		g.load[q] = i
	}
	return g
}

func (g grid) place(policy string, load float64) (p, l int, ok bool) {
	p, okP := g.policy[policy]
	l, okL := g.load[load]
	return p, l, okP && okL
}

// matrix has a zero for every policy and load.
func matrix[T any](g grid) [][]T {
	m := make([][]T, len(g.policy))
	for i := range m {
		m[i] = make([]T, len(g.load))
	}
	return m
}

// addLadder fills in the figures over the seeds.
func (d *pageData) addLadder(s *Summary, g grid) {
	metrics := []struct {
		name   string
		figure func(*LadderRow) Interval
	}{
		{"hit", func(r *LadderRow) Interval { return r.KVHit }},
		{"imbalance", func(r *LadderRow) Interval { return r.Imbalance }},
		{"failures", func(r *LadderRow) Interval { return r.FailureRate }},
	}
	for _, m := range metrics {
		values := matrix[point](g)
		for i := range s.Ladder {
			row := &s.Ladder[i]
			if p, l, ok := g.place(row.Policy, row.LoadQPS); ok {
				values[p][l] = newPoint(m.figure(row))
			}
		}
		d.Ladder[m.name] = values
	}
	onLogScale := func(name string, figure func(*Cell) Float) {
		values := matrix[point](g)
		for p, lists := range s.overSeeds(g, figure) {
			for l, list := range lists {
				if len(list) > 0 {
					values[p][l] = newPoint(logInterval(list))
				}
			}
		}
		d.Ladder[name] = values
	}
	onLogScale("p99", func(c *Cell) Float { return c.TTFTP99 })
	onLogScale("tpot_p50", func(c *Cell) Float { return c.TPOTP50 })
	onLogScale("tpot_p99", func(c *Cell) Float { return c.TPOTP99 })
	for _, kind := range kinds {
		d.addKind(s, g, kind.name, kind.figure)
	}
}

// logInterval is the mean with an interval that was made of logarithms, as an
// axis of factors shows it: it never reaches 0.
func logInterval(values []float64) Interval {
	logs := make([]float64, len(values))
	for i, v := range values {
		logs[i] = math.Log(v)
	}
	mean, in := NewInterval(values), NewInterval(logs)
	return Interval{mean.Mean, Float(math.Exp(float64(in.Lo))), Float(math.Exp(float64(in.Hi)))}
}

// overSeeds are the values of a figure by policy, load and seed.
func (s *Summary) overSeeds(g grid, figure func(*Cell) Float) [][][]float64 {
	lists := matrix[[]float64](g)
	for i := range s.Cells {
		c := &s.Cells[i]
		if p, l, ok := g.place(c.Policy, c.LoadQPS); ok {
			lists[p][l] = append(lists[p][l], float64(figure(c)))
		}
	}
	return lists
}

// addKind fills in the mean part of one kind of segment, if it was ever hit.
func (d *pageData) addKind(s *Summary, g grid, name string, figure func(*Cell) Float) {
	lists := s.overSeeds(g, figure)
	any := false
	for _, row := range lists {
		for _, list := range row {
			any = any || slices.ContainsFunc(list, func(v float64) bool { return v > 0 })
		}
	}
	if !any {
		return
	}
	values := matrix[point](g)
	for p := range lists {
		for l, list := range lists[p] {
			if len(list) > 0 {
				values[p][l] = point{num(NewInterval(list).Mean)}
			}
		}
	}
	d.Kinds = append(d.Kinds, name)
	d.Ladder["kind_"+name] = values
}

// addCapacity fills in the knees.
func (d *pageData) addCapacity(s *Summary, g grid) {
	slos := s.slos()
	for i := range s.Capacity {
		row := &s.Capacity[i]
		p, ok := g.policy[row.Policy]
		if !ok {
			continue
		}
		interval := row.QPS
		if around := s.rungs(row); around.hide(interval) {
			interval.Lo, interval.Hi = interval.Mean, Float(around.next)
		}
		c := pageCapacity{Policy: p, SLO: slices.Index(slos, row.SLO), QPS: newPoint(interval), Censor: row.Censor,
			Text: s.capacityWords(row.Policy, row.SLO), Times: signs(s.multiplierText(row.Policy, row.SLO)), PerSeed: [][]any{}}
		if len(d.Dots) > 0 {
			for _, k := range row.PerSeed {
				c.PerSeed = append(c.PerSeed, []any{strconv.FormatUint(k.Seed, 10), num(k.QPS), k.Censor})
			}
		}
		d.Capacity = append(d.Capacity, c)
	}
}

// addProfiles fills in what is known of single runs.
func (r *Report) addProfiles(d *pageData, g grid) {
	if len(r.Profiles) == 0 {
		return
	}
	d.ProfileSeed = strconv.FormatUint(r.Profiles[0].Seed, 10)
	type name struct {
		policy string
		load   float64
		seed   uint64
	}
	windows := map[name]float64{} // lengths in seconds
	for i := range r.Summary.Cells {
		c := &r.Summary.Cells[i]
		windows[name{c.Policy, c.LoadQPS, c.Seed}] = float64(c.WindowS)
	}
	for range d.SLOs {
		rates := matrix[num](g)
		for _, row := range rates {
			for l := range row {
				row[l] = num(undefined)
			}
		}
		d.Goodput = append(d.Goodput, rates)
	}
	var all []pageProfile
	for i := range r.Profiles {
		c := &r.Profiles[i]
		p, l, ok := g.place(c.Policy, c.LoadQPS)
		if !ok {
			continue
		}
		for _, w := range c.Within {
			if slo := slices.Index(d.SLOs, num(w.SLO)); slo >= 0 {
				d.Goodput[slo][p][l] = num(float64(w.Requests) / windows[name{c.Policy, c.LoadQPS, c.Seed}])
			}
		}
		all = append(all, pageProfile{p, l, c.Destinations, c.Timeline, c.TTFT})
	}
	slices.SortStableFunc(all, func(a, b pageProfile) int {
		return cmp.Or(cmp.Compare(a.Load, b.Load), cmp.Compare(a.Policy, b.Policy))
	})
	d.Profiles = d.thinProfiles(all)
}
