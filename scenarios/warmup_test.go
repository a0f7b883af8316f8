package scenarios

import (
	"context"
	"math"
	"strings"
	"testing"

	"cacheroute/results"
)

const warmedUp = `
name: warmed
fleet: {destinations: 3, preset: llama-3.1-8b-bf16-h100-tp1}
workload:
  keys: {name: zipf, count: 20}
  prompt: {template_tokens: 200, context_tokens: 2000, turn_tokens: 100}
  output_tokens: 20
policies: [flat-lb, cacheroute]
loads_qps: [5, 40]
seeds: [1, 2]
measure: {warmup_s: 10, warmup_qps: 20, settle_s: 30, duration_s: 10}
`

// arrivals runs a study and returns the cells and the instants of all requests
// of each.
func arrivals(t *testing.T, text string) (cells []results.Cell, at [][]float64) {
	t.Helper()
	s, err := Parse("warmed.yaml", []byte(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Prepare(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Cells() {
		var all []float64
		cell, _, err := r.Run(context.Background(), r.Cell(i), &Tally{}, func(rec *results.Record) {
			all = append(all, rec.Arrival.Seconds())
		})
		if err != nil {
			t.Fatal(err)
		}
		cells, at = append(cells, cell), append(at, all)
	}
	return cells, at
}

func TestWarmupAtItsOwnRate(t *testing.T) {
	cells, at := arrivals(t, warmedUp)
	for i, c := range cells {
		early, between := 0, 0
		for _, x := range at[i] {
			switch {
			case x < 10:
				early++
			case x < 40:
				between++
			case x >= 50:
				t.Errorf("%s at %v: a request at %v s, after the end", c.Policy, c.LoadQPS, x)
			}
		}
		if between > 0 {
			t.Errorf("%s at %v: %d requests while it settles", c.Policy, c.LoadQPS, between)
		}
		// 200 are expected in the warm-up; the bounds are five standard deviations.
		if math.Abs(float64(early)-200) > 5*math.Sqrt(200) {
			t.Errorf("%s at %v: %d requests of warm-up, wanted about 200", c.Policy, c.LoadQPS, early)
		}
		if n := c.LoadQPS * 10; math.Abs(float64(c.Requests)-n) > 5*math.Sqrt(n) {
			t.Errorf("%s at %v: %d measured requests, wanted about %v", c.Policy, c.LoadQPS, c.Requests, n)
		}
		if int64(early)+c.Requests != c.RunRequests {
			t.Errorf("%s at %v: %d + %d requests of %d", c.Policy, c.LoadQPS, early, c.Requests, c.RunRequests)
		}
	}
}

// At the load's own rate and without a pause nothing changes.
func TestWarmupAtTheLoadsRate(t *testing.T) {
	own := strings.Replace(warmedUp, "warmup_qps: 20, settle_s: 30,", "", 1)
	plain, _ := arrivals(t, strings.Replace(own, "[5, 40]", "[20]", 1))
	same, _ := arrivals(t, strings.NewReplacer("[5, 40]", "[20]", "settle_s: 30,", "").Replace(warmedUp))
	for i := range plain {
		if plain[i].Fingerprint != same[i].Fingerprint {
			t.Errorf("%s, seed %d: another run", plain[i].Policy, plain[i].Seed)
		}
	}
}

func TestBadWarmups(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"warmup_qps: 20", "warmup_qps: -1", "warmed.yaml:11: measure.warmup_qps: must be between 0 and 1e+09, got -1"},
		{"warmup_s: 10, ", "", "measure.warmup_s: missing, wanted the length of the warm-up"},
		{"  output_tokens: 20", "  output_tokens: 20\n  arrivals: {name: closed}", "not for a trace, a closed loop, stages or drifting rates"},
		{"  output_tokens: 20", "  output_tokens: 20\n  drift: {sigma: 0.1, interval_s: 5}", "not for a trace, a closed loop, stages or drifting rates"},
	} {
		bad := strings.Replace(warmedUp, c.old, c.new, 1)
		if _, err := Parse("warmed.yaml", []byte(bad), Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, wanted %q", c.new, err, c.want)
		}
	}
}
