package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cacheroute/results"
)

// clockBreaker is a study of 500 cells of which one fails: at 5000 requests/s
// the queue of steps of 1000 s outlasts the clock.
func clockBreaker(bad string) string {
	var loads []string
	for i := range 499 {
		loads = append(loads, fmt.Sprint(20+float64(i)/2))
	}
	return `name: breaker
fleet: {destinations: 2, preset: llama-3.1-8b-bf16-h100-tp1, max_num_seqs: 1, cost: {name: linear, base_ms: 1e6}}
workload:
  keys: {name: zipf, count: 8}
  prompt: {context_tokens: 100, turn_tokens: 20}
  output_tokens: 5
policies: [flat-lb]
loads_qps: [` + strings.Join(loads[:250], ", ") + bad + ", " + strings.Join(loads[250:], ", ") + `]
seeds: [1]
measure: {duration_s: 3, deadline_s: 0}
`
}

// command runs a program and returns its standard output and exit code.
func command(t *testing.T, name string, args ...string) (string, int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := exec.Command(name, args...)
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	if c.ProcessState.ExitCode() != 0 {
		t.Logf("%s %s: exit code %d\n%s", name, strings.Join(args, " "), c.ProcessState.ExitCode(), &stderr)
	}
	return stdout.String(), c.ProcessState.ExitCode()
}

func must(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, code := command(t, name, args...)
	if code != 0 {
		t.Fatalf("%s %v: exit code %d", name, args, code)
	}
	return out
}

// startSlurm starts a cluster for the test, or skips it.
func startSlurm(t *testing.T) (state string) {
	t.Helper()
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin")
	for _, program := range []string{"slurmctld", "slurmd", "munged", "sbatch"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("no Slurm here (%v): install slurm-wlm and munge to run this test", err)
		}
	}
	state, err := os.MkdirTemp("", "slurm") // munge wants a short path for its socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		must(t, "../../tools/slurm/down.sh", state)
		os.RemoveAll(state)
	})
	t.Setenv("SLURM_TEST_PORT", fmt.Sprint(20_000+os.Getpid()%500*20)) // apart from other clusters of this machine
	t.Setenv("SLURM_CONF", strings.TrimSpace(must(t, "../../tools/slurm/up.sh", state)))
	return state
}

// TestSlurm runs 500 cells in 20 shards on three nodes, of which one dies; one
// shard says for once that it cannot, one is killed, and one cell fails. All
// other results are there, and they are those of one machine.
func TestSlurm(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a cluster")
	}
	state := startSlurm(t)
	start := time.Now()
	dir := t.TempDir()
	study, plan, faults := filepath.Join(dir, "breaker.yaml"), filepath.Join(dir, "plan"), filepath.Join(dir, "faults")
	t.Setenv("SWEEP_FAULTS", faults)
	if err := errors.Join(os.Mkdir(faults, 0o777), os.WriteFile(study, []byte(clockBreaker(", 5000")), 0o666),
		os.WriteFile(filepath.Join(faults, "busy-3"), nil, 0o666), os.WriteFile(filepath.Join(faults, "killed-4"), nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	must(t, "cacheroute-faulty", "sweep", "plan", study, "--out", plan)
	must(t, "cacheroute-faulty", "sweep", "submit", plan, "--engine", "slurm", "--shards", "20")
	killNode(t, state, "n2")
	wait(t)
	t.Logf("the queue is empty after %.0f s", time.Since(start).Seconds())

	var s struct{ Done, Failed, Missing int }
	if err := json.Unmarshal([]byte(must(t, "cacheroute", "sweep", "status", plan, "--json", "--verify")), &s); err != nil {
		t.Fatal(err)
	}
	if s.Done != 499 || s.Failed != 1 || s.Missing != 0 {
		t.Errorf("status %+v, want 499 done and 1 failed\n%s", s, logs(t, plan))
	}
	if left, _ := filepath.Glob(filepath.Join(faults, "*")); len(left) > 0 {
		t.Errorf("faults that did not happen: %v", left)
	}
	if text := must(t, "cacheroute", "sweep", "status", plan); !strings.Contains(text, "flat-lb at 5000 requests/s, seed 1: sim: the clock ran over") {
		t.Errorf("the failed cell is not told:\n%s", text)
	}
	sameAsHere(t, study, plan)
}

// sameAsHere collects the plan, and compares it with one that was run on this
// machine, byte by byte, and with a plain run of the good cells.
func sameAsHere(t *testing.T, study, plan string) {
	t.Helper()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	must(t, "cacheroute", "sweep", "plan", study, "--out", in("plan"))
	if _, code := command(t, "cacheroute", "sweep", "submit", in("plan")); code != exitBad {
		t.Errorf("exit code %d here, want %d for the failed cell", code, exitBad)
	}
	for plan, out := range map[string]string{plan: "slurm", in("plan"): "here"} {
		if _, code := command(t, "cacheroute", "sweep", "collect", plan, "--out", in(out)); code != exitBad {
			t.Errorf("%s: collected with exit code %d, want %d for the failed cell", out, code, exitBad)
		}
		must(t, "cacheroute", "sweep", "collect", plan, "--out", in(out), "--partial")
	}
	must(t, "diff", "-r", in("slurm"), in("here"))

	if err := os.WriteFile(in("good.yaml"), []byte(clockBreaker("")), 0o666); err != nil {
		t.Fatal(err)
	}
	must(t, "cacheroute", "run", in("good.yaml"), "--out", in("run"))
	got, _, err1 := results.ReadCellsParquet(in("slurm/cells.parquet"))
	want, _, err2 := results.ReadCellsParquet(in("run/cells.parquet"))
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b results.Float) bool { return a == b || a != a && b != b })); diff != "" {
		t.Errorf("a run gives other cells (- run, + slurm):\n%s", diff)
	}
}

// killNode kills the daemon of a node that has work.
func killNode(t *testing.T, state, node string) {
	t.Helper()
	for range 200 {
		if must(t, "squeue", "-h", "-r", "-t", "running", "-w", node) != "" {
			text, err := os.ReadFile(filepath.Join(state, node+".pid"))
			if err != nil {
				t.Fatal(err)
			}
			must(t, "kill", "-9", strings.TrimSpace(string(text)))
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s got no work", node)
}

// wait waits until the queue is empty.
func wait(t *testing.T) {
	t.Helper()
	for range 240 {
		if must(t, "squeue", "-h") == "" {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
	t.Fatalf("after two minutes there is still\n%s", must(t, "squeue", "-r"))
}

// logs are those of all tasks.
func logs(t *testing.T, plan string) string {
	files, _ := filepath.Glob(filepath.Join(plan, "logs", "*"))
	var all strings.Builder
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s:\n%s", filepath.Base(path), text)
	}
	return all.String()
}
