package scenarios

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"cacheroute/results"
)

const manyKeys = `
name: many
fleet: {destinations: 5, preset: llama-3.3-70b-fp8-h100-tp2, kv_blocks: 3000}
workload:
  keys: {name: zipf, count: 40}
  whales: {count: 1, times_target: 1, target_qps: 10}
  prompt: {template_tokens: 64, context_tokens: 4000, turn_tokens: 100}
  output_tokens: 8
policies: [flat-lb, sticky]
loads_qps: [60, 200]
seeds: [1, 2, 3]
measure: {warmup_s: 5, duration_s: 30, slo_ttft_p99_s: [1, 3]}
`

// qcap is the knees of one destination.
func qcap(t *testing.T, r *Runner, keys int) (*Runner, *results.Summary) {
	t.Helper()
	one, err := r.SingleDestination(keys)
	if err != nil {
		t.Fatal(err)
	}
	return one, seek(t, one, 0.05, 2)
}

// One destination serves its share of the keys, without whales, on its share of
// the ladder; the study of the fleet is as it was. The knee is that of the
// cells, falls with the objective and, as the cache holds some 11 contexts, with
// the number of keys.
func TestSingleDestination(t *testing.T) {
	r := prepare(t, manyKeys)
	one, few := qcap(t, r, 0)
	s := one.Study
	if one.load.Keys() != 8 || s.Fleet.Destinations != 1 || len(s.Policies) != 1 || s.Measure.DurationS != 150 {
		t.Errorf("%d keys, %d destinations, %d policies, %v s", one.load.Keys(), s.Fleet.Destinations, len(s.Policies), s.Measure.DurationS)
	}
	if !slices.Equal(s.LoadsQPS, []float64{6, 80}) {
		t.Errorf("loads %v", s.LoadsQPS)
	}
	if r.load.Keys() != 41 || r.Study.Fleet.Destinations != 5 || len(r.Study.LoadsQPS) != 2 || r.Study.Workload.Synthetic.Whales == nil {
		t.Error("the study of the fleet has changed")
	}
	tight, loose := few.Capacity[0], few.Capacity[1]
	if tight.Censor != results.CensorNone || loose.QPS.Mean <= tight.QPS.Mean || !(tight.QPS.Lo < tight.QPS.Mean) {
		t.Errorf("knees %+v and %+v", tight, loose)
	}
	for _, c := range few.Cells {
		for _, k := range tight.PerSeed {
			if c.Seed == k.Seed && c.LoadQPS > k.QPS && c.Passes(1, 0.05) || c.Seed == k.Seed && c.LoadQPS == k.QPS && !c.Passes(1, 0.05) {
				t.Errorf("seed %d has its knee at %v, p99 %v at %v", k.Seed, k.QPS, c.TTFTP99, c.LoadQPS)
			}
		}
	}
	if _, all := qcap(t, r, 40); !(all.Capacity[0].QPS.Mean < 0.8*tight.QPS.Mean) {
		t.Errorf("knee %v with all keys, %v with 8", all.Capacity[0].QPS.Mean, tight.QPS.Mean)
	}
	var text bytes.Buffer
	if err := one.PrintQCap(&text, few, 0.05); err != nil || !strings.Contains(text.String(), "q_cap for p99 <= 1 s: --set policies.cacheroute.q_cap_qps=") {
		t.Errorf("%v, printed %s", err, text.String())
	}
}

func TestSingleDestinationRefuses(t *testing.T) {
	for _, c := range []struct {
		from, to, want string
		keys           int
	}{
		{"x", "x", "--keys 41: wanted between 1 and the 40 of the study", 41},
		{"x", "x", "--keys -1: wanted between 1 and", -1},
		{"  prompt:", "  arrivals: {name: closed, think_s: 1}\n  prompt:", "wanted offered loads", 0},
		{"count: 40}\n  whales: {count: 1, times_target: 1, target_qps: 10}\n  prompt: {", "count: 40, exponent: 0}\n  prompt: {cycle: listed, ", "wanted drawn keys", 0},
	} {
		text := strings.Replace(manyKeys, c.from, c.to, 1)
		study, err := Parse("study.yaml", []byte(text), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.want, err)
			continue
		}
		r, err := Prepare(study, nil)
		if err != nil {
			t.Errorf("%s: %v", c.want, err)
			continue
		}
		if _, err := r.SingleDestination(c.keys); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
