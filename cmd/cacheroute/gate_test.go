package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cacheroute/scenarios"
	"cacheroute/scenarios/gate"
)

// runGate runs the program and returns its exit code and report.
func runGate(t *testing.T, args ...string) (int, *gate.Report) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args = append([]string{"gate", "--envelope=false", "--json"}, args...)
	code := run(context.Background(), args, &stdout, &stderr)
	var r gate.Report
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatalf("%s: exit code %d, %v\n%s", strings.Join(args, " "), code, err, &stderr)
	}
	return code, &r
}

// TestGateRegimes has regimes like those of the paper's Table 5: 8B with whales
// wins, 32B with short contexts before a block that always breaks loses on skewed
// keys, and ties if the plan covers next to nothing. The verdicts hold on every
// one of ten sets of seeds.
func TestGateRegimes(t *testing.T) {
	for _, regime := range []struct {
		name  string
		code  int
		seeds int // of a set
		args  []string
	}{
		{"win", 0, 5, []string{"table-4", "--set", "fleet.destinations=8", "--set", "workload.whales.count=2", "--set", "workload.whales.traffic_share=0.75", "--loads", "30,120"}},
		{"loss", 3, 5, []string{"table-15"}},
		{"tie", 3, 10, []string{"table-15", "--set", "workload.keys.top=20000", "--set", "policies.cacheroute.slots=1", "--set", "measure.slo_ttft_p99_s=[1.5]"}},
	} {
		t.Run(regime.name, func(t *testing.T) {
			t.Parallel()
			sets := 10
			if testing.Short() {
				sets = 2
			}
			for set := range sets {
				var seeds []string
				for i := range regime.seeds {
					seeds = append(seeds, fmt.Sprint(100*(set+1)+i))
				}
				code, r := runGate(t, append(regime.args, "--seeds", strings.Join(seeds, ","))...)
				if code != regime.code {
					t.Errorf("seeds from %s: exit code %d, want %d: %s", seeds[0], code, regime.code, strings.Join(r.Reasons, "; "))
				}
				if up := r.Loads[1].KVHit.Diff; !(up.Lo > 0) {
					t.Errorf("seeds from %s: KV hit up by %v, want a clear rise in each regime", seeds[0], up)
				}
			}
		})
	}
}

// recording is a trace of Zipf keys: the first blocks of a prompt are the key's,
// the others new.
type recording struct {
	keys, requests, shared, own int // own: blocks of a prompt that never return
	exponent, qps               float64
}

// lines writes the requests that seed gives.
func (r recording) lines(seed uint64) []string {
	rng := rand.New(rand.NewPCG(seed, 0))
	weight, sum := make([]float64, r.keys), 0.0
	for i := range weight {
		weight[i] = math.Pow(float64(i+1), -r.exponent)
		sum += weight[i]
	}
	at, next := 0.0, 1_000_000
	var lines []string
	for range r.requests {
		at += rng.ExpFloat64() / r.qps
		key, u := 0, rng.Float64()*sum
		for ; key < r.keys-1 && u > weight[key]; key++ {
			u -= weight[key]
		}
		var ids []string
		for b := range r.shared {
			ids = append(ids, fmt.Sprint(100*key+b))
		}
		for range r.own {
			ids = append(ids, fmt.Sprint(next))
			next++
		}
		lines = append(lines, fmt.Sprintf(`{"timestamp": %d, "input_length": %d, "output_length": 20, "hash_ids": [%s]}`, int(1e3*at), 512*len(ids), strings.Join(ids, ", ")))
	}
	return lines
}

func writeTrace(t *testing.T, lines []string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "recorded.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// onFour replays on four small caches.
var onFour = []string{"--key", "prefix:1", "--destinations", "4", "--set", "fleet.kv_blocks=3000", "--set", "policies.cacheroute.slots=6"}

// TestGateTrace: long prefixes that four caches hold only together are worth a
// plan; skewed keys with little to reuse are not.
func TestGateTrace(t *testing.T) {
	for name, x := range map[string]struct {
		r    recording
		code int
	}{
		"long prefixes": {recording{keys: 24, requests: 1500, shared: 12, own: 1, exponent: 0.5, qps: 8}, 0},
		"skewed keys":   {recording{keys: 24, requests: 1500, shared: 1, own: 8, exponent: 1.5, qps: 8}, 3},
	} {
		path := writeTrace(t, x.r.lines(1))
		code, r := runGate(t, append([]string{path, "--train", "0.4"}, onFour...)...)
		if code != x.code {
			t.Errorf("%s: exit code %d, want %d: %s", name, code, x.code, strings.Join(r.Reasons, "; "))
		}
		if r.Plan.Rates != "estimated" || len(r.Replicates.Parts) != 5 || r.Plan.Covered != 1 {
			t.Errorf("%s: rates %s, %d windows, %v covered, want estimated rates, 5 windows and all keys", name, r.Plan.Rates, len(r.Replicates.Parts), r.Plan.Covered)
		}
	}
}

// TestGateUnknownHits: a recording that does not say what prompts share decides
// nothing, until one of the two ways that the report names states it.
func TestGateUnknownHits(t *testing.T) {
	lines := recording{keys: 24, requests: 1500, shared: 12, own: 1, exponent: 0.5, qps: 8}.lines(1)
	for i, line := range lines {
		head, _, _ := strings.Cut(line, `, "hash_ids"`)
		lines[i] = head + fmt.Sprintf(`, "session_id": "s%d"}`, i%24)
	}
	args := []string{writeTrace(t, lines), "--train", "0.4", "--destinations", "4", "--set", "fleet.kv_blocks=3000", "--set", "policies.cacheroute.slots=6"}
	code, r := runGate(t, args...)
	if code != 4 || !r.Evidence.HitsUnknown || !strings.Contains(r.Reasons[0], "hits are unknown") || len(r.Settles) != 1 {
		t.Fatalf("exit code %d, %+v: %q, settled by %q; want an inconclusive verdict on unknown hits alone", code, r.Evidence, r.Reasons, r.Settles)
	}
	for _, cure := range [][2]string{{"--assume", "key="}, {"--set", "workload.trace.prompt.key_tokens="}} {
		if !strings.Contains(r.Settles[0], cure[0]+" "+cure[1]) {
			t.Errorf("%q does not name %v", r.Settles, cure)
		}
		if code, known := runGate(t, append(args, cure[0], cure[1]+"6144")...); code != 0 || known.Evidence.HitsUnknown {
			t.Errorf("%v: exit code %d, %q, want 0 with known hits", cure, code, known.Reasons)
		}
	}
}

// TestGatePlanIsBlind: another evaluated part after the same training window, with
// keys that never came before, gives a plan of the same keys in the same shares.
func TestGatePlanIsBlind(t *testing.T) {
	r := recording{keys: 24, requests: 600, shared: 12, own: 1, exponent: 0.5, qps: 8}
	seen := r.lines(1)
	other := append(append([]string{}, seen[:300]...), r.lines(2)[300:]...)
	for i, line := range other[300:] {
		other[300+i] = strings.Replace(line, `"hash_ids": [`, `"hash_ids": [77`, 1)
	}
	var shares []map[string]string
	for _, lines := range [][]string{seen, other} {
		out := t.TempDir()
		runGate(t, append([]string{writeTrace(t, lines), "--train", "30", "--windows", "2", "--out", out}, onFour...)...)
		table, err := scenarios.ReadRoutingTable(filepath.Join(out, "table.json"))
		if err != nil {
			t.Fatal(err)
		}
		share := map[string]string{}
		for _, e := range table.Table {
			share[e.Key] = fmt.Sprintf("%.9f", e.RateQPS/table.AdmittedRate)
		}
		shares = append(shares, share)
	}
	if len(shares[0]) != 24 || !maps.Equal(shares[0], shares[1]) {
		t.Errorf("the evaluated part changes the plan:\n%v\n%v", shares[0], shares[1])
	}
}
