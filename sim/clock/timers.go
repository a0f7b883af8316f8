package clock

// Timers is the event queue: a fixed set of timers, each pending at one
// instant or stopped. A run has few kinds of events and each kind is pending at
// most once per owner (the end of a destination's step, the next arrival), so
// an event is a timer that is set again, never an entry that must be found and
// cancelled.
//
// Order: earliest instant first, then lowest timer index. Owners are numbered
// in the order in which simultaneous events must run, so no sequence number is
// needed and the order does not depend on how often a timer was moved.
//
// It is a winner tree whose nodes hold the winning entry itself: Set compares
// two neighbours a level and stops at the first level that it does not change,
// Next costs nothing.
type Timers struct {
	leaves int     // power of two, >= number of timers
	tree   []entry // tree[leaves+i] is timer i; node n wins over 2n and 2n+1
}

type entry struct {
	at    Time // Never when stopped
	timer int32
}

// NewTimers returns n stopped timers, n >= 1.
func NewTimers(n int) *Timers {
	leaves := 1
	for leaves < n {
		leaves *= 2
	}
	t := &Timers{leaves: leaves, tree: make([]entry, 2*leaves)}
	for i := range leaves {
		t.tree[leaves+i] = entry{Never, int32(i)}
	}
	for i := leaves - 1; i >= 1; i-- {
		t.tree[i] = t.tree[2*i]
	}
	return t
}

// Set makes timer i pending at the given instant, whatever it was before.
func (t *Timers) Set(i int, at Time) {
	n := t.leaves + i
	t.tree[n].at = at
	for n /= 2; n >= 1; n /= 2 {
		winner := t.tree[2*n]
		if right := t.tree[2*n+1]; right.at < winner.at {
			winner = right
		}
		if t.tree[n] == winner {
			return
		}
		t.tree[n] = winner
	}
}

// Stop makes timer i not pending.
func (t *Timers) Stop(i int) { t.Set(i, Never) }

// At returns when timer i is pending, Never if it is stopped.
func (t *Timers) At(i int) Time { return t.tree[t.leaves+i].at }

// Next returns the first pending timer and its instant; the instant is Never
// when no timer is pending. It does not change the timer.
func (t *Timers) Next() (int, Time) { return int(t.tree[1].timer), t.tree[1].at }
