package results

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Censor says on which side the ladder of loads has cut a capacity off.
type Censor string

// A seed is open if a load above its knee has not run, censored on the left if
// it fails at every load of its ladder and on the right if it passes at the
// highest. Several seeds are open if one of them is or has not run at all,
// censored left or right if all of them are, not censored if none is, else mixed.
const (
	CensorNone  Censor = "none"
	CensorLeft  Censor = "left"
	CensorRight Censor = "right"
	CensorMixed Censor = "mixed"
	CensorOpen  Censor = "open"
)

// Capacity is a knee: the highest load that passes, never a bare number. QPS is
// a lower bound where it is censored: 0 on the left (the truth is below the
// lowest load), the highest load on the right. So it is for an open seed.
type Capacity struct {
	QPS    float64 `json:"qps"`
	Censor Censor  `json:"censor"`
}

// SeedCapacity is the capacity that one seed found.
type SeedCapacity struct {
	Seed uint64 `json:"seed"`
	Capacity
}

// CapacityRow is the capacity of one policy under one objective: the mean of
// the knees of its seeds (paper, section 4 and App. B.2).
type CapacityRow struct {
	Policy         string         `json:"policy"`
	SLO            float64        `json:"slo_ttft_p99_s"`
	MaxFailureRate float64        `json:"max_failure_rate"`
	QPS            Interval       `json:"qps"`
	Censor         Censor         `json:"censor"`
	PerSeed        []SeedCapacity `json:"per_seed"`
	Warnings       []string       `json:"warnings"`
}

// Passes reports whether the cell meets the objective. A window without a
// request has no p99 and does not pass.
func (c *Cell) Passes(slo, maxFailure float64) bool {
	return float64(c.TTFTP99) <= slo && float64(c.FailureRate) <= maxFailure
}

// knee returns the highest load of one seed's ladder, sorted by load, that
// passes, and whether a lower one fails: then it gives that load, else 0.
func knee(ladder []*Cell, slo, maxFailure float64) (c Capacity, failsBelow float64) {
	c.Censor = CensorLeft
	failed := 0.0
	for i, cell := range ladder {
		if !cell.Passes(slo, maxFailure) {
			failed = cell.LoadQPS
			continue
		}
		c = Capacity{cell.LoadQPS, CensorNone}
		failsBelow = failed
		if i == len(ladder)-1 {
			c.Censor = CensorRight
		}
	}
	return c, failsBelow
}

// extent is what the cells of a policy are when all have run.
type extent struct {
	rungs int       // loads of a ladder; 0: each seed has its own
	part  bool      // cells may be missing: then loads and seeds are those of the study
	loads []float64 // sorted
	seeds int
}

// opens reports whether a load above the knee of a sorted ladder is missing.
func (e *extent) opens(ladder []*Cell, knee float64) bool {
	above := func(load float64) bool { return load > knee }
	ran := 0
	for _, c := range ladder {
		if above(c.LoadQPS) {
			ran++
		}
	}
	first := slices.IndexFunc(e.loads, above)
	return e.part && first >= 0 && ran < len(e.loads)-first
}

// newCapacityRow finds the knees of one policy. seeds holds a ladder for each
// seed.
func newCapacityRow(policy string, seeds [][]*Cell, e *extent, slo, maxFailure float64) CapacityRow {
	row := CapacityRow{Policy: policy, SLO: slo, MaxFailureRate: maxFailure, Warnings: []string{}}
	warn := func(format string, args ...any) { row.Warnings = append(row.Warnings, fmt.Sprintf(format, args...)) }
	var censors []Censor
	var qps []float64
	for _, ladder := range seeds {
		seed := ladder[0].Seed
		k, fails := knee(ladder, slo, maxFailure)
		if e.opens(ladder, k.QPS) {
			k.Censor = CensorOpen
		}
		row.PerSeed = append(row.PerSeed, SeedCapacity{seed, k})
		qps = append(qps, k.QPS)
		censors = append(censors, k.Censor)
		if fails > 0 {
			warn("seed %d passes at %s QPS but fails at %s: where low loads are the slowest, their caches were still cold", seed, Shortly(k.QPS), Shortly(fails))
		}
		if len(ladder) < e.rungs {
			warn("seed %d has run %d of %d loads", seed, len(ladder), e.rungs)
		}
	}
	row.QPS, row.Censor = NewInterval(qps), mergeCensors(censors)
	n := len(seeds)
	if n < e.seeds {
		row.Censor = CensorOpen
		warn("%d of %d seeds have run", n, e.seeds)
	}
	if text := row.censorWords(seeds[0][0].LoadQPS); text != "" {
		row.Warnings = append(row.Warnings, text)
	}
	switch {
	case n == 1:
		warn("one seed: no interval")
	case n <= 3:
		warn("%d seeds only: wide interval", n)
	}
	return row
}

// mergeCensors is the censoring of several seeds.
func mergeCensors(seeds []Censor) Censor {
	if slices.Contains(seeds, CensorOpen) {
		return CensorOpen
	}
	for _, c := range seeds {
		if c != seeds[0] {
			return CensorMixed
		}
	}
	return seeds[0]
}

// censorWords says which part of the ladder is missing, empty if none is.
func (r *CapacityRow) censorWords(lowest float64) string {
	n, inside := len(r.PerSeed), 0
	for _, k := range r.PerSeed {
		if k.Censor == CensorNone {
			inside++
		}
	}
	every := ""
	if n > 1 {
		every = " at every seed"
	}
	switch r.Censor {
	case CensorLeft:
		return fmt.Sprintf("below %s%s: add lower loads", Shortly(lowest), every)
	case CensorRight:
		return fmt.Sprintf("above %s%s: add higher loads", Shortly(float64(r.QPS.Mean)), every)
	case CensorMixed:
		return fmt.Sprintf("%d of %d seeds lie outside the ladder of loads: the mean is a lower bound", n-inside, n)
	case CensorOpen:
		return "cells of its ladder have not run: the capacity is open"
	}
	return ""
}

// Shortly prints a load or an objective: whole if it is, else to four digits, as a search has them
// and as nobody reads more of a recorded rate.
func Shortly(v float64) string {
	if v == math.Trunc(v) || v >= 1e4 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
