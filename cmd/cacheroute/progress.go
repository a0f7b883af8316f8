package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"cacheroute/calib"
	"cacheroute/scenarios"
	"cacheroute/scenarios/fit"
)

const (
	barEvery   = 100 * time.Millisecond
	plainEvery = 5 * time.Second
	barCells   = 20 // of a wide terminal; a narrow one needs its columns for the text
	textCells  = 72
)

func registerProgress(c *cobra.Command, mode *string) {
	c.Flags().StringVar(mode, "progress", "auto", "auto, bar, plain or none")
}

func checkProgress(mode string) error {
	if !slices.Contains([]string{"auto", "bar", "plain", "none"}, mode) {
		return scenarios.Badf("--progress %s: wanted auto, bar, plain or none", mode)
	}
	return nil
}

// showProgress shows how far a sweep is until the returned function is called.
// The tally is the truth; what is shown only reads it.
func (a *app) showProgress(mode string, tally *scenarios.Tally) (stop func()) {
	start := time.Now()
	return a.show(mode, func() (done, expected int64, text string) {
		return tally.Requests.Load(), tally.Expected.Load(), status(tally, time.Since(start))
	})
}

// showGenerations is showProgress of a search, which tells each generation to
// the first of the returned functions.
func (a *app) showGenerations(mode string, generations int) (tell func(fit.Progress), stop func()) {
	var last atomic.Pointer[fit.Progress]
	var done atomic.Int64
	stop = a.show(mode, func() (int64, int64, string) {
		p := last.Load()
		if p == nil {
			return 0, int64(generations), "first generation"
		}
		return done.Load(), int64(generations), fmt.Sprintf("stage %d/%d, %s, generation %d/%d, loss %.2f, best %.2f",
			p.Stage, p.Stages, p.Start, p.Generation, p.Generations, p.Loss, p.Best)
	})
	return func(p fit.Progress) {
		last.Store(&p)
		done.Add(1)
	}, stop
}

// showFit is showProgress of the fit of a bench, one part of all.
func (a *app) showFit(mode, part string, t *calib.FitTally) (stop func()) {
	return a.show(mode, func() (done, expected int64, text string) {
		done, expected = t.Done.Load(), t.Fits.Load()
		return done, expected, fmt.Sprintf("%s%d/%d fits, %s runs simulated", part, done, expected, short(float64(t.Runs.Load())))
	})
}

// show draws what now tells until the returned function is called.
func (a *app) show(mode string, now func() (done, expected int64, text string)) (stop func()) {
	if mode == "auto" {
		mode = "plain"
		if _, ok := terminal(a.stderr); ok {
			mode = "bar"
		}
	}
	switch mode {
	case "bar":
		end := every(barEvery, func() {
			done, expected, text := now()
			a.drawBar(bar(done, expected, text, columns(a.stderr)-1))
		})
		return func() {
			end()
			a.drawBar("")
		}
	case "plain":
		return every(plainEvery, func() {
			_, _, text := now()
			a.note("%s", text)
		})
	}
	return func() {}
}

// drawBar replaces the bar by a line, none if it is empty.
func (a *app) drawBar(line string) {
	a.line.Lock()
	defer a.line.Unlock()
	a.clearBar()
	if a.barred = line != ""; a.barred {
		fmt.Fprint(a.stderr, line)
	}
}

// clearBar empties the line of the bar, if there is one.
func (a *app) clearBar() {
	if a.barred {
		fmt.Fprint(a.stderr, "\r\x1b[K")
	}
}

// note prints a line for the user that is not a result.
func (a *app) note(format string, args ...any) {
	a.line.Lock()
	defer a.line.Unlock()
	a.clearBar()
	a.barred = false
	fmt.Fprintf(a.stderr, "cacheroute: "+format+"\n", args...)
}

// bar is a bar and a text, cut to a width. The library draws into a string,
// as what it prints by itself is wider than a narrow terminal.
func bar(done, expected int64, text string, most int) string {
	expected = max(1, expected)
	drawn := progressbar.NewOptions64(expected,
		progressbar.OptionSetWriter(io.Discard),
		progressbar.OptionSetWidth(min(barCells, max(6, most-textCells))),
		progressbar.OptionSetTheme(progressbar.Theme{Saucer: "█", SaucerPadding: "░"}),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetRenderBlankState(true))
	if err := drawn.Set64(min(expected, done)); err != nil {
		panic(fmt.Sprintf("progress: %v", err)) // only beyond the maximum
	}
	line := strings.TrimSpace(drawn.String()) + "  " + text
	if utf8.RuneCountInString(line) > most {
		line = string([]rune(line)[:max(0, most)])
	}
	return line
}

// status is one line about a sweep.
func status(t *scenarios.Tally, elapsed time.Duration) string {
	done, requests := t.Done.Load(), t.Requests.Load()
	s := fmt.Sprintf("%d/%d cells, %s requests/s", done, t.Cells.Load(), short(float64(requests)/elapsed.Seconds()))
	if requests > 0 {
		rest := max(0, float64(t.Expected.Load()-requests)/float64(requests)*elapsed.Seconds())
		s += fmt.Sprintf(", %s left", duration(rest))
	}
	if t.Part != "" {
		s = t.Part + ": " + s
	}
	if c := t.Current.Load(); c != nil {
		s += fmt.Sprintf(", %s at %.6g/s", c.Policy.Label, c.LoadQPS)
	}
	return s
}

// duration prints a number of seconds as one would say it.
func duration(seconds float64) string {
	switch {
	case seconds < 99.5:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 99.5*60:
		return fmt.Sprintf("%.0f min", seconds/60)
	}
	return fmt.Sprintf("%.1f h", seconds/3600)
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
