package scenarios

import (
	"strings"
	"testing"

	"cacheroute/results"
)

// staged is the small study on a course of stages.
var staged = strings.NewReplacer(
	"  prompt:", "  arrivals: {name: stages, spacing: constant, stages: [{qps: 30, duration_s: 1}, {qps: 20, duration_s: 2}, {qps: 40, duration_s: 1}]}\n  prompt:",
	"loads_qps: [20, 40]\n", "", "duration_s: 3}", "warmup_s: 1, duration_s: 0, by_stage: true}").Replace(small)

// TestByStage: each stage after the warm-up is a load, measured in its own window
// of one and the same run.
func TestByStage(t *testing.T) {
	r := prepare(t, staged)
	cells := sweepOf(t, r, SweepOptions{Dir: t.TempDir()})
	if len(cells) != 8 {
		t.Fatalf("%d cells, want 8: 2 policies, 2 stages, 2 seeds", len(cells))
	}
	runs := map[string][]results.Cell{}
	for _, c := range cells {
		if c.RunRequests != 110 || c.Requests != 40 || float64(c.RealisedQPS) != c.LoadQPS {
			t.Errorf("%s at %v/s: %d of %d requests, %v/s, want 40 of 110", c.Policy, c.LoadQPS, c.Requests, c.RunRequests, c.RealisedQPS)
		}
		if c.ThroughputQPS >= c.RealisedQPS {
			t.Errorf("%s at %v/s: throughput %v is not over the time until the last end", c.Policy, c.LoadQPS, c.ThroughputQPS)
		}
		runs[c.Fingerprint] = append(runs[c.Fingerprint], c)
	}
	for _, stages := range runs {
		if len(stages) != 2 || stages[0].LoadQPS == stages[1].LoadQPS || stages[0].TTFTMean == stages[1].TTFTMean {
			t.Errorf("cells of one run: %+v", stages)
		}
	}
}

// A stage finds what those before left: with a pause that outlasts the backlog
// it does not wait for it.
func TestStagesCarryTheirBacklog(t *testing.T) {
	heavy := strings.Replace(staged, "qps: 30, duration_s: 1", "qps: 20000, duration_s: 1", 1)
	p50 := func(text string) float64 {
		r := prepare(t, text)
		c, _, err := r.Run(t.Context(), r.Cell(0), &Tally{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return float64(c.TTFTP50)
	}
	carried := p50(heavy)
	drained := p50(strings.Replace(heavy, "{name: stages,", "{name: stages, pause_s: 100,", 1))
	if carried < 2*drained {
		t.Errorf("median TTFT %v s behind a backlog, %v s after a pause", carried, drained)
	}
}

// A study by stage takes the loads that it is given, and its file loads back.
func TestByStageLoads(t *testing.T) {
	s := mustParse(t, staged, Options{Set: []Override{{Path: "loads_qps", Value: "[40]"}}})
	r, err := Prepare(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Cells() != 4 || r.Cell(0).LoadQPS != 40 {
		t.Errorf("%d cells, the first at %v/s", r.Cells(), r.Cell(0).LoadQPS)
	}
	text, err := prepare(t, staged).Study.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if again := prepare(t, string(text)); again.Cells() != 8 {
		t.Errorf("%d cells after a round trip", again.Cells())
	}
}

func TestByStageErrors(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"name: stages, spacing: constant, stages: [{qps: 30, duration_s: 1}, {qps: 20, duration_s: 2}, {qps: 40, duration_s: 1}]", "name: poisson",
			"small.yaml:10: measure.by_stage: wanted with workload.arrivals of name stages"},
		{"duration_s: 0, by", "duration_s: 3, by", "small.yaml:10: measure.duration_s: must be 0 with by_stage"},
		{"warmup_s: 1", "warmup_s: 9", "measure.warmup_s: no stage with requests begins after 9 s"},
		{"qps: 20", "qps: 40", "small.yaml:5: workload.arrivals.stages.2: second measured stage of 40 requests/s"},
		{"qps: 40, duration_s: 1}", "qps: 4e5, duration_s: 1e5}", "workload.arrivals: 4e+10 requests in a run"},
		{"seeds:", "loads_qps: [30]\nseeds:", "small.yaml:9: loads_qps.0: read 30, wanted the rate of a measured stage"},
	} {
		if !strings.Contains(staged, c.from) {
			t.Fatalf("%q is not in the study", c.from)
		}
		_, err := Parse("small.yaml", []byte(strings.Replace(staged, c.from, c.to, 1)), Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.to, err, c.want)
		}
	}
}
