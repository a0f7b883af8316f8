package clock_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"cacheroute/sim/clock"
)

func TestFromSecondsRoundsToPicoseconds(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		want    clock.Time
	}{
		{0, 0}, {1, clock.Second}, {-1, -clock.Second}, {1e-12, 1}, {1e-3, clock.Millisecond},
		{0.4e-12, 0}, {0.6e-12, 1}, {-0.6e-12, -1},
		{0.5e-12, 0}, {1.5e-12, 2}, // halves to even
		{0.1, 100 * clock.Millisecond}, {60, 60 * clock.Second}, {9e6, 9_000_000 * clock.Second},
	} {
		if got := clock.FromSeconds(c.seconds); got != c.want {
			t.Errorf("%v s are %d ps, want %d", c.seconds, got, c.want)
		}
	}
}

// An instant comes back from its seconds as long as two roundings to 53 bits
// stay below half a picosecond, which is for 18 minutes.
func TestSecondsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := clock.Time(rapid.Int64Range(-1<<50, 1<<50).Draw(t, "ps"))
		if back := clock.FromSeconds(at.Seconds()); back != at {
			t.Fatalf("%d ps came back as %d", at, back)
		}
	})
}

func TestFromSecondsPanicsBeyondItsRange(t *testing.T) {
	for _, s := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 9.3e6, -9.3e6, 1e300} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v s fit in a Time", s)
				}
			}()
			clock.FromSeconds(s)
		}()
	}
}

func TestTimePrintsSeconds(t *testing.T) {
	for at, want := range map[clock.Time]string{
		clock.Never: "never", 0: "0s", 1500 * clock.Millisecond: "1.5s", clock.Picosecond: "1e-12s",
	} {
		if at.String() != want {
			t.Errorf("%d ps print as %q, want %q", int64(at), at, want)
		}
	}
}
