package sweep

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cacheroute/results"
	"cacheroute/scenarios"
)

const small = `name: small
fleet: {destinations: 2, preset: llama-3.1-8b-bf16-h100-tp1}
workload:
  keys: {name: zipf, count: 8}
  prompt: {context_tokens: 100, turn_tokens: 20}
  output_tokens: 5
policies: [flat-lb, {name: cacheroute, slots: 3}]
loads_qps: [20, 40]
seeds: [1, 2]
measure: {duration_s: 3}
`

// runShard runs a shard and returns how many cells it has run.
func runShard(t *testing.T, dir string, i, n int) int {
	t.Helper()
	o := RunOptions{Shard: Shard{i, n}, Workers: 2, Tally: &scenarios.Tally{}}
	if err := Run(t.Context(), dir, o); err != nil {
		t.Fatalf("shard %d of %d: %v", i, n, err)
	}
	return int(o.Tally.Done.Load())
}

// collected makes the folder of results of a plan and returns its files.
func collected(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := t.TempDir()
	if err := collect(dir, out, false); err != nil {
		t.Fatal(err)
	}
	return files(t, out)
}

func collect(dir, out string, partial bool) error {
	return Collect(dir, CollectOptions{Out: out, Partial: partial, Note: func(string, ...any) {},
		Each: func(*scenarios.Runner, *results.Summary, string) error { return nil }})
}

// files reads the files of a folder, those below it left out.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(text)
	}
	return all
}

func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %s differs", what, name)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d files, want %d", what, len(got), len(want))
	}
}

// swept is the folder that a run on one machine makes.
func swept(t *testing.T) map[string]string { return sweptWith(t, scenarios.SweepOptions{}) }

func sweptWith(t *testing.T, o scenarios.SweepOptions) map[string]string {
	t.Helper()
	study, err := scenarios.Parse("small.yaml", []byte(small), scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := scenarios.Prepare(study, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	o.Dir, o.Tally = dir, &scenarios.Tally{}
	cells, err := r.Sweep(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	s := results.Summarise(study.Name, cells, study.Measure.SLOs, study.Measure.MaxFailureRate)
	if err := r.Write(dir, scenarios.Build{}, &s); err != nil {
		t.Fatal(err)
	}
	return files(t, dir)
}

// TestSameBytes: neither the number of shards nor their order changes a byte of
// what one machine would have written.
func TestSameBytes(t *testing.T) {
	want := swept(t)
	for _, shards := range [][]Shard{{{0, 1}}, {{2, 3}, {0, 3}, {1, 3}}, {{3, 5}, {1, 2}, {0, 2}}} {
		dir := t.TempDir()
		planned(t, dir, small, scenarios.Build{})
		ran := 0
		for _, s := range shards {
			ran += runShard(t, dir, s.I, s.N)
		}
		if ran != 8 {
			t.Errorf("%v: %d cells run, want each once", shards, ran)
		}
		same(t, shards[0].String(), collected(t, dir), want)
	}
}

// TestRequests: a sweep that keeps its requests collects those of a run on one
// machine; a cell whose requests are gone runs again.
func TestRequests(t *testing.T) {
	want := sweptWith(t, scenarios.SweepOptions{Requests: true})
	dir := t.TempDir()
	planned(t, dir, small, scenarios.Build{})
	runShard(t, dir, 0, 1)
	study, err := scenarios.Parse("small.yaml", []byte(small), scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Make(dir, []scenarios.Variant{{Study: study}}, MakeOptions{Name: study.Name, Requests: true}); err != nil {
		t.Fatal(err)
	}
	if ran := runShard(t, dir, 1, 2) + runShard(t, dir, 0, 2); ran != 8 {
		t.Errorf("%d cells run, want all, as none has its requests", ran)
	}
	same(t, "with requests", collected(t, dir), want)
	kept, err := filepath.Glob(filepath.Join(dir, requestsFolder, "*.parquet"))
	if err != nil || len(kept) != 8 {
		t.Fatalf("%v, %v; want a file for each of 8 cells", kept, err)
	}
	if err := os.Truncate(kept[1], 100); err != nil {
		t.Fatal(err)
	}
	if err := collect(dir, t.TempDir(), false); err == nil || !strings.Contains(err.Error(), kept[1]+": not the requests of its cell") {
		t.Errorf("collected with a damaged file: %v", err)
	}
	if err := errors.Join(os.Remove(kept[0]), os.Remove(kept[1])); err != nil {
		t.Fatal(err)
	}
	if s, err := StatusOf(dir, false); err != nil || s.Missing != 2 {
		t.Errorf("status %+v, %v; want the two cells missing", s, err)
	}
	partial := t.TempDir()
	if err := collect(dir, partial, true); err != nil || len(files(t, partial)["requests.parquet"]) >= len(want["requests.parquet"]) {
		t.Errorf("collected in part: %v", err)
	}
	if ran := runShard(t, dir, 0, 1); ran != 2 {
		t.Errorf("%d cells run, want 2", ran)
	}
	same(t, "mended", collected(t, dir), want)
}

// TestTogether: two processes that run the whole plan at a time, and one that
// looks at it, do no harm.
func TestTogether(t *testing.T) {
	dir := t.TempDir()
	planned(t, dir, small, scenarios.Build{})
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			if err := Run(t.Context(), dir, RunOptions{Shard: Shard{0, 1}, Workers: 1, Tally: &scenarios.Tally{}}); err != nil {
				t.Error(err)
			}
			if s, err := StatusOf(dir, true); err != nil || s.Missing+s.Failed+s.Damaged > 0 {
				t.Errorf("status %+v, %v", s, err)
			}
		})
	}
	group.Wait()
	same(t, "together", collected(t, dir), swept(t))
}

// TestDamage cuts segments off and flips their bits: what is damaged is missing,
// never wrong, runs again, and nothing else does.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	p := planned(t, dir, small, scenarios.Build{})
	runShard(t, dir, 0, 1)
	want := collected(t, dir)
	paths, err := filepath.Glob(filepath.Join(dir, segmentsFolder, "*"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("segments %v, %v", paths, err)
	}
	whole, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	ids, err := p.ids()
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		text := bytes.Clone(whole)
		hurt := random.IntN(len(text))
		if random.IntN(2) == 0 {
			text = text[:hurt]
		} else {
			text[hurt] ^= byte(1 + random.IntN(255))
		}
		if err := os.WriteFile(paths[0], text, 0o666); err != nil {
			t.Fatal(err)
		}
		have, err := p.find(ids, Shard{0, 1}, true)
		if err != nil {
			t.Fatal(err)
		}
		// A flipped bit costs a line, or two if it was a line's end or joined two.
		if lost := len(have.missing(ids, Shard{0, 1}, false)); len(text) == len(whole) && lost > 2 ||
			len(text) < len(whole) && lost != 8-bytes.Count(text, []byte("\n")) {
			t.Fatalf("byte %d of %d: %d cells lost", hurt, len(text), lost)
		}
		for _, at := range have.at {
			if _, err := have.load(at); err != nil {
				t.Fatalf("byte %d of %d: %v", hurt, len(text), err)
			}
		}
	}
	if err := os.WriteFile(paths[0], whole[:len(whole)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	if err := collect(dir, t.TempDir(), false); err == nil || !strings.Contains(err.Error(), "of 8 cells are missing and 0 have failed") {
		t.Errorf("collected half: %v", err)
	}
	missing := 8 - bytes.Count(whole[:len(whole)/2], []byte("\n"))
	if ran := runShard(t, dir, 0, 1); ran != missing {
		t.Errorf("%d cells run, want the %d that are lost", ran, missing)
	}
	same(t, "mended", collected(t, dir), want)
}

// TestFailedCells: a cell that fails or panics is recorded, costs no other cell
// and runs again only when asked to.
func TestFailedCells(t *testing.T) {
	dir := t.TempDir()
	planned(t, dir, small, scenarios.Build{})
	run := func(broken, retry bool) (ran int, err error) {
		o := RunOptions{Shard: Shard{0, 1}, Workers: 1, RetryFailed: retry, Tally: &scenarios.Tally{}}
		s, err := open(dir, &o)
		if err != nil {
			t.Fatal(err)
		}
		simulate := s.simulate
		s.simulate = func(ctx context.Context, r *scenarios.Runner, c scenarios.Cell, each func(*results.Record)) (results.Cell, *results.Profile, error) {
			switch {
			case broken && c.Seed == 1 && c.LoadQPS == 20:
				return results.Cell{}, nil, errors.New("conservation")
			case broken && c.Seed == 2 && c.LoadQPS == 40:
				panic("out of range")
			}
			return simulate(ctx, r, c, each)
		}
		err = s.run(t.Context())
		return int(o.Tally.Done.Load()), err
	}
	var failedCells *FailedCells
	if ran, err := run(true, false); ran != 8 || !errors.As(err, &failedCells) || failedCells.N != 4 || failedCells.First != "conservation" {
		t.Errorf("%d cells run, error %v, want 8 and 4 failed", ran, err)
	}
	if s, err := StatusOf(dir, false); err != nil || s.Done != 4 || s.Failed != 4 || len(s.Failures) != 4 || !strings.HasPrefix(s.Failures[1].Error, "panic: out of range\n") {
		t.Errorf("status %+v, %v", s, err)
	}
	if ran, err := run(true, false); ran != 0 || !errors.As(err, &failedCells) || failedCells.N != 4 {
		t.Errorf("again: %d cells run, error %v, want 0 and 4 failed", ran, err)
	}
	if err := collect(dir, t.TempDir(), false); err == nil || !strings.Contains(err.Error(), "4 of 8 cells have failed") {
		t.Errorf("collected: %v", err)
	}
	if err := collect(dir, t.TempDir(), true); err != nil {
		t.Errorf("partly: %v", err)
	}
	if ran, err := run(false, true); ran != 4 || err != nil {
		t.Errorf("asked to: %d cells run, error %v, want the 4", ran, err)
	}
	same(t, "mended", collected(t, dir), swept(t))
}

// TestConflict: results that contradict each other are not collected.
func TestConflict(t *testing.T) {
	dir := t.TempDir()
	p := planned(t, dir, small, scenarios.Build{})
	runShard(t, dir, 0, 1)
	ids, err := p.ids()
	if err != nil {
		t.Fatal(err)
	}
	other := p.segment(Shard{0, 1})
	if err := errors.Join(other.add(ids[3], done, []byte(`{"cell":{"policy":"flat-lb"}}`)), other.close()); err != nil {
		t.Fatal(err)
	}
	if err := collect(dir, t.TempDir(), false); err == nil || !strings.Contains(err.Error(), "two results of a cell differ") {
		t.Errorf("collected: %v", err)
	}
	if s, err := StatusOf(dir, true); err != nil || len(s.Conflicts) != 1 || s.Conflicts[0].Cell != 3 {
		t.Errorf("status %+v, %v", s, err)
	}
}

// TestInterrupted: a shard that is told to stop is to be tried again.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	planned(t, dir, small, scenarios.Build{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var again *Transient
	if err := Run(ctx, dir, RunOptions{Shard: Shard{0, 1}, Tally: &scenarios.Tally{}}); !errors.As(err, &again) {
		t.Errorf("error %v, want a transient one", err)
	}
	if runShard(t, dir, 0, 1) != 8 {
		t.Error("not all cells run afterwards")
	}
}

// TestPace: the time left is told by the results of the last ten minutes.
func TestPace(t *testing.T) {
	now := time.Unix(1e9, 0)
	s := Status{Missing: 30}
	var whens []time.Time
	for i := range 10 {
		whens = append(whens, now.Add(-time.Hour+time.Duration(i)*time.Second), now.Add(time.Duration(-i-1)*20*time.Second))
	}
	if s.pace(whens, now); s.LastS != 20 || s.LeftS != 600 {
		t.Errorf("%+v, want 30 cells of 20 s", s)
	}
}
