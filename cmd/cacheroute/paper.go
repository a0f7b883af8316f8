package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"cacheroute/scenarios"
	"cacheroute/scenarios/paper"
)

// paperFlags are the flags of paper.
type paperFlags struct {
	tables   []string
	seeds    string
	workers  int
	out      string
	json     bool
	progress string
}

func (a *app) paperCommand() *cobra.Command {
	f := &paperFlags{}
	c := &cobra.Command{
		Use:   "paper",
		Short: "Hold the paper's tables against the simulation, cell by cell",
		Long: `Simulate the paper's Tables 1 to 15, Figure 2 and the numbers of its text, and print
the paper's number beside the simulated one, with a verdict for each cell: value,
ratio, order or miss, and whether each claim of the text holds. What is assumed
beyond the paper is listed with the studies, in the page and in the JSON.

DIR gets paper.json, paper.html and the studies, which cacheroute run takes.`,
		Example: `  cacheroute paper
  cacheroute paper --table 3 --seeds 2
  cacheroute paper --table 1,F2,text --json`,
		Args: cobra.NoArgs,
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.tables, "table", nil, "these tables only, as a comma list: 1 to 15, F2 (Figure 2), text")
	flags.StringVar(&f.seeds, "seeds", "", "seeds of every study, as a comma list (default: the paper's)")
	flags.IntVar(&f.workers, "workers", 0, "parallel runs (0: one for each CPU)")
	flags.StringVar(&f.out, "out", filepath.Join("results", "paper"), "folder of results")
	flags.BoolVar(&f.json, "json", false, "print paper.json and nothing else to standard output")
	registerProgress(c, &f.progress)
	c.RunE = a.body(func(ctx context.Context, _ []string) error { return a.paper(ctx, f) })
	return c
}

// options checks the flags.
func (f *paperFlags) options() (paper.Options, error) {
	o := paper.Options{Tables: f.tables, Workers: f.workers, Dir: f.out, Tally: &scenarios.Tally{}}
	for _, word := range words(f.seeds) {
		seed, err := strconv.ParseUint(word, 10, 64)
		if err != nil || slices.Contains(o.Seeds, seed) {
			return o, scenarios.Badf("--seeds %s: read %q, wanted different whole numbers", f.seeds, word)
		}
		o.Seeds = append(o.Seeds, seed)
	}
	switch {
	case f.seeds != "" && o.Seeds == nil:
		return o, scenarios.Badf("--seeds %s: no number, wanted a comma list", f.seeds)
	case f.workers < 0:
		return o, scenarios.Badf("--workers %d: wanted at least 0", f.workers)
	}
	if err := checkProgress(f.progress); err != nil {
		return o, err
	}
	return o, paper.Check(f.tables)
}

func (a *app) paper(ctx context.Context, f *paperFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	release, err := scenarios.Claim(f.out)
	if err != nil {
		return err
	}
	defer release()
	start := time.Now()
	stop := a.showProgress(f.progress, o.Tally)
	report, err := paper.Run(ctx, o)
	stop()
	if ctx.Err() != nil {
		return errors.New("interrupted; no results were written")
	}
	if err != nil {
		return err
	}
	if err := report.Write(f.out, build().Version); err != nil {
		return err
	}
	if f.json {
		err = report.JSON(a.stdout)
	} else {
		err = report.Print(a.stdout, a.style())
	}
	if err != nil || f.progress == "none" {
		return err
	}
	a.note("%d cells, %s requests in %.1f s; results in %s, page %s", o.Tally.Cells.Load(), short(float64(o.Tally.Requests.Load())), time.Since(start).Seconds(), f.out, paper.PagePath(f.out))
	return nil
}
