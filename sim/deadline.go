package sim

import (
	"cacheroute/results"
	"cacheroute/sim/clock"
)

// deadlines is the line of requests whose clients may give up. All have the
// same patience, so the first to arrive is the first to expire. A request that
// ends is marked in the line, and skipped when it comes to the head: the line
// is walked in order and no request is looked up in vain.
type deadlines struct {
	ring        []watch // by turn, modulo its length
	first, last int64   // turns in the line: [first, last)
}

type watch struct {
	at   clock.Time
	slot int32 // of the flight, while the client waits for it
	open bool
}

func (d *deadlines) watch(turn int64) *watch { return &d.ring[turn&int64(len(d.ring)-1)] }

// push puts a watch at the end of the line and returns its turn.
func (d *deadlines) push(w watch) int64 {
	if d.last-d.first == int64(len(d.ring)) {
		old := *d
		d.ring = make([]watch, max(64, 2*len(old.ring)))
		for turn := old.first; turn < old.last; turn++ {
			*d.watch(turn) = *old.watch(turn)
		}
	}
	*d.watch(d.last) = w
	d.last++
	return d.last - 1
}

// watch lets the client of p give up after the deadline, which counts what the
// client sees: the overhead is part of it.
func (f *fleet) watch(p *flight) {
	at := p.request.At + f.cfg.Deadline - f.cfg.TTFTOverhead
	p.turn = f.deadline.push(watch{at, p.job.Slot, true})
	if f.deadline.last-f.deadline.first == 1 {
		f.timers.Set(len(f.engines)+deadlineTimer, at)
	}
}

// expire gives up the requests whose time has come and waits for the next open
// one.
func (f *fleet) expire() {
	d := &f.deadline
	for ; d.first < d.last; d.first++ {
		w := d.watch(d.first)
		if !w.open {
			continue
		}
		if w.at > f.now {
			f.timers.Set(len(f.engines)+deadlineTimer, w.at)
			return
		}
		f.giveUp(f.slots[w.slot])
	}
	f.timers.Stop(len(f.engines) + deadlineTimer)
}

func (f *fleet) giveUp(p *flight) {
	f.last = f.now
	e := f.engines[p.dest]
	forgotten := e.Abort(&p.job, f.now)
	f.timers.Set(int(p.dest), e.Cut(f.now))
	f.end(p, results.TimedOut)
	if forgotten {
		f.recycle(p)
	}
}
