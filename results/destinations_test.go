package results

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// Three destinations, the last of which gets nothing: what the window holds, and
// the longest queues of the whole run.
func TestByDestination(t *testing.T) {
	c := NewCollector(Window{From: 10 * clock.Second, To: 20 * clock.Second}, 1, 3, 0)
	c.ByDestination()
	send := func(atS float64, destination int) *Record {
		at := clock.FromSeconds(atS)
		c.Arrived(&workload.Request{At: at})
		c.Routed(destination)
		return &Record{Arrival: at, Destination: int32(destination), Prompt: 100, Output: 1, Emitted: 1, Admitted: true, Status: Completed}
	}
	end := func(rec *Record, hit int32, ttft clock.Time, status Status) {
		rec.Hit[workload.Prefix], rec.TTFT, rec.E2E, rec.Status = hit, ttft, ttft, status
		c.Add(rec)
	}
	early := send(1, 0)
	a, b := send(10, 0), send(11, 0) // three in flight on 0
	end(early, 90, clock.Second, Completed)
	end(a, 20, clock.Second, Completed)
	end(b, 40, 3*clock.Second, Completed)
	end(send(12, 1), 50, 2*clock.Second, Completed)
	end(send(13, 1), 60, 2*clock.Second, TimedOut)
	totals := FleetTotals{End: 20 * clock.Second, Busy: []clock.Time{10 * clock.Second, 5 * clock.Second, 0}}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	p := c.Profile(nil, totals)
	nan := Float(math.NaN())
	want := ByDestination{
		KVHit: []Float{0.3, 0.55, nan}, TTFTP99: []Float{3, infinite, nan},
		RunBusy: []Float{0.5, 0.25, 0}, RunMostInFlight: []int64{3, 1, 0},
	}
	same := cmp.Comparer(func(a, b Float) bool { return a == b || a != a && b != b || math.Abs(float64(a-b)) < 1e-12 })
	if diff := cmp.Diff(want, p.ByDestination, same); diff != "" {
		t.Errorf("by destination (-want +got):\n%s", diff)
	}

	path := filepath.Join(t.TempDir(), "profiles.json")
	p.ByDestination.RunBusy = p.ByDestination.RunBusy[1:]
	if err := WriteProfiles(path, []CellProfile{{"a", 1, 1, p}}); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadProfiles(path); err == nil || !strings.Contains(err.Error(), "not whole") {
		t.Errorf("a list that is cut short: %v", err)
	}
}

// The p99 of the only destination is that of the cell, and nothing is left in
// flight.
func TestByDestinationOfOne(t *testing.T) {
	c := NewCollector(Window{To: clock.Never}, 1, 1, 4)
	c.ByDestination()
	for i := range 500 {
		rec := &Record{Arrival: clock.Time(i) * clock.Second, TTFT: clock.Time(i*i%977) * clock.Millisecond, Prompt: 10, Output: 1, Emitted: 1, Admitted: true, Status: Completed}
		rec.E2E = rec.TTFT
		rec.Hit[0] = int32(i % 10)
		c.Arrived(&workload.Request{At: rec.Arrival})
		c.Routed(0)
		c.Add(rec)
	}
	totals := FleetTotals{End: 500 * clock.Second, Busy: []clock.Time{clock.Second}}
	cell, by := c.Cell(totals), c.Profile(nil, totals).ByDestination
	if by.TTFTP99[0] != cell.TTFTP99.rounded() || by.KVHit[0] != cell.KVHit.rounded() || by.RunBusy[0] != cell.RunUtilisation || by.RunMostInFlight[0] != 1 {
		t.Errorf("destination %+v, cell: p99 %v, hit %v, busy %v", by, cell.TTFTP99, cell.KVHit, cell.RunUtilisation)
	}
}
