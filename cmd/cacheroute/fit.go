package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cacheroute/scenarios"
	"cacheroute/scenarios/fit"
)

type fitFlags struct {
	out         string
	workers     int
	generations int
	resume      bool
	progress    string
	json        bool
}

func (a *app) fitCommand() *cobra.Command {
	f := &fitFlags{}
	c := &cobra.Command{
		Use:   "fit SPEC [--out DIR] [--resume]",
		Short: "Search the unpublished numbers of a study for those that give a published table",
		Long: `Search the numbers of a study that nobody published - lengths, prices, windows,
readings of policies - for those under which the simulated ladder comes nearest to
a published table. SPEC is a YAML file or the name of a shipped one (table-1: the
paper's Table 1). The result is a hypothesis about somebody's harness, not a
measurement: it says how well each number is determined and what other optima
there are.`,
		Example: `  cacheroute fit table-1 --out results/fit
  cacheroute fit table-1 --out results/fit --resume`,
		Args: one("spec"),
	}
	c.Flags().StringVar(&f.out, "out", "", "folder for journal, fitted study and fit.json (default results/fit-SPEC)")
	c.Flags().IntVar(&f.workers, "workers", 0, "points evaluated in parallel (0: one for each CPU)")
	c.Flags().IntVar(&f.generations, "generations", 0, "at most so many generations a stage, to try things out (0: as the spec says)")
	c.Flags().BoolVar(&f.resume, "resume", false, "go on from the journal in the folder")
	registerProgress(c, &f.progress)
	c.Flags().BoolVar(&f.json, "json", false, "print fit.json and nothing else to standard output")
	c.RunE = a.body(func(ctx context.Context, args []string) error { return a.fit(ctx, args[0], f) })
	return c
}

func (a *app) fit(ctx context.Context, name string, f *fitFlags) error {
	if f.workers < 0 || f.generations < 0 {
		return scenarios.Badf("--workers and --generations: wanted 0 or more")
	}
	if err := checkProgress(f.progress); err != nil {
		return err
	}
	spec, err := fit.Load(name)
	if err != nil {
		return err
	}
	if f.out == "" {
		f.out = filepath.Join("results", "fit-"+strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)))
	}
	release, err := scenarios.Claim(f.out)
	if err != nil {
		return err
	}
	defer release()
	journal, err := spec.OpenJournal(filepath.Join(f.out, "journal.jsonl"), build().Code, f.resume)
	if err != nil {
		return err
	}
	defer journal.Close()
	show, end := a.showGenerations(f.progress, spec.Generations(f.generations))
	result, err := spec.Search(ctx, fit.Options{
		Workers: f.workers, Generations: f.generations, Journal: journal,
		Tally: &scenarios.Tally{}, Generation: show,
	})
	end()
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted after %d generations; the same command with --resume goes on", journal.Generations())
	}
	if err != nil {
		return err
	}
	if err := result.WriteFolder(f.out); err != nil {
		return err
	}
	a.note("wrote %s", f.out)
	if f.json {
		return result.JSON(a.stdout)
	}
	return result.Print(a.stdout)
}
