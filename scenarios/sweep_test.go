package scenarios

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cacheroute/results"
)

func prepare(t *testing.T, text string) *Runner {
	t.Helper()
	r, err := Prepare(mustParse(t, text, Options{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func sweepOf(t *testing.T, r *Runner, o SweepOptions) []results.Cell {
	t.Helper()
	o.Tally = &Tally{}
	cells, err := r.Sweep(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

// asJSON is the cells as summary.json holds them.
func asJSON(t *testing.T, cells []results.Cell) string {
	t.Helper()
	text, err := json.Marshal(cells)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestCellOrder(t *testing.T) {
	r := prepare(t, small)
	if r.Cells() != 8 {
		t.Fatalf("%d cells, want 8", r.Cells())
	}
	var got []string
	for i := range r.Cells() {
		c := r.Cell(i)
		text, _ := json.Marshal([]any{c.Policy.Label, c.LoadQPS, c.Seed})
		got = append(got, string(text))
	}
	want := `["flat-lb",20,1] ["flat-lb",20,2] ["flat-lb",40,1] ["flat-lb",40,2] ["cacheroute",20,1] ["cacheroute",20,2] ["cacheroute",40,1] ["cacheroute",40,2]`
	if strings.Join(got, " ") != want {
		t.Errorf("cells %v\nwant  %s", got, want)
	}
}

// TestWorkersAndResume: neither the number of workers nor what was resumed
// changes the result.
func TestWorkersAndResume(t *testing.T) {
	r := prepare(t, small)
	dir := t.TempDir()
	one := asJSON(t, sweepOf(t, r, SweepOptions{Dir: dir, Workers: 1}))
	if three := asJSON(t, sweepOf(t, r, SweepOptions{Dir: t.TempDir(), Workers: 3})); three != one {
		t.Errorf("three workers:\n%s\none:\n%s", three, one)
	}
	files, err := filepath.Glob(filepath.Join(dir, "cells", "*.json"))
	if err != nil || len(files) != 8 {
		t.Fatalf("stored %v, %v", files, err)
	}
	text, err := os.ReadFile(files[3])
	if err != nil {
		t.Fatal(err)
	}
	// One cell lost, one cut short, as by a full disk under another program.
	if err := errors.Join(os.Remove(files[0]), os.WriteFile(files[3], text[:len(text)/2], 0o666)); err != nil {
		t.Fatal(err)
	}
	tally := &Tally{}
	again, err := r.Sweep(context.Background(), SweepOptions{Dir: dir, Workers: 2, Resume: true, Tally: tally})
	if err != nil {
		t.Fatal(err)
	}
	if asJSON(t, again) != one {
		t.Errorf("resumed:\n%s\nwhole:\n%s", asJSON(t, again), one)
	}
	if tally.Cells.Load() != 2 || tally.Done.Load() != 2 {
		t.Errorf("ran %d of %d, want 2 of 2", tally.Done.Load(), tally.Cells.Load())
	}
}

// TestResumeOfOthers: cells of another study or of other code are not taken.
func TestResumeOfOthers(t *testing.T) {
	dir := t.TempDir()
	sweepOf(t, prepare(t, small), SweepOptions{Dir: dir})
	for _, c := range []struct {
		name, from, to string
		code           string
		runs           int64
	}{
		{"other code", "x", "x", "other", 8},
		{"other fleet", "destinations: 2", "destinations: 3", "", 8},
		{"other window", "duration_s: 3", "duration_s: 4", "", 8},
		{"other slots", "slots: 3", "slots: 2", "", 4},
		{"one more seed", "[1, 2]", "[1, 2, 3]", "", 4},
		// Profiles count what is within an objective: those of the first seed are run again.
		{"other objective", "duration_s: 3", "duration_s: 3, slo_ttft_p99_s: [9]", "", 4},
		{"the same objective", "duration_s: 3", "duration_s: 3, slo_ttft_p99_s: [9]", "", 0},
	} {
		r := prepare(t, strings.Replace(small, c.from, c.to, 1))
		tally := &Tally{}
		if _, err := r.Sweep(context.Background(), SweepOptions{Dir: dir, Resume: true, Build: Build{Code: c.code}, Tally: tally}); err != nil {
			t.Fatal(err)
		}
		if tally.Cells.Load() != c.runs {
			t.Errorf("%s: %d cells run, want %d", c.name, tally.Cells.Load(), c.runs)
		}
	}
}

// TestProfilesAreResumed: a cell whose profile is lost runs again, and the file
// of all profiles is then what it was.
func TestProfilesAreResumed(t *testing.T) {
	r, dir := prepare(t, small), t.TempDir()
	finish(t, r, dir)
	before, err := os.ReadFile(filepath.Join(dir, profilesFile))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := filepath.Glob(filepath.Join(dir, profilesFolder, "*.json"))
	if err != nil || len(stored) != 4 {
		t.Fatalf("profiles %v, %v, want one for each policy and load", stored, err)
	}
	if err := errors.Join(os.Remove(stored[1]), os.WriteFile(stored[2], before[:50], 0o666)); err != nil {
		t.Fatal(err)
	}
	tally := &Tally{}
	cells, err := r.Sweep(context.Background(), SweepOptions{Dir: dir, Resume: true, Tally: tally})
	if err != nil {
		t.Fatal(err)
	}
	s := results.Summarise(r.Study.Name, cells, r.Study.Measure.SLOs, r.Study.Measure.MaxFailureRate)
	if err := r.Write(dir, Build{Version: "test"}, &s); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(filepath.Join(dir, profilesFile))
	if err != nil || !bytes.Equal(before, after) || tally.Done.Load() != 2 {
		t.Errorf("%v; %d cells run, want 2; the same profiles: %v", err, tally.Done.Load(), bytes.Equal(before, after))
	}
}

// finish writes the folder of a run.
func finish(t *testing.T, r *Runner, dir string) {
	t.Helper()
	cells := sweepOf(t, r, SweepOptions{Dir: dir})
	s := results.Summarise(r.Study.Name, cells, r.Study.Measure.SLOs, r.Study.Measure.MaxFailureRate)
	if err := r.Write(dir, Build{Version: "test"}, &s); err != nil {
		t.Fatal(err)
	}
}

// TestEarlierResultsAreKept: a folder that holds another study keeps it.
func TestEarlierResultsAreKept(t *testing.T) {
	dir := t.TempDir()
	finish(t, prepare(t, small), dir)
	first, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	finish(t, prepare(t, small), dir) // the same study again: nothing to keep
	if _, err := os.Stat(filepath.Join(dir, "earlier-1")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the same study moved its own results: %v", err)
	}
	for i, change := range []string{"[3]", "[4]"} {
		finish(t, prepare(t, strings.Replace(small, "[1, 2]", change, 1)), dir)
		earlier, err := os.ReadFile(filepath.Join(dir, "earlier-1", "summary.json"))
		if err != nil || !bytes.Equal(earlier, first) {
			t.Errorf("change %d: earlier summary differs (%v)", i, err)
		}
	}
	for _, name := range []string{"earlier-2/study.yaml", "earlier-2/cells.parquet", "manifest.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestForeignFolder: a study.yaml that no run wrote is not touched.
func TestForeignFolder(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "study.yaml")
	if err := os.WriteFile(own, []byte(small), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := prepare(t, small).Sweep(context.Background(), SweepOptions{Dir: dir, Tally: &Tally{}})
	var b *BadInput
	if !errors.As(err, &b) || !strings.Contains(err.Error(), "not the result of a run") {
		t.Errorf("error %v", err)
	}
	if text, err := os.ReadFile(own); err != nil || string(text) != small {
		t.Errorf("the file was changed: %q %v", text, err)
	}
}

// TestCancel: a sweep that is stopped keeps what had finished, leaves no half
// file, and goes on where it stopped.
func TestCancel(t *testing.T) {
	r := prepare(t, strings.Replace(strings.Replace(small, "[20, 40]", "[200, 400, 500, 600]", 1), "duration_s: 3", "duration_s: 100", 1))
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	tally := &Tally{}
	go func() {
		for tally.Done.Load() < 2 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	_, err := r.Sweep(ctx, SweepOptions{Dir: dir, Workers: 2, Tally: tally})
	var stopped *Interrupted
	if !errors.As(err, &stopped) || !strings.Contains(err.Error(), "--resume") {
		t.Fatalf("error %v, want that it was interrupted", err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "cells", "*"))
	if err != nil || len(files) != stopped.Done || stopped.Done < 2 || stopped.Done >= stopped.Cells {
		t.Fatalf("%d files, %v; %+v", len(files), err, stopped)
	}
	resumed := sweepOf(t, r, SweepOptions{Dir: dir, Resume: true})
	if whole := sweepOf(t, r, SweepOptions{Dir: t.TempDir()}); asJSON(t, resumed) != asJSON(t, whole) {
		t.Error("the resumed run differs from a whole one")
	}
}

// TestUnwritable: what cannot be written is the caller's input at fault, before
// anything has run.
func TestUnwritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := prepare(t, small).Sweep(context.Background(), SweepOptions{Dir: filepath.Join(file, "x"), Tally: &Tally{}})
	var b *BadInput
	if !errors.As(err, &b) {
		t.Errorf("error %v, want bad input", err)
	}
}

// TestRefusedBeforeRunning: what no run of the study could do is bad input.
func TestRefusedBeforeRunning(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"  output_tokens", "  whales: {count: 3, times_target: 2, target_qps: 10}\n  output_tokens", "exceed the offered load"},
		{"flat-lb,", "{name: sticky, vnodes: 65536}, {name: chwbl, vnodes: 65536}, {name: dualmap, vnodes: 65536},", "ring points"},
		{"{name: zipf, count: 8}", "{name: rates, file: no-such.csv}", "no-such.csv"},
	} {
		s := mustParse(t, strings.Replace(small, c.from, c.to, 1), sets(t, "fleet.destinations=1000"))
		_, err := Prepare(s, nil)
		var b *BadInput
		if !errors.As(err, &b) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
