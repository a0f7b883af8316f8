package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"cacheroute/sim/clock"
)

// ClosedArrivals are clients that wait for the answer to their request, think,
// and send the next one, as benches do. All begin at once. The offered load of a
// study is then the number of clients.
type ClosedArrivals struct {
	// ThinkS is the mean time in seconds between an answer, or giving up, and
	// the client's next request.
	ThinkS float64 `yaml:"think_s" jsonschema:"minimum=0,maximum=1e6"`
	// Think is constant or exponential.
	Think string `yaml:"think" jsonschema:"enum=constant,enum=exponential"`
}

// Closed is a Source whose arrivals depend on the answers.
type Closed interface {
	// Source yields the next request at the instant that NextAt gives.
	Source
	// NextAt is when the next request arrives as things stand; Never if all
	// clients wait.
	NextAt() clock.Time
	// Ended tells that the client of a request is free at an instant that is
	// not before the ends told so far.
	Ended(r *Request, at clock.Time)
}

// About implements ArrivalSpec.
func (*ClosedArrivals) About() string {
	return "closed loop, the load is the number of clients: think_s, think constant or exponential"
}

// Check implements ArrivalSpec.
func (a *ClosedArrivals) Check() error {
	if a.Think != "constant" && a.Think != "exponential" {
		return fmt.Errorf("think: must be constant or exponential, got %q", a.Think)
	}
	return between("think_s", a.ThinkS, 0, 1e6)
}

// Build implements ArrivalSpec.
func (a *ClosedArrivals) Build() (ArrivalProcess, error) { return a, nil }

// GapCV implements ArrivalProcess.
func (*ClosedArrivals) GapCV() float64 { return math.NaN() }

// Start implements ArrivalProcess. The load is a number of clients, rounded to
// at least one.
func (a *ClosedArrivals) Start(load float64, rng *rand.Rand) Arrivals {
	return &clients{spec: a, rng: rng, ready: make([]clock.Time, max(1, int(math.Round(load))))}
}

// clients holds when each free client sends its next request, the first last.
type clients struct {
	spec  *ClosedArrivals
	rng   *rand.Rand
	ready []clock.Time
}

// Next implements Arrivals for those who ask in vain: gaps need answers.
func (*clients) Next() (clock.Time, bool) { return 0, false }

func (c *clients) nextAt() clock.Time {
	if len(c.ready) == 0 {
		return clock.Never
	}
	return c.ready[len(c.ready)-1]
}

func (c *clients) send() clock.Time {
	at := c.nextAt()
	c.ready = c.ready[:len(c.ready)-1]
	return at
}

func (c *clients) free(at clock.Time) {
	think := c.spec.ThinkS * float64(clock.Second)
	if c.spec.Think == "exponential" {
		think *= c.rng.ExpFloat64()
	}
	at += toGap(think)
	i, _ := slices.BinarySearchFunc(c.ready, at, func(have, at clock.Time) int {
		if have >= at { // the longest free of equals goes first
			return -1
		}
		return 1
	})
	c.ready = slices.Insert(c.ready, i, at)
}

// closedSynthetic is the source of a cell with closed arrivals.
type closedSynthetic struct {
	*synthetic
	clients *clients
}

// Next implements Source.
func (c *closedSynthetic) Next(r *Request) bool {
	if c.NextAt() == clock.Never {
		return false
	}
	c.at = c.clients.send()
	c.fill(r)
	return true
}

// NextAt implements Closed.
func (c *closedSynthetic) NextAt() clock.Time { return c.clients.nextAt() }

// Ended implements Closed.
func (c *closedSynthetic) Ended(_ *Request, at clock.Time) { c.clients.free(at) }
