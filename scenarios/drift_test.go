package scenarios

import (
	"context"
	"strings"
	"testing"

	"cacheroute/results"
)

// drifting is 24 keys whose rates move every 2 s of a run of 6.
const drifting = `
name: drifting
fleet: {destinations: 4, preset: paper-70b-fp8}
workload:
  keys: {name: lognormal, sigma: 1, count: 24}
  drift: {sigma: 0.5, interval_s: 2}
  prompt: {template_tokens: 500, context_tokens: 2000, retrieved_tokens: 0, turn_tokens: 100}
  output_tokens: 4
policies: [{name: cacheroute, label: stays, slots: 6}, {name: cacheroute, label: fresh, slots: 6, replan: every}]
loads_qps: [60]
seeds: [1]
measure: {warmup_s: 2, duration_s: 4}
`

func cellOf(t *testing.T, r *Runner, i int) results.Cell {
	t.Helper()
	cell, _, err := r.Run(context.Background(), r.Cell(i), &Tally{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return cell
}

// Intervals of the measured window are in the cell, with what was installed at
// their starts, and an install costs hits.
func TestDriftIsMeasured(t *testing.T) {
	r := prepare(t, drifting)
	stays, fresh := cellOf(t, r, 0), cellOf(t, r, 1)
	for _, cell := range []results.Cell{stays, fresh} {
		if len(cell.Intervals) != 2 || cell.Intervals[0].FromS != 2 || cell.Intervals[1].FromS != 4 {
			t.Fatalf("%s: intervals %+v, want those from 2 and 4 s", cell.Policy, cell.Intervals)
		}
		if sum := cell.Intervals[0].Requests + cell.Intervals[1].Requests; sum != cell.Requests {
			t.Errorf("%s: %d requests in the intervals, %d in the window", cell.Policy, sum, cell.Requests)
		}
	}
	for i, x := range stays.Intervals {
		if x.Install != nil {
			t.Errorf("a table that stays: %+v installed", x.Install)
		}
		y := fresh.Intervals[i]
		if y.Install == nil || y.Install.Keys == 0 || y.Install.Keys != y.Install.Sets || y.Install.ImbalanceFresh > y.Install.ImbalanceStale {
			t.Errorf("fresh plan: installed %+v", y.Install)
		}
		if y.Dip <= x.Dip || y.KVHit >= x.KVHit {
			t.Errorf("from %v s: hit %.3f after a dip of %.3f with a new table, %.3f after %.3f with the old one", x.FromS, y.KVHit, y.Dip, x.KVHit, x.Dip)
		}
	}
}

// The edge is of the measurement: no request knows it, but stored cells do.
func TestEdgeOfIntervals(t *testing.T) {
	wide := strings.Replace(drifting, "duration_s: 4", "duration_s: 4, edge_s: 1", 1)
	a, b := cellOf(t, prepare(t, drifting), 1), cellOf(t, prepare(t, wide), 1)
	if a.Fingerprint != b.Fingerprint || a.Intervals[0].KVHit != b.Intervals[0].KVHit || a.Intervals[0].KVHitStart == b.Intervals[0].KVHitStart {
		t.Errorf("edge of 0.2 s: %+v\nof 1 s: %+v", a.Intervals[0], b.Intervals[0])
	}
	dir := t.TempDir()
	sweepOf(t, prepare(t, drifting), SweepOptions{Dir: dir})
	tally := &Tally{}
	if _, err := prepare(t, wide).Sweep(context.Background(), SweepOptions{Dir: dir, Resume: true, Tally: tally}); err != nil || tally.Cells.Load() != 2 {
		t.Errorf("%v, %d cells run with another edge, want 2", err, tally.Cells.Load())
	}
}

func TestDriftMistakes(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"sigma: 0.5, interval_s: 2", "sigma: -1, interval_s: 2", "workload.drift.sigma: must be between 0 and 10, got -1"},
		{"sigma: 0.5, interval_s: 2", "sigma: 0.5", "workload.drift.interval_s"},
		{"interval_s: 2", "interval_s: 0.001", "6000 intervals in a run of 6 s, wanted at most 1000"},
		{"duration_s: 4", "duration_s: 4, edge_s: 1.1", "measure.edge_s: must be at most half of workload.drift.interval_s = 2, got 1.1"},
		{"  drift: {sigma: 0.5, interval_s: 2}\n", "", "policies.1.replan: read without workload.drift, wanted never"},
		{"replan: every", "replan: keep, placement: random", "replan: keep goes with placement lpt"},
		{"replan: every", "replan: often", `replan: unknown value "often", allowed: never, every, late, keep`},
	} {
		_, err := Parse("study.yaml", []byte(strings.Replace(drifting, c.from, c.to, 1)), Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.to, err, c.want)
		}
	}
	plain := strings.NewReplacer("  drift: {sigma: 0.5, interval_s: 2}\n", "", "duration_s: 4", "duration_s: 4, edge_s: 1").Replace(drifting)
	if _, err := Parse("study.yaml", []byte(plain), Options{}); err == nil || !strings.Contains(err.Error(), "measure.edge_s: read without workload.drift") {
		t.Errorf("an edge of nothing: %v", err)
	}
}
