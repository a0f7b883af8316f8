package results

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func TestWriteFileAtomic(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	say := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			io.WriteString(w, text)
			return err
		}
	}
	content := func(want string) {
		t.Helper()
		if b, err := os.ReadFile(path); string(b) != want || names(t, dir) != "a" {
			t.Errorf("file holds %q (%v) in a folder of %q, want %q alone", b, err, names(t, dir), want)
		}
	}
	broken := errors.New("broken")
	if err := WriteFileAtomic(path, say("half", broken)); !errors.Is(err, broken) || names(t, dir) != "" {
		t.Errorf("first write: %v, folder holds %q", err, names(t, dir))
	}
	if err := WriteFileAtomic(path, say("first", nil)); err != nil {
		t.Fatal(err)
	}
	content("first")
	if err := WriteFileAtomic(path, say(strings.Repeat("long", 1<<16), broken)); !errors.Is(err, broken) {
		t.Errorf("failed write: %v", err)
	}
	content("first")
	func() {
		defer func() { recover() }()
		WriteFileAtomic(path, func(io.Writer) error { panic("broken") })
	}()
	content("first")
	if err := WriteFileAtomic(path, say("second", nil)); err != nil {
		t.Fatal(err)
	}
	content("second")
}

func TestWriteFileAtomicWhereItCannot(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "folder"), filepath.Join(dir, "none", "a")} {
		err := WriteFileAtomic(path, func(io.Writer) error { return nil })
		if err == nil || !strings.HasPrefix(err.Error(), path+": cannot be written: ") || strings.Contains(err.Error(), ".tmp") {
			t.Errorf("%v", err)
		}
	}
	if got := names(t, dir); got != "folder" {
		t.Errorf("folder holds %q", got)
	}
}

func TestManifest(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "study.yaml"), []byte("abc"), 0o644); err != nil {
		t.Fatal(err)
	}
	m := Manifest{Study: "s", Version: "v", Seeds: []uint64{2, 3},
		Assumptions: []Assumption{{"fleet.kv_blocks", 40071, Measured, "section 4"}}}
	if err := WriteManifest(dir, &m, "study.yaml", "cells.parquet"); err == nil || names(t, dir) != "study.yaml" {
		t.Errorf("a missing file: %v, folder holds %q", err, names(t, dir))
	}
	if err := WriteManifest(dir, &m, "study.yaml"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var back Manifest
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	// SHA-256 of "abc" as in FIPS 180-2, App. B.1.
	want := FileSum{Name: "study.yaml", Bytes: 3, SHA256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}
	if len(back.Files) != 1 || back.Files[0] != want || back.Assumptions[0].Origin != Measured || back.Assumptions[0].Value != 40071. {
		t.Errorf("manifest read back: %+v", back)
	}
}
