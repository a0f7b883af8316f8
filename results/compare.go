package results

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Comparison is two results side by side, each difference B - A. Paired
// differences are taken seed by seed, as equal seeds of an equal workload are
// the same requests; unpaired ones are those of the means.
type Comparison struct {
	A           Side               `json:"a"`
	B           Side               `json:"b"`
	Paired      bool               `json:"paired"`
	Differences []Difference       `json:"differences"` // of the two studies and what made them
	LeftOut     []string           `json:"left_out"`    // what is not compared and why
	Rows        []ComparedRow      `json:"rows"`        // by pair of policies, load
	Capacity    []ComparedCapacity `json:"capacity"`    // by pair of policies, objective
}

// Side names one of the two.
type Side struct {
	Dir     string `json:"dir"`
	Study   string `json:"study"`
	Version string `json:"version"`
	Commit  string `json:"commit"`
}

// Difference is a field that the two do not share; empty: one does not have it.
type Difference struct {
	Field string `json:"field"`
	A     string `json:"a"`
	B     string `json:"b"`
}

// ComparedRow is two policies at one load.
type ComparedRow struct {
	PolicyA     string  `json:"policy_a"`
	PolicyB     string  `json:"policy_b"`
	LoadQPS     float64 `json:"load_qps"`
	SeedsA      int     `json:"seeds_a"`
	SeedsB      int     `json:"seeds_b"`
	TTFTP99     Change  `json:"ttft_p99_s"`
	KVHit       Change  `json:"kv_hit"`
	Imbalance   Change  `json:"imbalance"`
	FailureRate Change  `json:"failure_rate"`
	Throughput  Change  `json:"throughput_qps"`
}

// Change is a figure of A and of B, means over the seeds, and B - A. An infinite
// p99 makes the difference infinite, two of them make it undefined.
type Change struct {
	A    Float    `json:"a"`
	B    Float    `json:"b"`
	Diff Interval `json:"b_minus_a"`
}

// Clear reports whether the interval of the difference leaves out 0.
func (c Change) Clear() bool { return float64(c.Diff.Lo) > 0 || float64(c.Diff.Hi) < 0 }

// Bound says what a difference of capacities is, where some are censored.
type Bound string

// The difference is as given, at least that, at most that, or not known.
const (
	BoundNone  Bound = "none"
	BoundLower Bound = "lower"
	BoundUpper Bound = "upper"
	BoundOpen  Bound = "open"
)

// ComparedCapacity is two policies under one objective.
type ComparedCapacity struct {
	PolicyA string   `json:"policy_a"`
	PolicyB string   `json:"policy_b"`
	SLO     float64  `json:"slo_ttft_p99_s"`
	A       Interval `json:"a"`
	B       Interval `json:"b"`
	CensorA Censor   `json:"censor_a"`
	CensorB Censor   `json:"censor_b"`
	Diff    Interval `json:"b_minus_a"` // without an interval unless Bound is none
	Bound   Bound    `json:"bound"`
	Ratio   Float    `json:"b_over_a"` // undefined unless neither is censored

	rungsA, rungsB rungs
}

// Selection is what two summaries are compared on.
type Selection struct {
	Policies [][2]string // of A and of B
	Loads    []float64
	Seeds    []uint64  // of both, if paired; else those of each
	SLOs     []float64 // none: no capacities
	Paired   bool
}

// compared are the figures of a row.
var compared = []struct {
	figure func(*Cell) Float
	change func(*ComparedRow) *Change
}{
	{func(c *Cell) Float { return c.TTFTP99 }, func(r *ComparedRow) *Change { return &r.TTFTP99 }},
	{func(c *Cell) Float { return c.KVHit }, func(r *ComparedRow) *Change { return &r.KVHit }},
	{func(c *Cell) Float { return c.Imbalance }, func(r *ComparedRow) *Change { return &r.Imbalance }},
	{func(c *Cell) Float { return c.FailureRate }, func(r *ComparedRow) *Change { return &r.FailureRate }},
	{func(c *Cell) Float { return c.ThroughputQPS }, func(r *ComparedRow) *Change { return &r.Throughput }},
}

// Compare fills in rows and capacities. Pairs of policies without a cell at a
// load have no row there.
func (c *Comparison) Compare(a, b *Summary, s Selection) {
	c.Paired, c.Rows, c.Capacity = s.Paired, []ComparedRow{}, []ComparedCapacity{}
	for _, pair := range s.Policies {
		for _, load := range s.Loads {
			of, with := a.cellsOf(pair[0], load, s), b.cellsOf(pair[1], load, s)
			if len(of) == 0 || len(with) == 0 || s.Paired && len(of) != len(with) {
				continue
			}
			row := ComparedRow{PolicyA: pair[0], PolicyB: pair[1], LoadQPS: load, SeedsA: len(of), SeedsB: len(with)}
			for _, f := range compared {
				*f.change(&row) = newChange(valuesOf(of, f.figure), valuesOf(with, f.figure), s.Paired)
			}
			c.Rows = append(c.Rows, row)
		}
		for _, slo := range s.SLOs {
			ra, rb := a.capacity(pair[0], slo), b.capacity(pair[1], slo)
			if ra != nil && rb != nil {
				c.Capacity = append(c.Capacity, compareCapacity(a, b, ra, rb, s))
			}
		}
	}
}

// cellsOf are the cells of a policy at a load by seed, of the selected seeds if
// paired.
func (s *Summary) cellsOf(policy string, load float64, sel Selection) []*Cell {
	var all []*Cell
	for i := range s.Cells {
		c := &s.Cells[i]
		if c.Policy == policy && c.LoadQPS == load && (!sel.Paired || slices.Contains(sel.Seeds, c.Seed)) {
			all = append(all, c)
		}
	}
	return all
}

func valuesOf(cells []*Cell, figure func(*Cell) Float) []float64 {
	values := make([]float64, len(cells))
	for i, c := range cells {
		values[i] = float64(figure(c))
	}
	return values
}

// NewPaired compares values that belong together one by one.
func NewPaired(a, b []float64) Change { return newChange(a, b, true) }

func newChange(a, b []float64, paired bool) Change {
	c := Change{A: NewInterval(a).Mean, B: NewInterval(b).Mean}
	if paired {
		c.Diff = NewInterval(minus(b, a))
	} else {
		c.Diff = welch(a, b)
	}
	return c
}

func minus(b, a []float64) []float64 {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = b[i] - a[i]
	}
	return d
}

// welch is the difference of two means with its 95 % interval by Welch's
// approximation (Biometrika 34, 1947), which assumes no common variance.
func welch(a, b []float64) Interval {
	ma, va := meanVariance(a)
	mb, vb := meanVariance(b)
	d := Float(mb - ma)
	if len(a) < 2 || len(b) < 2 || !d.Finite() {
		return Interval{d, undefined, undefined}
	}
	va, vb = va/float64(len(a)), vb/float64(len(b))
	if va+vb == 0 {
		return Interval{d, d, d}
	}
	freedom := (va + vb) * (va + vb) / (float64(va*va)/float64(len(a)-1) + float64(vb*vb)/float64(len(b)-1))
	half := Float(distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile(0.975) * math.Sqrt(va+vb))
	return Interval{d, d - half, d + half}
}

func meanVariance(values []float64) (mean, variance float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		variance += float64((v-mean)*(v-mean)) / (n - 1)
	}
	return mean, variance
}

// knees returns the least and the greatest capacity that each selected seed can
// have: they differ where the ladder has cut it off.
func (s *Summary) knees(row *CapacityRow, sel Selection) (lo, hi []float64) {
	for _, k := range row.PerSeed {
		if sel.Paired && !slices.Contains(sel.Seeds, k.Seed) {
			continue
		}
		l, h := k.QPS, k.QPS
		switch k.Censor {
		case CensorLeft:
			h = s.lowestLoad(row.Policy, k.Seed)
		case CensorRight, CensorOpen:
			h = math.Inf(1)
		}
		lo, hi = append(lo, l), append(hi, h)
	}
	return lo, hi
}

func compareCapacity(a, b *Summary, ra, rb *CapacityRow, s Selection) ComparedCapacity {
	c := ComparedCapacity{PolicyA: ra.Policy, PolicyB: rb.Policy, SLO: ra.SLO, CensorA: ra.Censor, CensorB: rb.Censor, Ratio: undefined}
	aLo, aHi := a.knees(ra, s)
	bLo, bHi := b.knees(rb, s)
	c.A, c.B = NewInterval(aLo), NewInterval(bLo)
	c.rungsA, c.rungsB = newRungs(a.loadsOf(ra.Policy), aLo), newRungs(b.loadsOf(rb.Policy), bLo)
	least, most := NewInterval(bLo).Mean-NewInterval(aHi).Mean, NewInterval(bHi).Mean-NewInterval(aLo).Mean
	switch {
	case least == most:
		c.Bound = BoundNone
		c.Diff = newChange(aLo, bLo, s.Paired).Diff
		if c.A.Mean > 0 {
			c.Ratio = c.B.Mean / c.A.Mean
		}
		return c
	case least.Finite() && (!most.Finite() || least >= 0):
		c.Bound, c.Diff.Mean = BoundLower, least
	case most.Finite() && (!least.Finite() || most <= 0):
		c.Bound, c.Diff.Mean = BoundUpper, most
	default:
		c.Bound, c.Diff.Mean = BoundOpen, undefined
	}
	c.Diff.Lo, c.Diff.Hi = undefined, undefined
	return c
}
