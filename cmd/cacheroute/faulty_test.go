package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// faulty is the program on a bad day: a file busy-I or killed-I in the folder
// $SWEEP_FAULTS makes the next run of shard I say that it should be tried again,
// or ends it with SIGKILL once it has stored a result. Every run takes at least
// a second, so that a test can get between.
func faulty() {
	faults, args := os.Getenv("SWEEP_FAULTS"), strings.Join(os.Args[1:], " ")
	var plan string
	var shard, shards int
	if n, _ := fmt.Sscanf(args, "sweep run %s --shard %d/%d", &plan, &shard, &shards); n == 3 {
		time.Sleep(time.Second)
		if os.Remove(filepath.Join(faults, "busy-"+strconv.Itoa(shard))) == nil {
			os.Exit(exitRetry)
		}
		if os.Remove(filepath.Join(faults, "killed-"+strconv.Itoa(shard))) == nil {
			go killWhenStored(filepath.Join(plan, "segments", fmt.Sprintf("*.%d-of-%d.*", shard, shards)))
		}
	}
	main()
}

func killWhenStored(pattern string) {
	self, err := os.FindProcess(os.Getpid())
	for err == nil {
		if files, _ := filepath.Glob(pattern); len(files) > 0 {
			self.Kill()
		}
		time.Sleep(time.Millisecond)
	}
}

// TestKilledShard: a shard that is killed keeps each result that it has stored,
// and the next run does none of them again.
func TestKilledShard(t *testing.T) {
	dir := t.TempDir()
	study, plan := filepath.Join(dir, "breaker.yaml"), filepath.Join(dir, "plan")
	t.Setenv("SWEEP_FAULTS", dir)
	if err := errors.Join(os.WriteFile(study, []byte(clockBreaker("")), 0o666), os.WriteFile(filepath.Join(dir, "killed-0"), nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	must(t, "cacheroute-faulty", "sweep", "plan", study, "--out", plan)
	stored := func() (files, lines int) {
		segments, err := filepath.Glob(filepath.Join(plan, "segments", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range segments {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines += bytes.Count(text, []byte("\n"))
		}
		return len(segments), lines
	}
	if _, code := command(t, "cacheroute-faulty", "sweep", "run", plan, "--shard", "0/1", "--workers", "1"); code != -1 {
		t.Fatalf("exit code %d, want that it was killed", code)
	}
	if files, lines := stored(); files != 1 || lines >= 499 {
		t.Fatalf("%d segments with %d results, want one that is not whole", files, lines)
	}
	must(t, "cacheroute-faulty", "sweep", "run", plan, "--shard", "0/1", "--workers", "1")
	if files, lines := stored(); files != 2 || lines != 499 {
		t.Errorf("%d segments with %d results, want each of 499 once in two", files, lines)
	}
}
