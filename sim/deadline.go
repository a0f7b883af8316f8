package sim

import (
	"cacheroute/results"
	"cacheroute/sim/clock"
)

// deadlines is the line of requests whose clients may give up. All have the
// same patience, so the first to arrive is the first to expire, and ended
// requests are skipped when they come to the head.
type deadlines struct {
	ring        []watch
	head, count int
}

type watch struct {
	at    clock.Time
	index int64 // of the request, as its flight may carry another by then
	p     *flight
}

func (w watch) open() bool { return w.p.open && w.p.request.Index == w.index }

func (d *deadlines) push(w watch) {
	if d.count == len(d.ring) {
		ring := make([]watch, max(64, 2*len(d.ring)))
		for i := range d.count {
			ring[i] = d.ring[(d.head+i)&(len(d.ring)-1)]
		}
		d.ring, d.head = ring, 0
	}
	d.ring[(d.head+d.count)&(len(d.ring)-1)] = w
	d.count++
}

func (d *deadlines) pop() {
	d.head = (d.head + 1) & (len(d.ring) - 1)
	d.count--
}

// watch lets the client of p give up after the deadline, which counts what the
// client sees: the overhead is part of it.
func (f *fleet) watch(p *flight) {
	at := p.request.At + f.cfg.Deadline - f.cfg.TTFTOverhead
	f.deadline.push(watch{at, p.request.Index, p})
	if f.deadline.count == 1 {
		f.timers.Set(len(f.engines)+deadlineTimer, at)
	}
}

// expire gives up the requests whose time has come and waits for the next open
// one.
func (f *fleet) expire() {
	d := &f.deadline
	for ; d.count > 0; d.pop() {
		w := d.ring[d.head]
		if !w.open() {
			continue
		}
		if w.at > f.now {
			f.timers.Set(len(f.engines)+deadlineTimer, w.at)
			return
		}
		f.giveUp(w.p)
	}
	f.timers.Stop(len(f.engines) + deadlineTimer)
}

func (f *fleet) giveUp(p *flight) {
	e := f.engines[p.dest]
	forgotten := e.Abort(&p.job, f.now)
	f.timers.Set(int(p.dest), e.Cut(f.now))
	f.end(p, results.TimedOut)
	if forgotten {
		f.recycle(p)
	}
}
