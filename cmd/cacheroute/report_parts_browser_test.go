package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
)

// TestDriftReport: the page of rates that drift has each interval of every policy.
func TestDriftReport(t *testing.T) {
	b := openBrowser(t)
	dir := t.TempDir()
	study := filepath.Join(dir, "drift.yaml")
	if err := os.WriteFile(study, []byte(`
name: drift
fleet: {destinations: 3, preset: llama-3.3-70b-fp8-h100-tp2, kv_blocks: 2000}
workload:
  keys: {name: zipf, count: 12}
  drift: {sigma: 0.5, interval_s: 10}
  prompt: {template_tokens: 64, context_tokens: 3000, turn_tokens: 40}
  output_tokens: 8
policies: [flat-lb, {name: cacheroute, slots: 4, label: stays}, {name: cacheroute, slots: 4, replan: every, label: fresh}]
loads_qps: [20, 30]
seeds: [1, 2, 3, 4]
measure: {warmup_s: 10, duration_s: 40, edge_s: 2, slo_ttft_p99_s: [1]}
`), 0o666); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "results")
	s := ranInto(t, out, "run", study)
	b.open(t, filepath.Join(out, "report.html"))
	inked(t, b, "drift-hit", "drift-p99", "drift-dip", "drift-churn")
	eval[string](t, b, `(() => { const s = document.querySelector("#drift select"); s.value = 0; s.dispatchEvent(new Event("change")); return ""; })()`)
	rows := 0
	for _, r := range s.Drift {
		if r.LoadQPS != 20 {
			continue
		}
		rows++
		says := map[string]string{
			"drift-hit": fourDigits(100*float64(r.KVHit.Mean)) + " %", "drift-p99": fourDigits(float64(r.TTFTP99.Mean)) + " s",
			"drift-dip": fourDigits(100*float64(r.Dip.Mean)) + " points",
		}
		if r.Install != nil {
			says["drift-churn"] = fourDigits(100*float64(r.Install.Sets)) + " %"
		}
		for id, value := range says {
			x, y := within(t, b, id, float64(r.FromS))
			b.mouse(t, input.DispatchMouseEventTypeMouseMoved, x, y)
			text := eval[string](t, b, "tip.hidden ? '' : tip.innerText")
			if want := r.Policy + "\t" + value; !strings.HasPrefix(text, fmt.Sprintf("interval from %v s\n", r.FromS)) || !strings.Contains(text, want) {
				t.Errorf("%s at %v s: no %q in %q", id, r.FromS, want, text)
			}
		}
	}
	if rows != 3*4 {
		t.Errorf("%d rows at 20 requests/s, want 3 policies x 4 intervals", rows)
	}
	if churned := eval[string](t, b, `document.querySelector("#drift-churn .legend").innerText`); churned != "fresh" {
		t.Errorf("tables are installed by %q, want fresh alone", churned)
	}
	if means := eval[float64](t, b, `document.querySelectorAll("#drift > details tbody tr").length`); means != 3*2 {
		t.Errorf("%v rows of means, want 3 policies x 2 loads", means)
	}
	onPhone(t, b, filepath.Join(out, "report.html"))
	if said := b.heard(); said != nil {
		t.Errorf("the page said %v", said)
	}
}

// TestReportOfUnknownHits: where a trace does not say what prompts share, the
// page says so in the place of the charts of hits.
func TestReportOfUnknownHits(t *testing.T) {
	b := openBrowser(t)
	dir := t.TempDir()
	trace := filepath.Join(dir, "trace.csv")
	text := "arrival_s,input_tokens,output_tokens\n"
	for i := range 200 {
		text += fmt.Sprintf("%d,%d,20\n", i/4, 500+i)
	}
	if err := os.WriteFile(trace, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "results")
	ranInto(t, out, "replay", trace, "--destinations", "2", "--policies", "flat-lb,random", "--speed", "1,2")
	b.open(t, filepath.Join(out, "report.html"))
	inked(t, b, "ladder", "imbalance", "strip", "over-waiting", "over-flight")
	if left := eval[string](t, b, `["hit", "parts", "over-hit"].filter(id => document.getElementById(id)).join()`); left != "" {
		t.Errorf("charts of unknown hits: %s", left)
	}
	if said := eval[string](t, b, `document.querySelector("#no-hits").innerText`); !strings.Contains(said, "does not say what prompts share, so hits are unknown") {
		t.Errorf("the page says %q", said)
	}
	if said := b.heard(); said != nil {
		t.Errorf("the page said %v", said)
	}
}
