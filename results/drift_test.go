package results

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// Intervals of 10 s with edges of 2 s: what arrives where, in whole numbers.
func TestIntervalsOfDrift(t *testing.T) {
	c := NewCollector(Window{From: 10 * clock.Second, To: 40 * clock.Second}, 1, 2, 0)
	c.ByInterval(10*clock.Second, 2*clock.Second)
	add := func(atS float64, destination, prompt, hit int32, ttft clock.Time, status Status) {
		at := clock.FromSeconds(atS)
		r := workload.Request{At: at}
		c.Arrived(&r)
		rec := Record{Arrival: at, Destination: destination, Prompt: prompt, Output: 1, Emitted: 1, TTFT: ttft, E2E: ttft, Admitted: true, Status: status}
		rec.Hit[workload.Context] = hit
		c.Add(&rec)
	}
	add(8, 0, 100, 80, clock.Second, Completed) // the edge before the window
	add(10, 0, 100, 30, 2*clock.Second, Completed)
	add(11.9, 1, 100, 50, 3*clock.Second, Completed)
	add(12, 1, 200, 180, clock.Second, Completed)
	add(18, 1, 100, 90, clock.Second, Completed)
	add(20, 0, 100, 70, clock.Second, TimedOut)
	add(35, 0, 100, 50, clock.Second, Completed) // neither edge
	got := c.Cell(FleetTotals{}).Intervals
	nan := Float(math.NaN())
	want := []DriftInterval{
		{FromS: 10, Requests: 4, KVHit: 350. / 500, TTFTP99: 3, Imbalance: 1.5, KVHitStart: 0.4, KVHitEnd: 0.9, Dip: 0.8 - 0.4},
		{FromS: 20, Requests: 1, KVHit: 0.7, TTFTP99: infinite, Imbalance: 2, KVHitStart: 0.7, KVHitEnd: nan, Dip: Float(0.9) - 0.7},
		{FromS: 30, Requests: 1, KVHit: 0.5, TTFTP99: 1, Imbalance: 2, KVHitStart: nan, KVHitEnd: nan, Dip: nan},
	}
	same := cmp.Comparer(func(a, b Float) bool { return a == b || a != a && b != b || math.Abs(float64(a-b)) < 1e-15 })
	if diff := cmp.Diff(want, got, same); diff != "" {
		t.Errorf("intervals (-want +got):\n%s", diff)
	}
}

// Over seeds: means, and those of the installs of the seeds that had one. The
// file gives back what is infinite.
func TestDriftRows(t *testing.T) {
	cell := func(seed uint64, p99, hit Float, x *Install) Cell {
		return Cell{Policy: "a", LoadQPS: 5, Seed: seed, Fingerprint: "f", Warnings: []string{},
			Intervals: []DriftInterval{{FromS: 60, Requests: 3, KVHit: hit, TTFTP99: p99, Install: x}}}
	}
	s := Summarise("s", []Cell{
		cell(1, 1, 0.5, &Install{Keys: 0.9, ImbalanceFresh: 1.5}), cell(2, infinite, 0.7, &Install{Keys: 0.7, ImbalanceFresh: 1.1}), cell(3, 2, 0.6, nil),
	}, []float64{1}, 0)
	if len(s.Drift) != 1 {
		t.Fatalf("%d rows, want 1", len(s.Drift))
	}
	r := s.Drift[0]
	if r.Seeds != 3 || math.Abs(float64(r.KVHit.Mean)-0.6) > 1e-15 || r.TTFTP99.Mean != infinite || math.Abs(float64(r.Install.Keys)-0.8) > 1e-15 || r.Install.ImbalanceFresh != 1.3 {
		t.Errorf("row %+v, install %+v", r, r.Install)
	}
	path := filepath.Join(t.TempDir(), "summary.json")
	if err := WriteSummary(path, &s); err != nil {
		t.Fatal(err)
	}
	back, err := ReadSummary(path)
	if err != nil {
		t.Fatal(err)
	}
	if back.Drift[0].TTFTP99.Mean != infinite || back.Cells[1].Intervals[0].TTFTP99 != infinite || *back.Cells[0].Intervals[0].Install != *s.Cells[0].Intervals[0].Install {
		t.Errorf("read back %+v", back)
	}
}

// TestPrintDrift: a few intervals are printed one by one, of more the means;
// what is undefined in one interval does not count.
func TestPrintDrift(t *testing.T) {
	printed := func(intervals int) string {
		var x []DriftInterval
		for i := range intervals {
			x = append(x, DriftInterval{FromS: Float(60 * (i + 1)), Requests: 9, KVHit: 0.5, TTFTP99: Float(i), Imbalance: 1.1, Dip: -0.0001})
		}
		x[0].Dip = undefined
		x[1].Install = &Install{Sets: 0.25, Traffic: 0.5, Counts: 0.125, ImbalanceStale: 2, ImbalanceFresh: 1}
		s := Summarise("s", []Cell{{Policy: "a", LoadQPS: 5, Seed: 1, Fingerprint: "f", Warnings: []string{}, Intervals: x}}, nil, 0)
		var b strings.Builder
		if err := PrintLadder(&b, &s, Style{}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	few, many := printed(2), printed(25)
	for _, want := range []string{
		"policy     QPS    from s   hit  p99 s  imbalance   dip  sets  traffic  counts   max/mean\n",
		"a            5        60  50.0   0.00       1.10     -     -        -       -          -\n",
		"a            5       120  50.0   1.00       1.10   0.0  25.0     50.0    12.5  2.00 1.00\n",
	} {
		if !strings.Contains(few, want) {
			t.Errorf("no %q in\n%s", want, few)
		}
	}
	for _, want := range []string{
		"mean over the intervals of drift and 1 seed:\n",
		"policy     QPS intervals   hit  p99 s  imbalance   dip  sets  traffic  counts   max/mean\n",
		"a            5        25  50.0   12.0       1.10   0.0  25.0     50.0    12.5  2.00 1.00\n",
		"summary.json have each interval\n",
	} {
		if !strings.Contains(many, want) {
			t.Errorf("no %q in\n%s", want, many)
		}
	}
}

// The page has the intervals by load, policy and start: the bounds of p99 are of
// the logarithms, and what a policy or a seed has not is null.
func TestDriftOfThePage(t *testing.T) {
	cell := func(policy string, load float64, seed uint64, x ...DriftInterval) Cell {
		return Cell{Policy: policy, LoadQPS: load, Seed: seed, Fingerprint: "f", Intervals: x}
	}
	moved := &Install{Sets: 0.5, Traffic: 0.25, Keys: 0.125, Counts: 0}
	r := &Report{Summary: Summarise("s", []Cell{
		cell("a", 5, 1, DriftInterval{FromS: 60, Requests: 1, KVHit: 0.5, TTFTP99: 1, Dip: undefined}),
		cell("b", 5, 1, DriftInterval{FromS: 60, Requests: 1, KVHit: 0.5, TTFTP99: 1, Dip: 0.25, Install: moved}, DriftInterval{FromS: 120, Requests: 1, KVHit: 1, TTFTP99: infinite}),
		cell("b", 5, 2, DriftInterval{FromS: 60, Requests: 1, KVHit: 0.5, TTFTP99: 4, Dip: 0.25, Install: moved}, DriftInterval{FromS: 120, Requests: 1, KVHit: 1, TTFTP99: 1}),
		cell("b", 9, 1),
	}, nil, 0)}
	text, err := json.Marshal(r.data(pageLimits).Drift)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"load":0,"from_s":[60,120],"figures":{` +
		`"counts":[[null,null],[[0],null]],"dip":[[[null],null],[[0.25,0.25,0.25],[0,0,0]]],` +
		`"hit":[[[0.5],null],[[0.5,0.5,0.5],[1,1,1]]],"keys":[[null,null],[[0.125],null]],` +
		`"p99":[[[1],null],[[2.5,0.000299282,13365.3],[1e999]]],"sets":[[null,null],[[0.5],null]],"traffic":[[null,null],[[0.25],null]]}}]`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}
