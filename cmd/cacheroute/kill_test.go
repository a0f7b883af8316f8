package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A conversion that is killed leaves no file under the name asked for.
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
}
