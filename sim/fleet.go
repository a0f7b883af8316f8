package sim

import (
	"fmt"
	"math/bits"

	"cacheroute/engine"
	"cacheroute/policies"
	"cacheroute/results"
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// Simultaneous events run in the order of their timers: the ends of steps by
// destination, then the arrival, then the deadlines. So a destination that gets
// free at the instant of an arrival is free for it, and an answer at the
// instant of its deadline is in time.
const (
	arriveTimer   = iota // + number of destinations
	deadlineTimer        // + number of destinations
	fleetTimers
)

// fleet is the state of a run.
type fleet struct {
	cfg      Config
	timers   *clock.Timers
	engines  []engine.Destination
	view     *policies.View
	observer policies.Observer // the policy, if it wants to be told
	closed   workload.Closed   // the source, if its arrivals depend on answers
	now      clock.Time
	last     clock.Time // last instant at which something happened; a deadline may find nothing to do
	outcomes []engine.Outcome

	slots    []*flight // every request in the system has one
	spare    []int32
	pending  *flight // the next arrival
	deadline deadlines

	arrived  int64
	ended    [results.StatusCount]int64
	inFlight int64
	waiting  int64 // of them without a first token
	record   results.Record
	print    uint64

	// Little's law, exactly and modulo 2^64 ps: requests in flight summed over
	// time, against the spans of the requests.
	area, sojourn uint64
	areaAt        clock.Time
}

// flight is a request on its way.
type flight struct {
	request workload.Request
	job     engine.Job
	dest    int32
	open    bool       // the client waits for it
	first   clock.Time // instant of the first token
	turn    int64      // in the line of deadlines; -1: the client is patient
}

func newFleet(cfg Config) *fleet {
	f := &fleet{
		cfg:     cfg,
		timers:  clock.NewTimers(cfg.Destinations + fleetTimers),
		engines: make([]engine.Destination, cfg.Destinations),
		view:    policies.NewView(cfg.Destinations, cfg.SignalInterval),
	}
	for i := range f.engines {
		if cfg.NewDestination != nil {
			f.engines[i] = cfg.NewDestination(cfg.Engine)
		} else {
			f.engines[i] = engine.New(cfg.Engine)
		}
	}
	f.observer, _ = cfg.Policy.(policies.Observer)
	f.closed, _ = cfg.Source.(workload.Closed)
	if _, looks := cfg.Policy.(policies.Insider); looks {
		f.view.Observe(inside{f})
	}
	return f
}

// loop runs all events. It fails if an instant does not fit the clock.
func (f *fleet) loop() error {
	fleetSize := len(f.engines)
	for {
		i, at := f.timers.Next()
		if at == clock.Never {
			return nil
		}
		if at < f.now {
			return fmt.Errorf("the clock ran over: after %v comes %v; the prices or spans of the study are beyond the %v of a run", f.now, at, clock.Never-1)
		}
		if f.cfg.Limit > 0 && at > f.cfg.Limit {
			f.stop(f.cfg.Limit)
			return nil
		}
		f.now = at
		switch i - fleetSize {
		default:
			f.stepEnd(i)
		case arriveTimer:
			f.arrive()
		case deadlineTimer:
			f.expire()
		}
	}
}

// prepare draws the next arrival and sets its timer. A request of a closed loop
// is drawn when it arrives: until then an answer may bring an earlier one.
func (f *fleet) prepare() {
	if f.pending == nil {
		f.pending = f.slot()
	}
	timer := len(f.engines) + arriveTimer
	if f.closed != nil {
		at := f.closed.NextAt()
		if at >= f.cfg.End {
			at = clock.Never
		}
		f.timers.Set(timer, at)
		return
	}
	if !f.cfg.Source.Next(&f.pending.request) || f.pending.request.At >= f.cfg.End {
		f.timers.Stop(timer)
		return
	}
	if at := f.pending.request.At; at < f.now {
		panic(fmt.Sprintf("sim: request %d arrives at %v, before %v", f.pending.request.Index, at, f.now))
	}
	f.timers.Set(timer, f.pending.request.At)
}

// drawn checks the request that arrives now.
func (f *fleet) drawn(r *workload.Request) {
	if f.closed != nil && !f.closed.Next(r) {
		panic("sim: a closed source announced a request and has none")
	}
	if r.At != f.now || r.PromptTokens < 1 || r.OutputTokens < 1 {
		panic(fmt.Sprintf("sim: request %d arrives at %v, not at %v, with %d prompt and %d output tokens", r.Index, r.At, f.now, r.PromptTokens, r.OutputTokens))
	}
}

// arrive routes the pending request and hands it to its destination.
func (f *fleet) arrive() {
	f.last = f.now
	p := f.pending
	f.pending = nil
	f.drawn(&p.request)
	f.arrived++
	f.cfg.Collector.Arrived(&p.request)
	f.cfg.Collector.Load(f.now, f.inFlight, f.waiting)
	f.view.Advance(f.now)
	d := f.cfg.Policy.Route(&p.request, f.view)
	if d < 0 || d >= len(f.engines) {
		panic(fmt.Sprintf("sim: the policy chose destination %d of %d", d, len(f.engines)))
	}
	f.view.Dispatched(d)
	f.cfg.Collector.Routed(d)
	f.count(1)
	f.waiting++
	p.dest, p.open, p.turn = int32(d), true, -1
	f.stamp(uint64(p.request.Index), uint64(d))
	p.job.Reset(&p.request)

	e := f.engines[d]
	switch {
	case !e.Enqueue(&p.job):
		f.end(p, results.RefusedPrompt)
		f.recycle(p)
	case e.Idle():
		f.start(d)
	case !e.Closed():
		f.timers.Set(d, e.Cut(f.now))
	}
	if p.open && f.cfg.Deadline > 0 {
		f.watch(p)
	}
	f.prepare()
}

// start begins the next span of destination d.
func (f *fleet) start(d int) {
	var ends clock.Time
	ends, f.outcomes = f.engines[d].Start(f.now, f.outcomes[:0])
	f.timers.Set(d, ends)
	f.apply()
}

// stepEnd applies the span of destination d that ends now and begins the next.
func (f *fleet) stepEnd(d int) {
	f.last = f.now
	e := f.engines[d]
	f.outcomes = e.Finish(f.now, f.outcomes[:0])
	var ends clock.Time
	ends, f.outcomes = e.Start(f.now, f.outcomes)
	f.timers.Set(d, ends)
	f.apply()
}

// apply acts on what a destination reported.
func (f *fleet) apply() {
	for _, o := range f.outcomes {
		p := f.slots[o.Job.Slot]
		switch o.Kind {
		case engine.FirstToken:
			p.first = f.now
			f.waiting--
			f.stamp(uint64(p.request.Index), 1<<32)
			if f.observer != nil {
				f.observer.FirstToken(&p.request, int(p.dest), f.now)
			}
			continue
		case engine.Completed:
			f.end(p, results.Completed)
		case engine.RefusedGrowth:
			f.end(p, results.RefusedGrowth)
		}
		f.recycle(p)
	}
}

// end closes a request for its client.
func (f *fleet) end(p *flight, s results.Status) {
	r, j := &p.request, &p.job
	f.record = results.Record{
		Index: r.Index, Arrival: r.At, E2E: f.now - r.At + f.cfg.TTFTOverhead,
		Key: r.Key, Destination: p.dest, Prompt: r.PromptTokens, Output: r.OutputTokens,
		Emitted: j.Emitted, Preemptions: j.Preemptions, Hit: j.Hit, Admitted: j.Admitted, Status: s,
	}
	if j.Emitted > 0 {
		f.record.TTFT = p.first - r.At + f.cfg.TTFTOverhead
	} else {
		f.waiting--
	}
	if s == results.Completed {
		f.record.Handling = f.cfg.ClientOverhead
		f.record.E2E += f.cfg.ClientOverhead
	}
	f.cfg.Collector.Add(&f.record)
	if f.cfg.Each != nil {
		f.cfg.Each(&f.record)
	}
	p.open = false
	if p.turn >= 0 {
		f.deadline.watch(p.turn).open = false
	}
	f.ended[s]++
	f.sojourn += uint64(f.now - r.At)
	f.view.Advance(f.now) // a scrape that is due sees the request in flight
	f.view.Done(int(p.dest))
	f.count(-1)
	f.stamp(uint64(r.Index), uint64(s)<<40|uint64(j.Preemptions)<<48|uint64(j.Emitted))
	if f.observer != nil {
		f.observer.Done(r, int(p.dest), f.now)
	}
	if f.closed != nil {
		f.closed.Ended(r, f.now+f.cfg.TTFTOverhead+f.record.Handling)
		f.prepare()
	}
}

// stop ends the run at an instant with requests still in flight. The step under
// way on a destination is the last one that it applies.
func (f *fleet) stop(at clock.Time) {
	f.now, f.last = at, at
	for _, p := range f.slots {
		if p.open {
			f.engines[p.dest].Abort(&p.job, at)
			f.end(p, results.Unfinished)
		}
	}
	for _, e := range f.engines {
		if !e.Idle() {
			e.Cut(at)
			f.outcomes = e.Finish(at, f.outcomes[:0])
		}
	}
}

// slot returns a free flight.
func (f *fleet) slot() *flight {
	if k := len(f.spare); k > 0 {
		p := f.slots[f.spare[k-1]]
		f.spare = f.spare[:k-1]
		return p
	}
	p := &flight{}
	p.job.Slot = int32(len(f.slots))
	f.slots = append(f.slots, p)
	return p
}

func (f *fleet) recycle(p *flight) { f.spare = append(f.spare, p.job.Slot) }

// count adds n requests in flight from now on.
func (f *fleet) count(n int64) {
	f.area += uint64(f.now-f.areaAt) * uint64(f.inFlight)
	f.areaAt = f.now
	f.inFlight += n
}

// stamp mixes an event at the current instant into the fingerprint.
func (f *fleet) stamp(a, b uint64) {
	hi, lo := bits.Mul64(f.print^uint64(f.now)^0x9e3779b97f4a7c15, a<<1^b^0xd1342543de82ef95)
	f.print = hi ^ lo ^ f.print<<7 ^ f.print>>57
}
