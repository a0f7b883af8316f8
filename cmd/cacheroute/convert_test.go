package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"cacheroute/results"
)

// fingerprints of a replay, one a policy.
func fingerprints(t *testing.T, path string, more ...string) (all []string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args := append([]string{"replay", path, "--destinations", "3", "--seeds", "2", "--speed", "2", "--json", "--out", t.TempDir()}, more...)
	if code := run(context.Background(), args, &stdout, &stderr); code != exitDone {
		t.Fatalf("%v: exit code %d: %s", args, code, &stderr)
	}
	var s results.Summary
	if err := json.Unmarshal(stdout.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	for _, c := range s.Cells {
		all = append(all, c.Policy+" "+c.Fingerprint)
	}
	return all
}

// A replay of a converted trace is that of the trace, to the last event: with
// block ids and with sessions in a closed loop.
func TestConversionKeepsTheReplay(t *testing.T) {
	dir := t.TempDir()
	turns := filepath.Join(dir, "turns.csv")
	text := "arrival_s,session,input_tokens,output_tokens,think_us\n0,a,200,10,\n1,a,300,10,500000\n2,b,100,10,\n2.5,b,200,10,\n9,,50,1,\n"
	if err := os.WriteFile(turns, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path  string
		flags []string
	}{
		{"../../docs/examples/trace.jsonl", []string{"--key", "prefix:2"}},
		{turns, []string{"--closed", "--assume", "template=32,history"}},
	} {
		want := fingerprints(t, c.path, c.flags...)
		for _, end := range []string{".parquet", ".csv", ".jsonl"} {
			out := filepath.Join(dir, "copy"+end)
			var stdout, stderr bytes.Buffer
			if code := run(context.Background(), []string{"trace", "convert", c.path, out}, &stdout, &stderr); code != exitDone {
				t.Fatalf("exit code %d: %s", code, &stderr)
			}
			got := fingerprints(t, out, c.flags...)
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("%s as %s: %s, wanted %s", c.path, end, got[i], want[i])
				}
			}
		}
	}
}
