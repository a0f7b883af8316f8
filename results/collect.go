package results

import (
	"fmt"
	"math"

	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// Collector turns the requests of one run into a Cell. It keeps 24 bytes a
// measured request and allocates nothing once it has seen those it expected.
type Collector struct {
	window Window

	arrivedRun, endedRun int64 // whole run
	arrived              int64 // from here on: requests that arrived in the window
	status               [StatusCount]int64
	ttft, tpot, e2e      series // of completed requests
	destination          []int64
	key                  []uint32
	gaps                 gaps
	askedPrompt          int64 // tokens of all requests
	askedOutput          int64
	prompt               int64 // tokens of the requests that hits are of
	hit                  [workload.SegmentKinds]int64
	emitted              int64 // tokens of completed requests
	preemptions          int64
	timeline             timeline       // of the whole run
	lastEnd              clock.Time     // of a request
	untilEnd             bool           // rates are over the time until lastEnd
	drift                *drift         // nil: intervals are not measured
	apart                *byDestination // nil: destinations are not told apart
	noHits               bool           // hits mean nothing
	served               bool           // hits are of first tokens in the window

	unsound      int64 // records that contradict themselves, of the window
	firstUnsound Record
}

// FleetTotals are the sums of a whole run over its destinations.
type FleetTotals struct {
	End              clock.Time   // instant of the last event
	Busy             []clock.Time // by destination: time spent in steps
	Steps            int64
	Preemptions      int64
	PrefillTokens    int64
	RecomputedTokens int64
	DecodeTokens     int64
	Requests         int64 // all that arrived
}

// NewCollector returns a collector for a run over the given numbers of keys and
// destinations. expect is the number of requests to make room for.
func NewCollector(w Window, keys, destinations, expect int) *Collector {
	return &Collector{
		window:      w,
		ttft:        newSeries(expect),
		tpot:        newSeries(expect),
		e2e:         newSeries(expect),
		destination: make([]int64, destinations),
		key:         make([]uint32, keys),
		timeline:    newTimeline(),
	}
}

// UntilDrained makes throughput and output rate those of the time from the
// window's start until the last of its requests has ended, as benches reckon
// that wait for their answers.
func (c *Collector) UntilDrained() { c.untilEnd = true }

// HitsUnknown leaves all hits undefined: the workload does not say what prompts
// share.
func (c *Collector) HitsUnknown() { c.noHits = true }

// HitsServed makes hits those of the requests whose first token falls into the
// window, whenever they arrived. Counters of engines that are read at its two
// ends have them like that: what waits in a queue at the end is not in them.
func (c *Collector) HitsServed() { c.served = true }

// Arrived counts an arrival. Each is to be told once, in order of time.
func (c *Collector) Arrived(r *workload.Request) {
	c.arrivedRun++
	if !c.window.Holds(r.At) {
		return
	}
	c.arrived++
	c.key[r.Key]++
	c.gaps.add(r.At)
	c.askedPrompt += int64(r.PromptTokens)
	c.askedOutput += int64(r.OutputTokens)
}

// Load tells how many requests were in flight on the fleet, and how many of
// them had no first token, when a request arrived at the given instant.
func (c *Collector) Load(at clock.Time, inFlight, waiting int64) {
	b := c.timeline.at(at)
	b.requests++
	b.inFlight += inFlight
	b.waiting += waiting
}

// Add counts a request that has ended. Each is to be told once, in any order.
func (c *Collector) Add(rec *Record) {
	c.endedRun++
	hit := int32(0)
	for _, n := range rec.Hit {
		hit += n
	}
	if rec.Admitted && !c.noHits {
		b := c.timeline.at(rec.Arrival)
		b.prompt += int64(rec.Prompt)
		b.hit += int64(hit)
	}
	if c.drift != nil {
		c.drift.add(rec, hit, len(c.destination))
	}
	if c.apart != nil {
		c.apart.inFlight[rec.Destination]--
	}
	if c.countsHit(rec) {
		c.prompt += int64(rec.Prompt)
		for k, n := range rec.Hit {
			c.hit[k] += int64(n)
		}
		if c.apart != nil {
			c.apart.hits[rec.Destination].add(rec, hit)
		}
	}
	if !c.window.Holds(rec.Arrival) {
		return
	}
	c.lastEnd = max(c.lastEnd, rec.Arrival+rec.E2E)
	c.status[rec.Status]++
	c.destination[rec.Destination]++
	if c.apart != nil && rec.Status == Completed {
		c.apart.completed = append(c.apart.completed, rec.Destination)
	}
	c.preemptions += int64(rec.Preemptions)
	if hit > rec.Prompt {
		c.contradiction(rec)
	}
	if rec.Status != Completed {
		return
	}
	if !rec.Admitted || rec.Emitted != rec.Output || rec.TTFT < 0 || rec.TTFT > rec.E2E-rec.Handling {
		c.contradiction(rec)
	}
	c.emitted += int64(rec.Emitted)
	c.ttft.add(rec.TTFT)
	c.e2e.add(rec.E2E)
	if rec.Emitted > 1 {
		c.tpot.add((rec.E2E - rec.Handling - rec.TTFT) / clock.Time(rec.Emitted-1))
	}
}

// countsHit reports whether the hits of a request are in those of the window.
func (c *Collector) countsHit(rec *Record) bool {
	switch {
	case !rec.Admitted || c.noHits:
		return false
	case c.served:
		return rec.Emitted > 0 && c.window.Holds(rec.Arrival+rec.TTFT)
	}
	return c.window.Holds(rec.Arrival)
}

func (c *Collector) contradiction(rec *Record) {
	if c.unsound == 0 {
		c.firstUnsound = *rec
	}
	c.unsound++
}

// Check reports a request that was lost, counted twice or whose record
// contradicts itself. It is to be asked when the run has ended.
func (c *Collector) Check() error {
	var ended int64
	for _, n := range c.status {
		ended += n
	}
	switch {
	case c.endedRun != c.arrivedRun:
		return fmt.Errorf("%d requests arrived, %d ended", c.arrivedRun, c.endedRun)
	case ended != c.arrived:
		return fmt.Errorf("%d requests arrived in the measured window, %d of them ended", c.arrived, ended)
	case c.unsound > 0:
		return fmt.Errorf("%d records contradict themselves, the first is %+v", c.unsound, c.firstUnsound)
	}
	return nil
}

// Cell returns the figures of the run. The caller fills in what names the cell
// (Policy, LoadQPS, Seed, Fingerprint) and what was asked of the workload.
func (c *Collector) Cell(f FleetTotals) Cell {
	completed := c.status[Completed]
	n := int(c.arrived)
	length := c.length().Seconds()
	served := length
	if c.untilEnd {
		served = max(0, c.lastEnd-c.window.From).Seconds()
	}
	cell := Cell{
		WindowS:  Float(length),
		Requests: c.arrived, Completed: completed,
		RefusedPrompt: c.status[RefusedPrompt], RefusedGrowth: c.status[RefusedGrowth],
		TimedOut: c.status[TimedOut], Unfinished: c.status[Unfinished],

		TTFTP50: c.ttft.quantile(50, n), TTFTP90: c.ttft.quantile(90, n), TTFTP99: c.ttft.quantile(99, n),
		TTFTP99Completed: c.ttft.quantile(99, c.ttft.len()), TTFTMean: c.ttft.mean(),
		E2EP50: c.e2e.quantile(50, n), E2EP90: c.e2e.quantile(90, n), E2EP99: c.e2e.quantile(99, n),
		E2EMean: c.e2e.mean(), TPOTMean: c.tpot.mean(),

		Imbalance:       imbalance(c.destination),
		FailureRate:     ratio(c.arrived-completed, c.arrived),
		ThroughputQPS:   perSecond(completed, served),
		OutputTokensPer: perSecond(c.emitted, served),
		Preemptions:     c.preemptions,

		AskedQPS: undefined, AskedGapCV: undefined, AskedGini: undefined,
		AskedPromptTokens: undefined, AskedOutputTokens: undefined,
		RealisedQPS: perSecond(c.arrived, length), RealisedGapCV: c.gaps.cv(), RealisedGini: gini(c.key),
		RealisedPromptTokens: ratio(c.askedPrompt, c.arrived), RealisedOutputTokens: ratio(c.askedOutput, c.arrived),
	}
	n = c.tpot.len()
	cell.TPOTP50, cell.TPOTP90, cell.TPOTP99 = c.tpot.quantile(50, n), c.tpot.quantile(90, n), c.tpot.quantile(99, n)
	c.fillHits(&cell)
	f.fill(&cell)
	if c.drift != nil {
		cell.Intervals = c.drift.intervals(c.window)
	}
	cell.Warnings = warnings(c.arrived)
	if early, late := c.timeline.growth(c.window); c.arrived >= growthRequests && late > growthFactor*(early+1) {
		cell.Warnings = append(cell.Warnings, fmt.Sprintf("requests in flight grow from %.3g to %.3g within the window: not sustained for longer", early, late))
	}
	return cell
}

func (c *Collector) fillHits(cell *Cell) {
	var all int64
	for _, n := range c.hit {
		all += n
	}
	cell.KVHit = ratio(all, c.prompt)
	cell.KVHitTemplate = ratio(c.hit[workload.Template], c.prompt)
	cell.KVHitContext = ratio(c.hit[workload.Context], c.prompt)
	cell.KVHitRetrieved = ratio(c.hit[workload.Retrieved], c.prompt)
	cell.KVHitHistory = ratio(c.hit[workload.History], c.prompt)
	cell.KVHitTurn = ratio(c.hit[workload.Turn], c.prompt)
	cell.KVHitPrefix = ratio(c.hit[workload.Prefix], c.prompt)
}

func (f FleetTotals) fill(cell *Cell) {
	busy := 0.0
	for _, b := range f.Busy {
		busy += b.Seconds()
	}
	cell.RunUtilisation = undefined
	if f.End > 0 && len(f.Busy) > 0 {
		cell.RunUtilisation = Float(busy / float64(len(f.Busy)) / f.End.Seconds())
	}
	cell.RunEndS = Float(f.End.Seconds())
	cell.RunRequests, cell.RunSteps, cell.RunPreemptions = f.Requests, f.Steps, f.Preemptions
	cell.RunPrefillTokens, cell.RunRecomputedTokens, cell.RunDecodeTokens = f.PrefillTokens, f.RecomputedTokens, f.DecodeTokens
}

// length is that of the window; a window without end ends with its last
// arrival.
func (c *Collector) length() clock.Time {
	if c.window.To == clock.Never {
		return max(0, c.gaps.last-c.window.From)
	}
	return max(0, c.window.To-c.window.From)
}

func perSecond(n int64, seconds float64) Float {
	if seconds == 0 {
		return undefined
	}
	return Float(float64(n) / seconds)
}

// A run whose requests in flight grow like this from the second to the last
// quarter of its window is overloaded: what passes an objective here fails it in
// a longer window. Fewer requests tell nothing.
const (
	growthFactor   = 1.25
	growthRequests = 400
)

// warnings says what is doubtful in a cell of n measured requests. Nearest rank
// takes the largest of n values for p99 as soon as n < 100.
func warnings(n int64) []string {
	switch {
	case n == 0:
		return []string{"no request in the measured window"}
	case n < 100:
		return []string{"fewer than 100 requests: p99 is the maximum"}
	}
	return []string{}
}

func imbalance(counts []int64) Float {
	var most, sum int64
	for _, n := range counts {
		most = max(most, n)
		sum += n
	}
	return ratio(most*int64(len(counts)), sum)
}

// gini is the Gini coefficient of the counts, zeros included, in whole numbers:
// sum over rising ranks i of (2i-n-1)*count, over n times the sum of counts.
// Counting the counts takes the place of sorting them.
func gini(counts []uint32) Float {
	most := uint32(0)
	for _, x := range counts {
		most = max(most, x)
	}
	keysWith := make([]int64, int(most)+1)
	for _, x := range counts {
		keysWith[x]++
	}
	n := int64(len(counts))
	var below, weighted, sum int64
	for x, m := range keysWith { // m keys at the ranks below+1 .. below+m
		weighted += m * (2*below + m - n) * int64(x)
		below += m
		sum += m * int64(x)
	}
	return ratio(weighted, n*sum)
}

// gaps keeps mean and variance of the gaps between arrivals. Sums are taken of
// the difference to the first gap, so that equal gaps have no variance at all.
type gaps struct {
	last, first clock.Time
	n           int64 // arrivals
	sum, square float64
}

func (g *gaps) add(at clock.Time) {
	gap := at - g.last
	g.last = at
	g.n++
	switch g.n {
	case 1:
		return
	case 2:
		g.first = gap
	}
	d := float64(gap - g.first)
	g.sum += d
	g.square += float64(d * d)
}

// cv is the coefficient of variation of the gaps (sample deviation over mean).
func (g *gaps) cv() Float {
	n := float64(g.n - 1)
	if n < 2 {
		return undefined
	}
	mean := float64(g.first) + g.sum/n
	variance := (g.square - float64(g.sum*g.sum)/n) / (n - 1)
	if !(mean > 0) {
		return undefined
	}
	return Float(math.Sqrt(max(0, variance)) / mean)
}
