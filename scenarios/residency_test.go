package scenarios

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"
)

// smallKeys is many independent keys that are small against the cache, at a low
// load: where the theory holds.
const smallKeys = `
name: small-keys
fleet: {destinations: 4, preset: llama-3.3-70b-fp8-h100-tp2}
workload:
  keys: {name: zipf, count: 2000, exponent: 0.8}
  prompt: {template_tokens: 320, context_tokens: 480, retrieved_tokens: 100, variants: 3, stay_probability: 0.5, turn_tokens: 160}
  output_tokens: 16
policies: [flat-lb, random, sticky, chwbl, {name: cacheroute, slots: 300}]
loads_qps: [20]
seeds: [1, 2]
measure: {warmup_s: 300, duration_s: 600, deadline_s: 0}
`

func residencyOf(t *testing.T, text string, blocks ...int) *Residency {
	t.Helper()
	tally := &Tally{}
	x, err := prepare(t, text).Residency(context.Background(), blocks, SearchOptions{Workers: 2, Tally: tally})
	if err != nil {
		t.Fatal(err)
	}
	if cells, done := tally.Cells.Load(), tally.Done.Load(); int(cells) != len(x.Rows)*x.Seeds || done != cells {
		t.Errorf("%d of %d cells done, want %d", done, cells, len(x.Rows)*x.Seeds)
	}
	if off := float64(tally.Requests.Load()) / float64(tally.Expected.Load()); !(math.Abs(off-1) < 0.05) {
		t.Errorf("%d requests, expected %d", tally.Requests.Load(), tally.Expected.Load())
	}
	var printed bytes.Buffer
	if err := x.Print(&printed); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", printed.String())
	return x
}

// Where the theory holds both predictions are within a point of the simulation,
// for every policy whose routing is known beforehand.
func TestResidencyHolds(t *testing.T) {
	x := residencyOf(t, smallKeys, 2500, 8000)
	if len(x.Rows) != 8 || len(x.LeftOut) != 1 || x.LeftOut[0] != "chwbl" {
		t.Fatalf("%d rows, left out %v", len(x.Rows), x.LeftOut)
	}
	for _, r := range x.Rows {
		if math.Abs(float64(r.Steady-r.Simulated)) > 0.01 || math.Abs(float64(r.Window-r.Simulated)) > 0.01 {
			t.Errorf("%s with %d blocks: simulated %.4f, steady %.4f, window %.4f", r.Policy, r.KVBlocks, r.Simulated, r.Steady, r.Window)
		}
	}
	if s, l := x.Rows[0].Simulated, x.Rows[6].Simulated; l-s < 0.1 {
		t.Errorf("the grid spans hits from %.3f to %.3f only", s, l)
	}
}

// Where docs/residency.md says that they fail they do: on cold caches the steady
// one, and with long answers on a saturated destination both.
func TestResidencyFails(t *testing.T) {
	cold := strings.Replace(smallKeys, "warmup_s: 300, duration_s: 600", "warmup_s: 3, duration_s: 20", 1)
	for _, r := range residencyOf(t, cold, 40000).Rows {
		if r.Steady-r.Simulated < 0.1 || math.Abs(float64(r.Window-r.Simulated)) > 0.02 {
			t.Errorf("cold %s: simulated %.3f, steady %.3f, window %.3f", r.Policy, r.Simulated, r.Steady, r.Window)
		}
	}
	long := strings.NewReplacer("output_tokens: 16", "output_tokens: 1500", "duration_s: 600", "duration_s: 200").Replace(smallKeys)
	for _, r := range residencyOf(t, long, 6000).Rows {
		if r.Simulated-r.Steady < 0.025 || r.Simulated-r.Window < 0.025 {
			t.Errorf("saturated %s: simulated %.3f, steady %.3f, window %.3f", r.Policy, r.Simulated, r.Steady, r.Window)
		}
	}
}

func TestResidencyRefuses(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"turn_tokens: 160", "turn_tokens: 160, thread: {mean_requests: 2, max_history_tokens: 100}", "prompt.thread"},
		{"  prompt:", "  drift: {sigma: 0.1, interval_s: 10}\n  prompt:", "read drift"},
		{"  prompt:", "  arrivals: {name: closed, think_s: 1}\n  prompt:", "wanted offered loads"},
		{"flat-lb, random, sticky, chwbl, {name: cacheroute, slots: 300}", "chwbl, preble", "no policy whose routing is known beforehand"},
		{"x", "x", "kv_blocks"},
	} {
		_, err := prepare(t, strings.Replace(smallKeys, c.from, c.to, 1)).Residency(context.Background(), []int{0}, SearchOptions{Workers: 1, Tally: &Tally{}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
