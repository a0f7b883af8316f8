package main

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"cacheroute/scenarios"
)

const (
	barEvery   = 200 * time.Millisecond
	plainEvery = 5 * time.Second
)

func knownProgress(mode string) bool {
	return slices.Contains([]string{"auto", "bar", "plain", "none"}, mode)
}

// showProgress shows how far a sweep is until the returned function is called.
// The tally is the truth; what is shown only reads it.
func (a *app) showProgress(mode string, tally *scenarios.Tally) (stop func()) {
	if mode == "auto" {
		mode = "plain"
		if f, ok := a.stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			mode = "bar"
		}
	}
	start := time.Now()
	switch mode {
	case "bar":
		bar := progressbar.NewOptions64(-1, progressbar.OptionSetWriter(a.stderr), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetElapsedTime(false), progressbar.OptionSetPredictTime(false), progressbar.OptionSetWidth(24))
		show := func() {
			bar.ChangeMax64(max(1, tally.Expected.Load()))
			bar.Describe(status(tally, time.Since(start)))
			// A bar that cannot be drawn is no reason to stop the run.
			_ = bar.Set64(min(tally.Requests.Load(), tally.Expected.Load()))
		}
		end := every(barEvery, show)
		return func() {
			end()
			_ = bar.Clear()
		}
	case "plain":
		return every(plainEvery, func() { a.note("%s", status(tally, time.Since(start))) })
	}
	return func() {}
}

// status is one line about a sweep.
func status(t *scenarios.Tally, elapsed time.Duration) string {
	done, requests := t.Done.Load(), t.Requests.Load()
	s := fmt.Sprintf("%d/%d cells, %s requests/s", done, t.Cells.Load(), short(float64(requests)/elapsed.Seconds()))
	if requests > 0 {
		rest := max(0, float64(t.Expected.Load()-requests)/float64(requests)*elapsed.Seconds())
		s += fmt.Sprintf(", %.0f s left", rest)
	}
	if c := t.Current.Load(); c != nil {
		s += fmt.Sprintf(", %s at %v/s", c.Policy.Label, c.LoadQPS)
	}
	return s
}

// every calls f in each period until the returned function is called, which
// waits for the last call.
func every(period time.Duration, f func()) (stop func()) {
	quit := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		tick := time.NewTicker(period)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				f()
			case <-quit:
				return
			}
		}
	})
	return func() {
		close(quit)
		group.Wait()
	}
}

// short prints a large number in three digits.
func short(n float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if n >= unit.size {
			return fmt.Sprintf("%.3g %s", n/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%.3g", n)
}
