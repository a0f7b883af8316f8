package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A conversion that is killed leaves no file under the name asked for, and what
// it leaves goes with a later one.
func TestKilledConversionLeavesNoFile(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "out.csv")
	c := exec.Command(self, "trace", "convert", "/dev/stdin", out)
	c.Args[0] = "cacheroute" // what the test binary then is
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Skip(err)
	}
	row := []byte(`{"arrival_s": 1, "input_tokens": 1, "output_tokens": 1}` + "\n")
	for range 100_000 { // more than any buffer on the way
		if _, err := in.Write(row); err != nil {
			t.Skip("no /dev/stdin: ", err)
		}
	}
	begun := func() bool {
		files, err := os.ReadDir(dir)
		return err == nil && len(files) > 0
	}
	for range 5000 {
		if begun() {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if !begun() {
		t.Fatal("no temporary file")
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.Wait()
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("a killed conversion left %s: %v", out, err)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".out.csv.*.tmp"))
	if err != nil || len(left) != 1 {
		t.Fatalf("temporary files %v, %v; want one", left, err)
	}
	other := filepath.Join(dir, ".out.csv2.1.tmp")
	if err := os.WriteFile(other, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		age  time.Duration
		left int
	}{{time.Minute, 2}, {2 * time.Hour, 1}} {
		then := time.Now().Add(-c.age)
		if err := errors.Join(os.Chtimes(left[0], then, then), os.Chtimes(other, then, then)); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), []string{"trace", "convert", "../../docs/examples/trace.jsonl", out}, &stdout, &stderr); code != exitDone {
			t.Fatalf("exit code %d: %s", code, &stderr)
		}
		if now, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(now) != c.left {
			t.Errorf("a conversion %v later: %v, %v; want %d hidden files", c.age, now, err, c.left)
		}
	}
}
