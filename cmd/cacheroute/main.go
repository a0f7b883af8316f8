// Command cacheroute simulates how a fleet of LLM engines serves requests under
// different routing policies.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// patience is how long an interrupted run may take to end in order.
const patience = 10 * time.Second

func main() {
	// The first signal ends the run in order, the second one at once. What cannot
	// end in order, such as reading a pipe into which nobody writes, is left.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		stop()
		time.AfterFunc(patience, func() {
			fmt.Fprintln(os.Stderr, "cacheroute: interrupted, and could not end in order")
			os.Exit(exitFailed)
		})
	})
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
