package results

import "cacheroute/sim/clock"

// DriftInterval is the requests that arrived in one interval of a drift of the
// rates, whatever the measured window. The last one ends with the arrivals.
type DriftInterval struct {
	FromS     Float `json:"from_s"`
	Requests  int64 `json:"requests"`
	KVHit     Float `json:"kv_hit"`
	TTFTP99   Float `json:"ttft_p99_s"`
	Imbalance Float `json:"imbalance"` // max over mean of requests per destination
	// KV hit of what arrived at the start and at the end of the interval, and Dip,
	// how far the start lies below the end of the interval before.
	KVHitStart Float    `json:"kv_hit_start"`
	KVHitEnd   Float    `json:"kv_hit_end"`
	Dip        Float    `json:"dip"`
	Install    *Install `json:"install,omitempty"` // nil: no table was installed at its start
}

// Install is how a table installed at the start of an interval differs from
// the one before; all are fractions but the two imbalances.
type Install struct {
	Keys    Float `json:"keys"`    // admitted keys whose destinations changed
	Traffic Float `json:"traffic"` // their share of the requests to come
	Sets    Float `json:"sets"`    // mean over keys of 1 - Jaccard of the destination sets
	Pairs   Float `json:"pairs"`   // 1 - Jaccard of all (key, destination) pairs
	Counts  Float `json:"counts"`  // keys whose number of destinations changed
	// Largest over mean planned load under the rates of the interval: with the
	// table that was replaced, and with the new one.
	ImbalanceStale Float `json:"imbalance_stale"`
	ImbalanceFresh Float `json:"imbalance_fresh"`
}

// drift gathers what the intervals of a run come to.
type drift struct {
	every, edge clock.Time
	all         []driftInterval
}

type driftInterval struct {
	requests          int64
	whole, start, end tokens
	ttft              []clock.Time // of completed requests
	destination       []int64
}

// tokens are prompt tokens of admitted requests, and those found in the cache.
type tokens struct{ prompt, hit int64 }

func (t *tokens) add(rec *Record, hit int32) {
	t.prompt += int64(rec.Prompt)
	t.hit += int64(hit)
}

func (t tokens) rate() Float { return ratio(t.hit, t.prompt) }

// ByInterval measures each interval of a drift, and the hits within edge of its
// start and of its end by themselves.
func (c *Collector) ByInterval(every, edge clock.Time) { c.drift = &drift{every: every, edge: edge} }

func (d *drift) add(rec *Record, hit int32, destinations int) {
	i, within := int(rec.Arrival/d.every), rec.Arrival%d.every
	for len(d.all) <= i {
		d.all = append(d.all, driftInterval{destination: make([]int64, destinations)})
	}
	x := &d.all[i]
	x.requests++
	x.destination[rec.Destination]++
	if rec.Admitted {
		x.whole.add(rec, hit)
		if within < d.edge {
			x.start.add(rec, hit)
		}
		if within >= d.every-d.edge {
			x.end.add(rec, hit)
		}
	}
	if rec.Status == Completed {
		x.ttft = append(x.ttft, rec.TTFT)
	}
}

// intervals are those that begin in the window.
func (d *drift) intervals(w Window) []DriftInterval {
	var rows []DriftInterval
	before := undefined
	for i := range d.all {
		x := &d.all[i]
		row := DriftInterval{
			FromS: Float((clock.Time(i) * d.every).Seconds()), Requests: x.requests, KVHit: x.whole.rate(),
			TTFTP99: quantileOf(x.ttft, 99, int(x.requests)), Imbalance: imbalance(x.destination),
			KVHitStart: x.start.rate(), KVHitEnd: x.end.rate(), Dip: before - x.start.rate(),
		}
		before = row.KVHitEnd
		if w.Holds(clock.Time(i) * d.every) {
			rows = append(rows, row)
		}
	}
	return rows
}
