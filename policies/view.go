package policies

import (
	"math/rand/v2"

	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// View is what policies see of the fleet: the router's own count of requests
// in flight on each destination, raised at dispatch and lowered when the
// request ends. With a signal interval the counts are those of the last
// scrape, as behind a metrics poll; with 0 they are fresh.
type View struct {
	Now clock.Time // instant of the routing decision

	seen     loadIndex // what policies read
	live     []int32   // true counts; nil while the signal is fresh
	interval clock.Time
	scrapeAt clock.Time

	fleet   Fleet    // the destinations themselves, for policies that look into them
	signals []Signal // of the last scrape, if a policy looks and the signal is not fresh
}

// Signal is what a destination reports of itself, as a metrics endpoint would.
type Signal struct {
	Waiting, Running int
	KVUsage          float64 // share of the KV blocks that running requests hold, 0..1
}

// Fleet is the source of what a view knows of the destinations beyond the
// router's own counts.
type Fleet interface {
	// Signal is the present state of destination i.
	Signal(i int) Signal
	// Cached is how many prompt tokens of r destination i holds in its cache.
	Cached(r *workload.Request, i int) int
}

// Observe lets policies look into the destinations.
func (v *View) Observe(f Fleet) {
	v.fleet = f
	if v.interval > 0 {
		v.signals = make([]Signal, v.Destinations())
	}
}

// Signal is what destination i reported at the last scrape, or reports now if
// the signal is fresh.
func (v *View) Signal(i int) Signal {
	if v.signals != nil {
		return v.signals[i]
	}
	return v.fleet.Signal(i)
}

// Cached is how many prompt tokens of r destination i holds in its cache at this
// instant: whole blocks, and never the last token.
func (v *View) Cached(r *workload.Request, i int) int { return v.fleet.Cached(r, i) }

// NewView returns the view of an empty fleet of n destinations whose load
// signal is refreshed every interval; 0 means at once.
func NewView(n int, interval clock.Time) *View {
	v := &View{seen: newLoadIndex(n), interval: interval}
	if interval > 0 {
		v.live = make([]int32, n)
	}
	return v
}

// Destinations is the number of destinations R.
func (v *View) Destinations() int { return len(v.seen.load) }

// InFlight is q(r), the requests in flight on destination i.
func (v *View) InFlight(i int) int { return int(v.seen.load[i]) }

// Total is m, the sum of q over the fleet.
func (v *View) Total() int { return v.seen.total }

// LeastLoaded returns a destination with the smallest q, ties broken uniformly
// at random, in constant time.
func (v *View) LeastLoaded(rng *rand.Rand) int { return v.seen.least(rng) }

// Ascending returns all destinations in order of rising q. The caller must not
// change the slice, which is valid until the next event.
func (v *View) Ascending() []int32 { return v.seen.order }

// Advance moves the view to the present instant, before anything changes at it:
// a scrape sees what was in flight before the events of its instant.
func (v *View) Advance(now clock.Time) {
	v.Now = now
	if v.live != nil && now >= v.scrapeAt {
		v.seen.assign(v.live)
		for i := range v.signals {
			v.signals[i] = v.fleet.Signal(i)
		}
		v.scrapeAt = now - now%v.interval + v.interval
	}
}

// Dispatched counts one more request in flight on destination i.
func (v *View) Dispatched(i int) {
	if v.live != nil {
		v.live[i]++
		return
	}
	v.seen.raise(i)
}

// Done counts one request less in flight on destination i.
func (v *View) Done(i int) {
	if v.live != nil {
		v.live[i]--
		return
	}
	v.seen.lower(i)
}

// loadIndex keeps destinations sorted by load. Loads move by one, so a
// destination only ever crosses the border between two adjacent runs of equal
// load: raise, lower and least are O(1).
type loadIndex struct {
	load  []int32
	order []int32 // destinations by rising load
	place []int32 // place[order[i]] == i
	first []int32 // first[l]: index in order of the first destination with load >= l
	total int
}

func newLoadIndex(n int) loadIndex {
	x := loadIndex{load: make([]int32, n), order: make([]int32, n), place: make([]int32, n), first: make([]int32, 2, 64)}
	for i := range x.order {
		x.order[i], x.place[i] = int32(i), int32(i)
	}
	x.first[1] = int32(n)
	return x
}

// raise moves i from load l to l+1: it becomes the first of the run l+1.
func (x *loadIndex) raise(i int) {
	l := x.load[i]
	for int(l)+2 >= len(x.first) {
		x.first = append(x.first, int32(len(x.load)))
	}
	x.first[l+1]--
	x.swap(x.place[i], x.first[l+1])
	x.load[i]++
	x.total++
}

// lower moves i from load l to l-1: it becomes the last of the run l-1.
func (x *loadIndex) lower(i int) {
	l := x.load[i]
	x.swap(x.place[i], x.first[l])
	x.first[l]++
	x.load[i]--
	x.total--
}

func (x *loadIndex) swap(a, b int32) {
	i, j := x.order[a], x.order[b]
	x.order[a], x.order[b] = j, i
	x.place[j], x.place[i] = a, b
}

func (x *loadIndex) least(rng *rand.Rand) int {
	n := x.first[x.load[x.order[0]]+1]
	if n == 1 {
		return int(x.order[0])
	}
	return int(x.order[rng.IntN(int(n))])
}

// assign sets all loads, at a scrape.
func (x *loadIndex) assign(load []int32) {
	for i, want := range load {
		for x.load[i] < want {
			x.raise(i)
		}
		for x.load[i] > want {
			x.lower(i)
		}
	}
}
