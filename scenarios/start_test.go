package scenarios

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestStarts: every kind is a study, under another name too, and its trace is
// that of the documentation.
func TestStarts(t *testing.T) {
	dir := t.TempDir()
	for _, k := range Kinds {
		path := filepath.Join(dir, k.Name+".yaml")
		if _, err := (Start{Kind: k.Name, Name: "other"}).WriteFile(path, false); err != nil {
			t.Fatal(err)
		}
		s, err := Load(path, Options{})
		if err != nil {
			t.Errorf("%s: %v", k.Name, err)
			continue
		}
		if s.Name != "other" {
			t.Errorf("%s: the study is called %s", k.Name, s.Name)
		}
		if _, err := Prepare(s, nil); err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
	written, err := os.ReadFile(filepath.Join(dir, exampleTrace))
	if err != nil {
		t.Fatal(err)
	}
	documented, err := os.ReadFile("../docs/examples/trace.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(written, documented) {
		t.Error("the trace is not that of docs/examples")
	}
}

// TestStartTrace: a path with characters of YAML stays the same path.
func TestStartTrace(t *testing.T) {
	dir := t.TempDir()
	for _, trace := range []string{"/a: b #c.jsonl", `/it's "x".jsonl`, "/$1.jsonl", "/- x"} {
		text, err := Start{Kind: "replay", Name: "r", Trace: trace}.Text(dir)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse("r.yaml", text, Options{})
		if err != nil {
			t.Errorf("%s: %v", trace, err)
		} else if s.Workload.Trace.File != trace {
			t.Errorf("%s became %s", trace, s.Workload.Trace.File)
		}
	}
}
