package main

import (
	"fmt"
	"time"

	"cacheroute/scenarios"
)

// taken is what a search took.
type taken struct {
	runs, requests int64
	wallS, cpuS    float64
}

func (t taken) String() string {
	return fmt.Sprintf("%d runs, %s requests in %.1f s (%.1f CPU s)", t.runs, short(float64(t.requests)), t.wallS, t.cpuS)
}

// said tells what a search took once its result is printed.
func (t taken) said(a *app, progress string, err error) error {
	if err == nil && progress != "none" {
		a.note("%s", t)
	}
	return err
}

// searched runs cells that are not stored and shows the progress.
func searched[T any](a *app, runner *scenarios.Runner, progress string, workers int, do func(scenarios.SearchOptions) (T, error)) (found T, took taken, err error) {
	for _, n := range runner.Notices {
		a.note("%s", n)
	}
	tally := &scenarios.Tally{}
	start, cpu := time.Now(), cpuSeconds()
	stop := a.showProgress(progress, tally)
	found, err = do(scenarios.SearchOptions{Workers: workers, Tally: tally})
	stop()
	return found, taken{tally.Done.Load(), tally.Requests.Load(), time.Since(start).Seconds(), cpuSeconds() - cpu}, err
}
