package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// TestCalibrateIsInterrupted: a fit takes a while, and ends with Ctrl-C.
func TestCalibrateIsInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	var out, errs bytes.Buffer
	if code := run(ctx, []string{"calibrate", "../../docs/examples/bench.csv"}, &out, &errs); code != exitFailed || !strings.Contains(errs.String(), "cacheroute: interrupted") || out.Len() > 0 {
		t.Errorf("exit code %d, %q, %d bytes", code, &errs, out.Len())
	}
}
