package scenarios

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"cacheroute/results"
)

// overloaded has requests that complete, that time out with and without a
// token, and that are outside of the window.
const overloaded = `name: overloaded
fleet: {destinations: 2, preset: llama-3.1-8b-bf16-h100-tp1}
workload:
  keys: {name: zipf, count: 8}
  prompt: {context_tokens: 3000, turn_tokens: 900}
  output_tokens: 40
policies: [flat-lb, {name: cacheroute, slots: 3}]
loads_qps: [2, 90]
seeds: [1, 2]
measure: {warmup_s: 1, duration_s: 4, deadline_s: 1.5}
`

// requestsOf runs the study with its requests kept and returns the file.
func requestsOf(t *testing.T, r *Runner, o SweepOptions) (cells []results.Cell, file []byte) {
	t.Helper()
	o.Requests = true
	cells = sweepOf(t, r, o)
	file, err := os.ReadFile(filepath.Join(o.Dir, requestsFile))
	if err != nil {
		t.Fatal(err)
	}
	return cells, file
}

// TestRequestsOfAnyRun: the file is the same for any number of workers and
// after a resume, and a cell whose requests are lost or cut runs again.
func TestRequestsOfAnyRun(t *testing.T) {
	r := prepare(t, overloaded)
	dir := t.TempDir()
	_, one := requestsOf(t, r, SweepOptions{Dir: dir, Workers: 1})
	if _, three := requestsOf(t, r, SweepOptions{Dir: t.TempDir(), Workers: 3}); !bytes.Equal(three, one) {
		t.Error("one and three workers write different files")
	}
	stored, err := filepath.Glob(filepath.Join(dir, requestsFolder, "*"))
	if err != nil || len(stored) != r.Cells() {
		t.Fatalf("stored %v, %v", stored, err)
	}
	text, err := os.ReadFile(stored[5])
	if err := errors.Join(err, os.Remove(stored[2]), os.WriteFile(stored[5], text[:len(text)/2], 0o666)); err != nil {
		t.Fatal(err)
	}
	tally := &Tally{}
	if _, err := r.Sweep(context.Background(), SweepOptions{Dir: dir, Resume: true, Requests: true, Tally: tally}); err != nil {
		t.Fatal(err)
	}
	again, err := os.ReadFile(filepath.Join(dir, requestsFile))
	if err != nil || !bytes.Equal(again, one) || tally.Cells.Load() != 2 {
		t.Errorf("the resumed file differs after %d cells, %v", tally.Cells.Load(), err)
	}
}

// TestRequestsAreTheCells: p99 and hit of each cell follow from its rows to the
// last bit.
func TestRequestsAreTheCells(t *testing.T) {
	dir := t.TempDir()
	cells, _ := requestsOf(t, prepare(t, overloaded), SweepOptions{Dir: dir})
	rows, err := parquet.ReadFile[results.Request](filepath.Join(dir, requestsFile))
	if err != nil {
		t.Fatal(err)
	}
	failedWithToken := 0
	for _, c := range cells {
		all := rows[:c.RunRequests]
		rows = rows[c.RunRequests:]
		var ttft []float64
		var prompt, hit int64
		for _, q := range all {
			if q.Policy != c.Policy || q.LoadQPS != c.LoadQPS || q.Seed != c.Seed {
				t.Fatalf("a row of %s, %v, %d among those of %s, %v, %d", q.Policy, q.LoadQPS, q.Seed, c.Policy, c.LoadQPS, c.Seed)
			}
			if !q.Measured {
				continue
			}
			if q.Admitted {
				prompt += int64(q.PromptTokens)
				hit += int64(q.HitTemplate + q.HitContext + q.HitRetrieved + q.HitHistory + q.HitTurn + q.HitPrefix)
			}
			if q.Status == "completed" {
				ttft = append(ttft, float64(*q.TTFT)/1e12)
				continue
			}
			ttft = append(ttft, math.Inf(1))
			if q.TTFT != nil {
				failedWithToken++
			}
		}
		slices.Sort(ttft)
		p99 := ttft[(99*len(ttft)+99)/100-1]
		if int64(len(ttft)) != c.Requests || p99 != float64(c.TTFTP99) || float64(hit)/float64(prompt) != float64(c.KVHit) {
			t.Errorf("%s at %v: %d requests, p99 %v, hit %v; the cell has %d, %v, %v", c.Policy, c.LoadQPS,
				len(ttft), p99, float64(hit)/float64(prompt), c.Requests, c.TTFTP99, c.KVHit)
		}
	}
	if len(rows) > 0 || failedWithToken == 0 {
		t.Errorf("%d rows belong to no cell; %d requests failed after their first token", len(rows), failedWithToken)
	}
}

// TestRequestsOnDemand: a folder has the requests of its last run or none.
func TestRequestsOnDemand(t *testing.T) {
	dir := t.TempDir()
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	r := prepare(t, small)
	sweepOf(t, r, SweepOptions{Dir: dir})
	if has(requestsFile) || has(requestsFolder) {
		t.Error("requests that nobody asked for")
	}
	requestsOf(t, r, SweepOptions{Dir: dir})
	sweepOf(t, r, SweepOptions{Dir: dir, Resume: true})
	if has(requestsFile) {
		t.Error("the requests of an earlier run are left")
	}
	requestsOf(t, r, SweepOptions{Dir: dir, Resume: true})
	requestsOf(t, prepare(t, strings.Replace(small, "zipf", "lognormal", 1)), SweepOptions{Dir: dir})
	if !has("earlier-1/" + requestsFile) {
		t.Error("the requests of another study were not moved aside")
	}
}

// TestRequestsInterrupted: a run that stops within a cell says so as one without
// requests does, and leaves no part of a file.
func TestRequestsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	r := prepare(t, strings.Replace(small, "duration_s: 3", "duration_s: 300", 1))
	s, err := r.openStore(SweepOptions{Dir: dir, Requests: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.run(ctx, r.Cell(0), &Tally{}); err != context.Canceled {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	if left, err := os.ReadDir(filepath.Join(dir, requestsFolder)); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
