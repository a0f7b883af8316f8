package results

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
		var installs []*Install
		for s := range seeds {
			if i < len(seeds[s].Intervals) {
				x := &seeds[s].Intervals[i]
				same, installs = append(same, x), append(installs, x.Install)
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
			Install:    meanInstall(installs),
		})
	}
	return rows
}

// meanInstall is the mean over those that are one, nil if none is.
func meanInstall(all []*Install) *Install {
	var sum Install
	n := Float(0)
	for _, x := range all {
		if x == nil {
			continue
		}
		n++
		for i, to := range sum.figures() {
			*to += *x.figures()[i]
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
