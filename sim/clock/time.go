// Package clock is the ground floor of the simulator: integer time, the order
// of events, and named random streams. It imports the standard library only.
package clock

import (
	"fmt"
	"math"
)

// Time is an instant or a span in integer picoseconds. An instant counts from
// the start of the run. The range of an int64 is 106 days. Integers make sums
// of step prices associative, so that a run is the same on every machine and
// a span of many steps can be priced in closed form.
type Time int64

// Units of time.
const (
	Picosecond  Time = 1
	Nanosecond       = 1000 * Picosecond
	Microsecond      = 1000 * Nanosecond
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond

	// Never is later than every instant of a run.
	Never Time = math.MaxInt64
)

// FromSeconds rounds s seconds to the nearest picosecond. It panics when s is
// not a number or does not fit, which a caller excludes by checking its input.
func FromSeconds(s float64) Time {
	ps := math.RoundToEven(s * float64(Second))
	if !(math.Abs(ps) < math.MaxInt64) {
		panic(fmt.Sprintf("clock: %v s does not fit in a Time", s))
	}
	return Time(ps)
}

// Seconds returns t in seconds, exact to 53 bits.
func (t Time) Seconds() float64 { return float64(t) / float64(Second) }

// String prints t in seconds.
func (t Time) String() string {
	if t == Never {
		return "never"
	}
	return fmt.Sprintf("%.12gs", t.Seconds())
}
