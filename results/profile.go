package results

import (
	"math"
	"math/bits"

	"cacheroute/sim/clock"
)

// Profile is what a chart of one cell needs and no column holds: where its
// requests went, how many were in time, how the run went over time, and how
// TTFT is distributed.
type Profile struct {
	// Destinations is the measured requests by destination.
	Destinations  []int64       `json:"destinations"`
	ByDestination ByDestination `json:"by_destination"`
	Within        []Within      `json:"within"` // by objective as given
	Timeline      Timeline      `json:"timeline"`
	TTFT          ECDF          `json:"ttft"`
}

// Within is the measured requests that completed with a TTFT of at most SLO
// seconds. Over the length of the window they are the goodput.
type Within struct {
	SLO      float64 `json:"slo_ttft_s"`
	Requests int64   `json:"requests"`
}

// Timeline follows the whole run, warm-up included, in bins of BinS seconds
// from its start, by the instant of arrival. A bin without arrivals is null.
type Timeline struct {
	FromS    Float   `json:"from_s"` // start of the measured window
	ToS      Float   `json:"to_s"`   // its end, null for that of the run
	BinS     Float   `json:"bin_s"`
	Requests []int64 `json:"requests"`
	KVHit    []Float `json:"kv_hit"`    // cached over prompt tokens of the admitted requests
	InFlight []Float `json:"in_flight"` // on the fleet, mean over what each arrival saw
	Waiting  []Float `json:"waiting"`   // of them without a first token yet
}

// ECDF is an empirical distribution: Fraction[i] of all measured requests had a
// value of at most Seconds[i]. It is exact at these points, which lie 1/16 of
// an octave apart (4.4 %). Failed requests never arrive, so the last fraction
// is the share of completed ones.
type ECDF struct {
	Seconds  []Float `json:"s"`
	Fraction []Float `json:"fraction"`
}

// Profile returns the profile of the run, for these objectives of TTFT.
func (c *Collector) Profile(slos []float64, f FleetTotals) Profile {
	p := Profile{
		Destinations:  append([]int64{}, c.destination...),
		ByDestination: c.byDestination(f),
		Within:        []Within{},
		Timeline:      c.timeline.profile(),
		TTFT:          c.ttft.ecdf(c.arrived),
	}
	for _, slo := range slos {
		p.Within = append(p.Within, Within{slo, c.ttft.within(slo)})
	}
	p.Timeline.FromS, p.Timeline.ToS = Float(c.window.From.Seconds()), undefined
	if c.window.To != clock.Never {
		p.Timeline.ToS = Float(c.window.To.Seconds())
	}
	return p
}

// within counts the values of at most so many seconds, by the same comparison
// as Passes.
func (s *series) within(seconds float64) (n int64) {
	s.each(func(chunk []clock.Time) {
		for _, v := range chunk {
			if v.Seconds() <= seconds {
				n++
			}
		}
	})
	return n
}

func (t *timeline) profile() Timeline {
	p := Timeline{BinS: Float(clock.Time(1 << t.shift).Seconds()),
		Requests: []int64{}, KVHit: []Float{}, InFlight: []Float{}, Waiting: []Float{}}
	for _, b := range t.bins {
		p.Requests = append(p.Requests, b.requests)
		p.KVHit = append(p.KVHit, ratio(b.hit, b.prompt).rounded())
		p.InFlight = append(p.InFlight, ratio(b.inFlight, b.requests).rounded())
		p.Waiting = append(p.Waiting, ratio(b.waiting, b.requests).rounded())
	}
	return p
}

// rounded keeps five digits, enough for a chart.
func (f Float) rounded() Float {
	if x := float64(f); x != 0 && !math.IsNaN(x) && !math.IsInf(x, 0) {
		unit := math.Pow(10, math.Floor(math.Log10(math.Abs(x)))-4)
		return Float(math.Round(x/unit) * unit)
	}
	return f
}

// octaveParts is the number of buckets in a factor of two.
const octaveParts = 16

// ecdf counts the series in buckets whose edges are (16+k)/16 powers of two of
// a picosecond.
func (s *series) ecdf(of int64) ECDF {
	var counts [64 * octaveParts]int64
	s.each(func(chunk []clock.Time) {
		for _, v := range chunk {
			counts[octaveBucket(v)]++
		}
	})
	e := ECDF{Seconds: []Float{}, Fraction: []Float{}}
	below, open := int64(0), false
	for b, n := range counts {
		below += n
		if open = open && below < int64(s.len()) || n > 0; open {
			e.Seconds = append(e.Seconds, Float(octaveEdge(b).Seconds()).rounded())
			e.Fraction = append(e.Fraction, ratio(below, of).rounded())
		}
	}
	return e
}

// octaveBucket numbers the buckets by the leading five bits of v.
func octaveBucket(v clock.Time) int {
	if v < octaveParts {
		return int(v)
	}
	shift := bits.Len64(uint64(v)) - 5
	return (shift+1)*octaveParts + int(v>>shift) - octaveParts
}

// octaveEdge is the largest value of a bucket.
func octaveEdge(b int) clock.Time {
	if b < octaveParts {
		return clock.Time(b)
	}
	shift := b/octaveParts - 1
	return clock.Time(uint64(octaveParts+b%octaveParts+1)<<shift - 1)
}
