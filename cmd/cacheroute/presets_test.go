package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cacheroute/calib"
	"cacheroute/results"
)

var full = flag.Bool("full", false, "also repeat the fits that take a minute")

// sharedBench is public measured runs that are no part of the project.
const sharedBench = "../../../shared/data/bench/h100_closed_loop.csv"

// commandOf is the command in the head of a preset file, and whether it gives
// all that would else be searched for.
var commandOf = regexp.MustCompile(`#   (cacheroute calibrate h100_closed_loop\.csv[^#]*(?:#     [^#]*)?)`)

// TestShippedPresets repeats the calibrate command in the head of each preset
// file that has one: the file's numbers are its.
func TestShippedPresets(t *testing.T) {
	if _, err := os.Stat(sharedBench); err != nil {
		t.Skipf("no measured runs at %s", sharedBench)
	}
	repeatable := 0
	for _, name := range calib.Names() {
		text, err := os.ReadFile(filepath.Join("../../calib/presets", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		m := commandOf.FindSubmatch(text)
		if m == nil {
			continue
		}
		repeatable++
		args := strings.Fields(strings.ReplaceAll(string(m[1]), "#", ""))[1:]
		if !*full && len(args) < 5 {
			continue // it has to find how the bench was run, which takes a minute
		}
		t.Run(name, func(t *testing.T) { sameNumbers(t, name, args) })
	}
	if repeatable != 4 {
		t.Errorf("%d presets name their command, want 4", repeatable)
	}
}

// sameNumbers runs calibrate and compares what it writes with a shipped preset.
func sameNumbers(t *testing.T, name string, args []string) {
	path := filepath.Join(t.TempDir(), "p.yaml")
	args[1] = sharedBench
	var out, errs bytes.Buffer
	if code := run(context.Background(), append(args, "--out", path), &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	fitted, err := calib.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := calib.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	if shipped.Bench.Setup != fitted.Bench.Setup || shipped.Bench.Facts != fitted.Bench.Facts {
		t.Errorf("bench %+v, the command gives %+v", shipped.Bench, fitted.Bench)
	}
	for i, a := range shipped.Assumptions {
		b := fitted.Assumptions[i]
		if a.Parameter != b.Parameter || a.Value != b.Value || a.Origin != b.Origin || interval(a) != interval(b) {
			t.Errorf("%+v, the command gives %+v", a, b)
		}
	}
}

// interval is the part of a source that tells interval and errors.
func interval(a results.Assumption) string {
	_, text, _ := strings.Cut(a.Source, ": 99 % interval ")
	return text
}
