package sweep

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cacheroute/scenarios"
)

// TestReplanned: a plan made again keeps the results that still hold.
func TestReplanned(t *testing.T) {
	dir := t.TempDir()
	planned(t, dir, small, scenarios.Build{})
	runShard(t, dir, 0, 2)
	runShard(t, dir, 1, 2)
	for _, c := range []struct {
		name, from, to string
		runs           int
	}{
		{"the same", "x", "x", 0},
		{"other fleet", "destinations: 2", "destinations: 3", 8},
		{"other slots", "slots: 3", "slots: 2", 4},
		{"one more load", "[20, 40]", "[10, 20, 40]", 4},
		// Profiles count what is within an objective: those of the first seed are run again.
		{"other objective", "duration_s: 3", "duration_s: 3, slo_ttft_p99_s: [9]", 4},
	} {
		planned(t, dir, strings.Replace(small, c.from, c.to, 1), scenarios.Build{})
		if ran := runShard(t, dir, 0, 3) + runShard(t, dir, 1, 3) + runShard(t, dir, 2, 3); ran != c.runs {
			t.Errorf("%s: %d cells run, want %d", c.name, ran, c.runs)
		}
		collected(t, dir)
	}
}

// TestBadPlan: what is wrong with a plan is said, is not tried again, and is
// mended by a new plan, which keeps the results.
func TestBadPlan(t *testing.T) {
	cut := func(name string) func(dir string) error {
		return func(dir string) error {
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			return os.Truncate(filepath.Join(dir, name), info.Size()/2)
		}
	}
	replace := func(name, from, to string) func(dir string) error {
		return func(dir string) error {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, name), bytes.Replace(text, []byte(from), []byte(to), 1), 0o666)
		}
	}
	remove := func(name string) func(dir string) error {
		return func(dir string) error { return os.Remove(filepath.Join(dir, name)) }
	}
	dir := t.TempDir()
	planned(t, dir, small, scenarios.Build{Version: "1"})
	runShard(t, dir, 0, 1)
	for _, c := range []struct {
		hurt func(dir string) error
		code string
		want string
	}{
		{cut(planFile), "", "wanted a plan as it was written: plan again, the results are kept"},
		{cut(cellsFile), "", "cells.jsonl: not as it was planned"},
		{replace(planFile, `"format": 2`, `"format": 1`), "", "format 1, wanted 2"},
		{replace(planFile, `"cells": 8`, `"cells": 9`), "", "8 cells in its variants, wanted 9"},
		{replace(planFile, `studies/0000.yaml`, `../0000.yaml`), "", "of the study \"../0000.yaml\", wanted"},
		{replace(planFile, `"variants": [`, `"variants": [{"cells": -1, "file": "x"},`), "", "with -1 cells"},
		{replace(planFile, `"variants":`, `"variations":`), "", "0 cells in its variants, wanted 8, and at least 1"},
		{func(dir string) error { return nil }, "other", "made by cacheroute 1, code , and this is , code other"},
		{remove(planFile), "", "plan.json: not there, wanted a folder as cacheroute sweep plan writes it"},
		{remove(cellsFile), "", "cells.jsonl: not there"},
		{remove("studies/0000.yaml"), "", "0000.yaml: not there"},
		{replace("studies/0000.yaml", "destinations: 2", "destinations: 3"), "", "0000.yaml: not the study that was planned: plan again"},
	} {
		if err := c.hurt(dir); err != nil {
			t.Fatal(err)
		}
		err := Run(t.Context(), dir, RunOptions{Shard: Shard{0, 1}, Build: scenarios.Build{Code: c.code}, Tally: &scenarios.Tally{}})
		var bad *scenarios.BadInput
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want bad input and %q", err, c.want)
		}
		if c.code == "" {
			_, status := StatusOf(dir, false)
			_, _, _, resume := Submission{Engine: "local"}.Prepare(dir)
			for _, err := range []error{status, resume, collect(dir, t.TempDir(), false)} {
				if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want bad input and %q", err, c.want)
				}
			}
		}
		planned(t, dir, small, scenarios.Build{Version: "1"})
		if ran := runShard(t, dir, 0, 1); ran != 0 {
			t.Errorf("%s: %d cells run after it was planned again", c.want, ran)
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, segmentsFolder)); err != nil {
		t.Fatal(err)
	}
	if _, err := StatusOf(dir, false); err == nil || !strings.Contains(err.Error(), "segments: not there") {
		t.Errorf("status without segments: %v", err)
	}
	planned(t, dir, small, scenarios.Build{Version: "1"})
	if ran := runShard(t, dir, 0, 1); ran != 8 {
		t.Errorf("%d cells run after their results were deleted", ran)
	}
	if err := os.Mkdir(filepath.Join(dir, segmentsFolder, "mine"), 0o777); err != nil {
		t.Fatal(err)
	}
	if s, err := StatusOf(dir, true); err != nil || s.Done != 8 {
		t.Errorf("status beside a folder: %+v, %v", s, err)
	}
	var bad *scenarios.BadInput
	if _, err := Make(filepath.Join(dir, planFile), nil, MakeOptions{}); !errors.As(err, &bad) || !strings.Contains(err.Error(), "cannot hold a plan") {
		t.Errorf("planned into a file: %v", err)
	}
	if _, err := Make("..", nil, MakeOptions{}); err == nil || !strings.Contains(err.Error(), "holds files and no plan") {
		t.Errorf("planned into a foreign folder: %v", err)
	}
}

// TestChangedInput: a shard does not run on other inputs than were planned.
func TestChangedInput(t *testing.T) {
	dir := t.TempDir()
	rates := filepath.Join(t.TempDir(), "rates.csv")
	if err := os.WriteFile(rates, []byte("key,rate\na,1\nb,2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	planned(t, dir, strings.Replace(small, "{name: zipf, count: 8}", "{name: rates, file: "+rates+"}", 1), scenarios.Build{})
	if err := os.WriteFile(rates, []byte("key,rate\na,1\nb,3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	err := Run(t.Context(), dir, RunOptions{Shard: Shard{0, 1}, Tally: &scenarios.Tally{}})
	if err == nil || !strings.Contains(err.Error(), "rates.csv: has changed since it was planned") {
		t.Errorf("error %v", err)
	}
	if err := os.Remove(rates); err != nil {
		t.Fatal(err)
	}
	var again *Transient
	if err := Run(t.Context(), dir, RunOptions{Shard: Shard{0, 1}, Tally: &scenarios.Tally{}}); !errors.As(err, &again) {
		t.Errorf("error %v of an input that is not there, want a transient one", err)
	}
}

// TestVariants: each study of a plan gets its folder, equal to that of a plan of
// it alone.
func TestVariants(t *testing.T) {
	parse := func(from, to string) *scenarios.Study {
		study, err := scenarios.Parse("small.yaml", []byte(strings.Replace(small, from, to, 1)), scenarios.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return study
	}
	dir, out := t.TempDir(), t.TempDir()
	variants := []scenarios.Variant{{Label: "three", Study: parse("destinations: 2", "destinations: 3")}, {Label: "as it was", Study: parse("", "")}}
	if p, err := Make(dir, variants, MakeOptions{Name: "small"}); err != nil || p.Cells != 16 {
		t.Fatalf("plan %+v, %v", p, err)
	}
	if ran := runShard(t, dir, 1, 3) + runShard(t, dir, 0, 3) + runShard(t, dir, 2, 3); ran != 16 {
		t.Errorf("%d cells run, want 16", ran)
	}
	if err := collect(dir, out, false); err != nil {
		t.Fatal(err)
	}
	same(t, "the second variant", files(t, filepath.Join(out, "as it was")), swept(t))
	if files(t, filepath.Join(out, "three"))["study.yaml"] == files(t, filepath.Join(out, "as it was"))["study.yaml"] {
		t.Error("both variants have one study")
	}
	for _, label := range []string{"three", "", "../x", "./three"} {
		variants[1].Label = label
		if _, err := Make(t.TempDir(), variants, MakeOptions{Name: "small"}); err == nil || !strings.Contains(err.Error(), "a label of its own") {
			t.Errorf("label %q: %v", label, err)
		}
	}
}
