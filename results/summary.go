package results

import (
	"cmp"
	"slices"
)

// Summary is what a study comes to: every cell, the figures of each load over
// the seeds (ladder) and the capacities. All but WallS and CPUS follows from
// the cells alone, so that equal cells give equal bytes.
type Summary struct {
	Study             string        `json:"study"`
	Cells             []Cell        `json:"cells"`    // by policy as given, load, seed
	Ladder            []LadderRow   `json:"ladder"`   // by policy as given, load
	Capacity          []CapacityRow `json:"capacity"` // by policy as given, objective as given
	Drift             []DriftRow    `json:"drift"`    // by policy as given, load, start; empty without a drift
	SimulatedRequests int64         `json:"simulated_requests"`
	WallS             float64       `json:"wall_s"` // filled in by the caller, as is CPUS
	CPUS              float64       `json:"cpu_s"`
}

// LadderRow is one policy at one load, over its seeds.
type LadderRow struct {
	Policy          string   `json:"policy"`
	LoadQPS         float64  `json:"load_qps"`
	Seeds           int      `json:"seeds"`
	Requests        int64    `json:"requests"` // of all seeds
	TTFTP50         Interval `json:"ttft_p50_s"`
	TTFTP99         Interval `json:"ttft_p99_s"` // infinite if it is for one seed
	TPOTP50         Interval `json:"tpot_p50_s"`
	E2EP99          Interval `json:"e2e_p99_s"`
	KVHit           Interval `json:"kv_hit"`
	Imbalance       Interval `json:"imbalance"`
	FailureRate     Interval `json:"failure_rate"`
	ThroughputQPS   Interval `json:"throughput_qps"`
	OutputTokensPer Interval `json:"output_tokens_per_s"`
	Utilisation     Interval `json:"run_utilisation"`
}

// Summarise orders the cells and works out ladder and capacities for each
// objective. Policies keep the order of their first cells. The cells given are
// left as they are.
func Summarise(study string, cells []Cell, slos []float64, maxFailure float64) Summary {
	loads := map[float64]bool{}
	for i := range cells {
		loads[cells[i].LoadQPS] = true
	}
	return summarise(study, cells, &extent{rungs: len(loads)}, slos, maxFailure)
}

// SummarisePart is Summarise for some of the cells of a study: a capacity that
// a missing one of these loads and seeds may move is open.
func SummarisePart(study string, cells []Cell, loads []float64, seeds int, slos []float64, maxFailure float64) Summary {
	e := &extent{rungs: len(loads), part: true, loads: slices.Sorted(slices.Values(loads)), seeds: seeds}
	return summarise(study, cells, e, slos, maxFailure)
}

// SummariseSearch is Summarise for cells of which each policy and seed has loads
// of its own, around its knees.
func SummariseSearch(study string, cells []Cell, slos []float64, maxFailure float64) Summary {
	return summarise(study, cells, &extent{}, slos, maxFailure)
}

func summarise(study string, cells []Cell, e *extent, slos []float64, maxFailure float64) Summary {
	s := Summary{Study: study, Cells: slices.Clone(cells), Ladder: []LadderRow{}, Capacity: []CapacityRow{}, Drift: []DriftRow{}}
	policies, place := []string{}, map[string]int{}
	for i := range cells {
		name := cells[i].Policy
		if _, ok := place[name]; !ok {
			place[name] = len(policies)
			policies = append(policies, name)
		}
		s.SimulatedRequests += cells[i].RunRequests
	}
	slices.SortStableFunc(s.Cells, func(a, b Cell) int {
		return cmp.Or(cmp.Compare(place[a.Policy], place[b.Policy]), cmp.Compare(a.LoadQPS, b.LoadQPS), cmp.Compare(a.Seed, b.Seed))
	})
	rest := s.Cells
	for _, policy := range policies {
		n := 0
		for n < len(rest) && rest[n].Policy == policy {
			n++
		}
		s.addLadder(rest[:n])
		seeds := bySeed(rest[:n])
		for _, slo := range slos {
			s.Capacity = append(s.Capacity, newCapacityRow(policy, seeds, e, slo, maxFailure))
		}
		rest = rest[n:]
	}
	return s
}

// bySeed deals the sorted cells of one policy into a ladder for each seed, by
// rising seed.
func bySeed(cells []Cell) [][]*Cell {
	ladders := map[uint64][]*Cell{}
	var seeds []uint64
	for i := range cells {
		seed := cells[i].Seed
		if ladders[seed] == nil {
			seeds = append(seeds, seed)
		}
		ladders[seed] = append(ladders[seed], &cells[i])
	}
	slices.Sort(seeds)
	sorted := make([][]*Cell, len(seeds))
	for i, seed := range seeds {
		sorted[i] = ladders[seed]
	}
	return sorted
}

// addLadder adds a row for each load of the sorted cells of one policy.
func (s *Summary) addLadder(cells []Cell) {
	for len(cells) > 0 {
		n := 1
		for n < len(cells) && cells[n].LoadQPS == cells[0].LoadQPS {
			n++
		}
		s.Ladder = append(s.Ladder, newLadderRow(cells[:n]))
		s.Drift = append(s.Drift, newDriftRows(cells[:n])...)
		cells = cells[n:]
	}
}

func newLadderRow(seeds []Cell) LadderRow {
	over := func(figure func(*Cell) Float) Interval {
		values := make([]float64, len(seeds))
		for i := range seeds {
			values[i] = float64(figure(&seeds[i]))
		}
		return NewInterval(values)
	}
	row := LadderRow{
		Policy: seeds[0].Policy, LoadQPS: seeds[0].LoadQPS, Seeds: len(seeds),
		TTFTP50:         over(func(c *Cell) Float { return c.TTFTP50 }),
		TTFTP99:         over(func(c *Cell) Float { return c.TTFTP99 }),
		TPOTP50:         over(func(c *Cell) Float { return c.TPOTP50 }),
		E2EP99:          over(func(c *Cell) Float { return c.E2EP99 }),
		KVHit:           over(func(c *Cell) Float { return c.KVHit }),
		Imbalance:       over(func(c *Cell) Float { return c.Imbalance }),
		FailureRate:     over(func(c *Cell) Float { return c.FailureRate }),
		ThroughputQPS:   over(func(c *Cell) Float { return c.ThroughputQPS }),
		OutputTokensPer: over(func(c *Cell) Float { return c.OutputTokensPer }),
		Utilisation:     over(func(c *Cell) Float { return c.RunUtilisation }),
	}
	for i := range seeds {
		row.Requests += seeds[i].Requests
	}
	return row
}
