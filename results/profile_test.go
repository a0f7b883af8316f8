package results

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// Merged bins hold what a plain sum over the same intervals holds.
func TestTimelineEqualsPlainSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := NewCollector(Window{To: clock.Never}, 1, 1, 1)
		instants := rapid.SliceOfN(rapid.Int64Range(0, 1<<rapid.IntRange(30, 50).Draw(t, "scale")), 1, 200).Draw(t, "instants")
		slices.Sort(instants)
		for i, at := range instants {
			c.Load(clock.Time(at), int64(i), int64(i/2))
			c.Add(&Record{Arrival: clock.Time(at), Admitted: true, Prompt: 10,
				Hit: [workload.SegmentKinds]int32{int32(i % 7), 1}, Status: TimedOut})
		}
		p := c.Profile(nil, FleetTotals{}).Timeline
		width := int64(math.Round(float64(p.BinS) * float64(clock.Second)))
		if len(p.Requests) > mostBins || int64(len(p.Requests)) != instants[len(instants)-1]/width+1 {
			t.Fatalf("%d bins of %d ps for a run of %d ps", len(p.Requests), width, instants[len(instants)-1])
		}
		for b := range p.Requests {
			var n, hit, flight int64
			for i, at := range instants {
				if at/width == int64(b) {
					n++
					hit += int64(i%7) + 1
					flight += int64(i)
				}
			}
			if p.Requests[b] != n {
				t.Fatalf("bin %d has %d requests, want %d", b, p.Requests[b], n)
			}
			near(t, p.KVHit[b], float64(hit)/float64(10*n))
			near(t, p.InFlight[b], float64(flight)/float64(n))
		}
	})
}

func near(t *rapid.T, got Float, want float64) {
	t.Helper()
	if math.IsNaN(want) != math.IsNaN(float64(got)) || math.Abs(float64(got)-want) > 1e-4*math.Abs(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

// Every point of the distribution is the exact fraction at its edge, and the
// edges leave no gap of more than a sixteenth of an octave.
func TestECDFIsExactAtItsPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 1<<rapid.IntRange(1, 62).Draw(t, "scale")), 1, 100).Draw(t, "values")
		failed := rapid.IntRange(0, 20).Draw(t, "failed")
		s := newSeries(1)
		for _, v := range values {
			s.add(clock.Time(v))
		}
		e := s.ecdf(int64(len(values) + failed))
		near(t, e.Fraction[len(e.Fraction)-1], float64(len(values))/float64(len(values)+failed))
		for b := range 59 * octaveParts {
			edge := octaveEdge(b)
			if octaveBucket(edge) != b || octaveBucket(edge+1) != b+1 {
				t.Fatalf("bucket %d does not end at %d", b, edge)
			}
		}
		first := octaveBucket(clock.Time(slices.Min(values)))
		for i := range e.Seconds {
			n := 0
			for _, v := range values {
				if clock.Time(v) <= octaveEdge(first+i) {
					n++
				}
			}
			near(t, e.Fraction[i], float64(n)/float64(len(values)+failed))
			near(t, e.Seconds[i], octaveEdge(first+i).Seconds())
		}
	})
}

// A run whose load grows through the window says so; a steady one, or one of few
// requests, does not.
func TestGrowthIsDoubted(t *testing.T) {
	for _, c := range []struct {
		requests int
		slope    float64
		doubted  bool
	}{{2000, 0, false}, {2000, 1, true}, {100, 1, false}} {
		window := Window{From: 10 * clock.Second, To: 50 * clock.Second}
		col := NewCollector(window, 1, 1, c.requests)
		for i := range c.requests {
			at := clock.FromSeconds(50 * float64(i) / float64(c.requests))
			col.Arrived(&workload.Request{At: at, PromptTokens: 1, OutputTokens: 1})
			col.Load(at, 100+int64(c.slope*at.Seconds()*4), 0)
			col.Add(&Record{Arrival: at, Status: TimedOut, Prompt: 1})
		}
		got := false
		for _, w := range col.Cell(FleetTotals{End: window.To}).Warnings {
			got = got || strings.Contains(w, "requests in flight grow")
		}
		if got != c.doubted {
			t.Errorf("%d requests, %v more in flight a second: doubted %v", c.requests, 4*c.slope, got)
		}
	}
}
