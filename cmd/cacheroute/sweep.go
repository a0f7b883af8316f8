package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"cacheroute/results"
	"cacheroute/scenarios"
)

// sweepFlags are the flags of the commands that run the cells of a study.
type sweepFlags struct {
	studyFlags
	out      string
	resume   bool
	requests bool
	json     bool
	progress string
}

func (f *sweepFlags) register(c *cobra.Command) {
	f.studyFlags.register(c)
	flags := c.Flags()
	flags.StringVar(&f.out, "out", "", "folder of results (default results/NAME of the study)")
	flags.BoolVar(&f.resume, "resume", false, "take finished cells from the folder of results, run the rest")
	flags.BoolVar(&f.requests, "requests", false, "also write requests.parquet, a row a request (some 30 bytes each, twice with what --resume needs)")
	flags.BoolVar(&f.json, "json", false, "print summary.json and nothing else to standard output")
	registerProgress(c, &f.progress)
}

// options turns the flags into changes of the study; errors name the flag.
func (f *sweepFlags) options() (scenarios.Options, error) {
	if err := checkProgress(f.progress); err != nil {
		return scenarios.Options{}, err
	}
	return f.studyFlags.options()
}

func (a *app) runCommand() *cobra.Command {
	f := &sweepFlags{}
	c := &cobra.Command{
		Use:   "run STUDY",
		Short: "Run every cell (policy x load x seed) of a study; print the ladder and the knees",
		Long: `Run every cell (policy x load x seed) of a study and print p99 latency and KV hit
by load, and the highest load that each policy sustains.

STUDY is a YAML file or the name of a shipped scenario (cacheroute list scenarios).
A folder of results that holds another study keeps it: its files move to earlier-N.
A study with axes (sweep:) runs as one study for each combination of their values,
each in a folder of its own below, with sweep.json and sweep.csv beside them.`,
		Example: `  cacheroute run table-1
  cacheroute run quick --policies flat-lb,cacheroute --set fleet.destinations=20
  cacheroute run my-study.yaml --loads 30,60 --seeds 2,3 --json
  cacheroute run quick --set sweep.fleet.destinations=[10,20,40]`,
		Args: one("STUDY"),
	}
	f.register(c)
	c.RunE = a.body(func(ctx context.Context, args []string) error {
		variants, err := openVariants(args[0], f.options)
		if err != nil {
			return err
		}
		if variants[0].Label != "" {
			return a.runVariants(ctx, variants, f)
		}
		runner, err := prepare(ctx, variants[0].Study, nil)
		if err != nil {
			return err
		}
		return a.sweep(ctx, runner, f)
	})
	return c
}

// prepare reads the inputs of a study; it gives up when the context ends, as
// nothing has been written yet.
func prepare(ctx context.Context, study *scenarios.Study, speeds []float64) (*scenarios.Runner, error) {
	type ready struct {
		runner *scenarios.Runner
		err    error
	}
	done := make(chan ready, 1)
	go func() {
		runner, err := scenarios.Prepare(study, speeds)
		done <- ready{runner, err}
	}()
	select {
	case r := <-done:
		return r.runner, r.err
	case <-ctx.Done():
		return nil, errors.New("interrupted while reading the inputs; nothing was written")
	}
}

// sweep runs the cells, writes the folder of results and prints the summary.
func (a *app) sweep(ctx context.Context, runner *scenarios.Runner, f *sweepFlags) error {
	dir := f.folder(runner.Study.Name)
	for _, n := range runner.Notices {
		a.note("%s", n)
	}
	tally := &scenarios.Tally{}
	summary, err := a.runInto(ctx, dir, runner, f, tally)
	if err != nil {
		return err
	}
	if f.json {
		_, err = summary.WriteTo(a.stdout)
	} else {
		notes := append(summary.PlanDoubts(runner.Rules()), runner.Predicted(summary)...)
		err = results.PrintLadder(a.stdout, summary, a.style(), notes...)
	}
	if err != nil || f.progress == "none" {
		return err
	}
	a.note("%d cells (%d run now), %s requests in %.1f s (%.1f CPU s); results in %s, page %s", len(summary.Cells), tally.Cells.Load(),
		short(float64(tally.Requests.Load())), summary.WallS, summary.CPUS, dir, scenarios.ReportPath(dir))
	return nil
}

// folder is the folder of results.
func (f *sweepFlags) folder(study string) string {
	if f.out != "" {
		return f.out
	}
	return filepath.Join("results", study)
}

// runInto runs the cells and writes the folder of results.
func (a *app) runInto(ctx context.Context, dir string, runner *scenarios.Runner, f *sweepFlags, tally *scenarios.Tally) (*results.Summary, error) {
	study := runner.Study
	o := scenarios.SweepOptions{Dir: dir, Workers: f.workers, Resume: f.resume, Requests: f.requests, Build: build(), Tally: tally, Note: a.note}
	release, err := scenarios.Claim(dir)
	if err != nil {
		return nil, err
	}
	defer release()
	start, cpu := time.Now(), cpuSeconds()
	stop := a.showProgress(f.progress, tally)
	cells, err := runner.Sweep(ctx, o)
	stop()
	if err != nil {
		return nil, err
	}
	summary := results.Summarise(study.Name, cells, study.Measure.SLOs, study.Measure.MaxFailureRate)
	summary.WallS, summary.CPUS = time.Since(start).Seconds(), cpuSeconds()-cpu
	return &summary, runner.Write(dir, o.Build, &summary)
}
