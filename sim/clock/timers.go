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
// It is a winner tree: Set costs one comparison a level, Next costs none.
type Timers struct {
	leaves int     // power of two, >= number of timers
	at     []Time  // by timer; Never when stopped
	winner []int32 // winner[i] is the timer that wins node i; children 2i, 2i+1
}

// NewTimers returns n stopped timers, n >= 1.
func NewTimers(n int) *Timers {
	leaves := 1
	for leaves < n {
		leaves *= 2
	}
	t := &Timers{leaves: leaves, at: make([]Time, leaves), winner: make([]int32, 2*leaves)}
	for i := range t.at {
		t.at[i] = Never
		t.winner[leaves+i] = int32(i)
	}
	for i := leaves - 1; i >= 1; i-- {
		t.winner[i] = t.winner[2*i]
	}
	return t
}

// Set makes timer i pending at the given instant, whatever it was before.
func (t *Timers) Set(i int, at Time) {
	t.at[i] = at
	for n := (t.leaves + i) / 2; n >= 1; n /= 2 {
		l, r := t.winner[2*n], t.winner[2*n+1]
		if t.at[r] < t.at[l] {
			l = r
		}
		t.winner[n] = l
	}
}

// Stop makes timer i not pending.
func (t *Timers) Stop(i int) { t.Set(i, Never) }

// At returns when timer i is pending, Never if it is stopped.
func (t *Timers) At(i int) Time { return t.at[i] }

// Next returns the first pending timer and its instant; the instant is Never
// when no timer is pending. It does not change the timer.
func (t *Timers) Next() (int, Time) {
	i := int(t.winner[1])
	return i, t.at[i]
}
