package main

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"
)

// TestPagesOnAPhone opens the pages that are not of a run.
func TestPagesOnAPhone(t *testing.T) {
	b := openBrowser(t)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	ranInto(t, in("run"), "run", "quick", "--loads", "30,60", "--policies", "flat-lb,cacheroute")
	for page, args := range map[string][]string{
		"trace.html":   {"trace", "info", "../../docs/examples/trace.jsonl", "--out", in("trace.html")},
		"compare.html": {"compare", in("run"), in("run"), "--pair", "flat-lb=cacheroute", "--html", in("compare.html")},
		"validate.html": {"validate", "../../docs/examples/bench.csv", "--preset", "../../docs/examples/presets/example.yaml",
			"--html", in("validate.html")},
		"gate/gate.html": {"gate", "quick", "--envelope=false", "--seeds", "1,2", "--set", "measure.warmup_s=1", "--set", "measure.duration_s=3",
			"--out", in("gate")},
	} {
		var out, errs bytes.Buffer
		if code := run(context.Background(), args, &out, &errs); code != 0 && args[0] != "gate" { // its code is its verdict
			t.Fatalf("%v: exit code %d: %s", args, code, &errs)
		}
		t.Run(filepath.Base(page), func(t *testing.T) { onPhone(t, b, in(page)) })
	}
	if said := b.heard(); said != nil {
		t.Errorf("the pages said %v", said)
	}
}
