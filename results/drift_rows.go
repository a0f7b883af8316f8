package results

import (
	"fmt"
	"strings"
)

// DriftRow is one interval of a drift for one policy and load, over the seeds.
type DriftRow struct {
	Policy     string   `json:"policy"`
	LoadQPS    float64  `json:"load_qps"`
	FromS      Float    `json:"from_s"`
	Seeds      int      `json:"seeds"`
	KVHit      Interval `json:"kv_hit"`
	TTFTP99    Interval `json:"ttft_p99_s"`
	Imbalance  Interval `json:"imbalance"`
	KVHitStart Interval `json:"kv_hit_start"`
	KVHitEnd   Interval `json:"kv_hit_end"`
	Dip        Interval `json:"dip"`
	// Install is the same for all seeds but for random ties or placement: mean.
	Install *Install `json:"install,omitempty"`
}

// newDriftRows are the intervals of the cells of one policy and load.
func newDriftRows(seeds []Cell) []DriftRow {
	var rows []DriftRow
	for i := range seeds[0].Intervals {
		var same []*DriftInterval // in each seed
		for s := range seeds {
			if i < len(seeds[s].Intervals) {
				same = append(same, &seeds[s].Intervals[i])
			}
		}
		over := func(figure func(*DriftInterval) Float) Interval {
			values := make([]float64, len(same))
			for s, x := range same {
				values[s] = float64(figure(x))
			}
			return NewInterval(values)
		}
		rows = append(rows, DriftRow{
			Policy: seeds[0].Policy, LoadQPS: seeds[0].LoadQPS, FromS: same[0].FromS, Seeds: len(same),
			KVHit:      over(func(x *DriftInterval) Float { return x.KVHit }),
			TTFTP99:    over(func(x *DriftInterval) Float { return x.TTFTP99 }),
			Imbalance:  over(func(x *DriftInterval) Float { return x.Imbalance }),
			KVHitStart: over(func(x *DriftInterval) Float { return x.KVHitStart }),
			KVHitEnd:   over(func(x *DriftInterval) Float { return x.KVHitEnd }),
			Dip:        over(func(x *DriftInterval) Float { return x.Dip }),
			Install:    meanInstall(same),
		})
	}
	return rows
}

// meanInstall is the mean over those that had one, nil if none had.
func meanInstall(same []*DriftInterval) *Install {
	var sum Install
	n := Float(0)
	for _, x := range same {
		if x.Install == nil {
			continue
		}
		n++
		for i, to := range sum.figures() {
			*to += *x.Install.figures()[i]
		}
	}
	if n == 0 {
		return nil
	}
	for _, to := range sum.figures() {
		*to /= n
	}
	return &sum
}

func (x *Install) figures() []*Float {
	return []*Float{&x.Keys, &x.Traffic, &x.Sets, &x.Pairs, &x.Counts, &x.ImbalanceStale, &x.ImbalanceFresh}
}

// drifts prints the intervals of a drift.
func (p *printer) drifts() {
	fmt.Fprintln(p.w)
	p.line(bold, fmt.Sprintf("by interval of drift, mean over %s:", plural(p.seeds, "seed")))
	fmt.Fprintln(p.w)
	name := width("policy")
	for _, policy := range p.policies {
		name = max(name, width(policy))
	}
	line := func(code string, cells ...string) {
		text := padRight(cells[0], name)
		for i, width := range []int{7, 8, 6, 8, 11, 8, 8, 8, 8, 12} {
			text += pad(cells[i+1], width)
		}
		p.line(code, strings.TrimRight(text, " "))
	}
	line(bold, "policy", "QPS", "from s", "hit", "p99 s", "imbalance", "dip", "sets", "traffic", "counts", "max/mean")
	for i := range p.Drift {
		r := &p.Drift[i]
		cells := []string{r.Policy, Shortly(r.LoadQPS), Shortly(float64(r.FromS)), percent(r.KVHit.Mean), seconds(r.TTFTP99.Mean),
			short(float64(r.Imbalance.Mean)), points(r.Dip.Mean), "-", "-", "-", "-"}
		if x := r.Install; x != nil {
			cells = append(cells[:7], percent(x.Sets), percent(x.Traffic), percent(x.Counts),
				fmt.Sprintf("%s %s", short(float64(x.ImbalanceStale)), short(float64(x.ImbalanceFresh))))
		}
		line("", cells...)
	}
	fmt.Fprintln(p.w)
	p.line(dim, wrap("dip: points of KV hit lost from the end of the interval before to the start of this one; with a new table: sets, mean 1 - Jaccard of the keys' destinations in %; "+
		"traffic, % of it that moves; counts, % of keys with another number of destinations; max/mean, of the planned load under the rates of the interval with the old and with the new table", lineWidth, ""))
}

// points is a difference of fractions in percent.
func points(f Float) string {
	if !f.Finite() {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100*float64(f))
}
