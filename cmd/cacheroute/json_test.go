package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"testing"

	"cacheroute/results"
)

// TestJSON: --json prints one summary and nothing else to standard output, and
// all but what the clock says is the same again.
func TestJSON(t *testing.T) {
	once := func(extra ...string) results.Summary {
		t.Helper()
		var stdout, stderr bytes.Buffer
		args := append([]string{"run", "quick", "--json", "--loads", "60", "--out", t.TempDir()}, extra...)
		if code := run(context.Background(), args, &stdout, &stderr); code != 0 {
			t.Fatalf("exit code %d: %s", code, &stderr)
		}
		var s results.Summary
		d := json.NewDecoder(&stdout)
		d.DisallowUnknownFields()
		if err := d.Decode(&s); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Token(); err != io.EOF {
			t.Fatalf("text after the document: %v", err)
		}
		if s.WallS <= 0 || s.SimulatedRequests <= 0 || len(s.Cells) != 12 {
			t.Errorf("wall %v s, %d requests, %d cells", s.WallS, s.SimulatedRequests, len(s.Cells))
		}
		s.WallS, s.CPUS = 0, 0
		return s
	}
	var first, second bytes.Buffer
	one, two := once("--workers", "1"), once("--workers", "2")
	if _, err := one.WriteTo(&first); err != nil {
		t.Fatal(err)
	}
	if _, err := two.WriteTo(&second); err != nil {
		t.Fatal(err)
	}
	if first.String() != second.String() {
		t.Error("one and two workers differ")
	}
}

// TestCancelled: a run that is told to stop before it has begun says so.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{"run", "quick", "--out", t.TempDir()}, &stdout, &stderr)
	if code != exitFailed || !bytes.Contains(stderr.Bytes(), []byte("cacheroute: interrupted")) || stdout.Len() > 0 {
		t.Errorf("exit code %d, %s%s", code, &stdout, &stderr)
	}
}
