package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
