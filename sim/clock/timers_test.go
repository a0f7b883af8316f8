package clock_test

import (
	"testing"

	"pgregory.net/rapid"

	"cacheroute/sim/clock"
)

// The winner tree agrees with a scan for the lowest index among the earliest.
func TestTimersAgreeWithScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 70).Draw(t, "timers")
		last := rapid.SampledFrom([]int64{0, 2, 1000, int64(clock.Never)}).Draw(t, "latest instant")
		timers := clock.NewTimers(n)
		at := make([]clock.Time, n)
		for i := range at {
			at[i] = clock.Never
		}
		for range rapid.IntRange(1, 200).Draw(t, "changes") {
			i := rapid.IntRange(0, n-1).Draw(t, "timer")
			if rapid.IntRange(0, 4).Draw(t, "stop") == 0 {
				at[i] = clock.Never
				timers.Stop(i)
			} else {
				at[i] = clock.Time(rapid.Int64Range(0, last).Draw(t, "at"))
				timers.Set(i, at[i])
			}
			first := 0
			for i := range at {
				if at[i] < at[first] {
					first = i
				}
				if timers.At(i) != at[i] {
					t.Fatalf("timer %d is pending at %d, was set to %d", i, timers.At(i), at[i])
				}
			}
			switch i, next := timers.Next(); {
			case next != at[first]:
				t.Fatalf("the first of %d is at %d, not at %d", at, next, at[first])
			case next != clock.Never && i != first:
				t.Fatalf("timer %d comes before timer %d among %d", i, first, at)
			}
		}
	})
}

// Popping all timers sorts them, ties by index, however they were moved before.
func TestTimersSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.SliceOfN(rapid.Int64Range(0, 9), 1, 40).Draw(t, "instants")
		timers := clock.NewTimers(len(at))
		for i := range at {
			timers.Set(len(at)-1-i, clock.Time(rapid.Int64Range(0, 9).Draw(t, "moved from")))
		}
		for i, a := range at {
			timers.Set(i, clock.Time(a))
		}
		before, beforeAt := -1, clock.Time(-1)
		for range at {
			i, next := timers.Next()
			if next != clock.Time(at[i]) || next < beforeAt || next == beforeAt && i < before {
				t.Fatalf("timer %d at %d follows timer %d at %d", i, next, before, beforeAt)
			}
			before, beforeAt = i, next
			timers.Stop(i)
		}
		if _, next := timers.Next(); next != clock.Never {
			t.Fatalf("something is left at %d", next)
		}
	})
}
