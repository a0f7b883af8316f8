package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"cacheroute/results"
	"cacheroute/scenarios"
	"cacheroute/scenarios/sweep"
)

func (a *app) sweepCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "sweep",
		Short: "Run the cells of a study on several machines: plan, run, submit, status, resume, collect",
		Long: `Run the cells of a study on several machines that share a folder. A plan holds
what to run and what was run; submit gives its shards to this machine, to Slurm or
to Kubernetes, each of which runs cacheroute sweep run; collect makes the folder
that cacheroute run would have made. docs/sweep.md tells more.`,
		Example: `  cacheroute sweep plan my-study.yaml --out /shared/plan
  cacheroute sweep submit /shared/plan --engine slurm --shards 100
  cacheroute sweep status /shared/plan
  cacheroute sweep collect /shared/plan --out results/my-study`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.sweepPlanCommand(), a.sweepRunCommand(), a.sweepSubmitCommand(), a.sweepStatusCommand(), a.sweepResumeCommand(), a.sweepCollectCommand())
	return c
}

func (a *app) sweepPlanCommand() *cobra.Command {
	f := &studyFlags{}
	var out string
	var requests bool
	c := &cobra.Command{
		Use:   "plan STUDY --out PLAN",
		Short: "Write what to run into a folder that all machines see",
		Long: `Write the resolved study and the list of its cells into the folder PLAN. A cell is
named by a hash of everything that determines its result, the program included:
planned again after a change of the study, only what changed runs again.`,
		Example: "  cacheroute sweep plan my-study.yaml --out /shared/plan",
		Args:    one("STUDY"),
	}
	f.registerChoice(c)
	c.Flags().StringVar(&out, "out", "", "folder of the plan")
	c.Flags().BoolVar(&requests, "requests", false, "also keep a row a request (some 30 bytes each, twice with the requests.parquet of collect)")
	c.RunE = a.body(func(_ context.Context, args []string) error {
		if out == "" {
			return scenarios.Badf("--out: missing, wanted the folder of the plan")
		}
		o, err := f.options()
		if err != nil {
			return err
		}
		variants, err := scenarios.Expand(args[0], o)
		if err != nil {
			return err
		}
		p, err := sweep.Make(out, variants, sweep.MakeOptions{Name: variants[0].Base(), Requests: requests, Build: build()})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.stdout, "%s: %d cells planned in %s\n", p.Study, p.Cells, out)
		return err
	})
	return c
}

func (a *app) sweepRunCommand() *cobra.Command {
	o := sweep.RunOptions{}
	var shard, only, progress string
	c := &cobra.Command{
		Use:   "run PLAN --shard I/N",
		Short: "Run the cells I, I+N, I+2N... of a plan that have no result",
		Long: `Run the cells I, I+N, I+2N... of a plan that have no result; this is what engines
start. Exit codes: 0 done; 75 try again (a full disk, a folder that cannot be
read, a signal): the next try goes on where this one stopped; 2 a cell failed (the
failure is recorded, the other cells are done) or the plan cannot be run.
Two processes may run one shard: they do its work twice and harm nothing.`,
		Example: "  cacheroute sweep run /shared/plan --shard 7/100",
		Args:    one("PLAN"),
	}
	flags := c.Flags()
	flags.StringVar(&shard, "shard", "0/1", "which part of the cells, as `I/N`")
	flags.StringVar(&only, "only", "", "number these shards from 0 on instead of all, as a `list` such as 3,7-9")
	flags.IntVar(&o.Workers, "workers", 0, "parallel runs (0: one for each CPU)")
	flags.BoolVar(&o.RetryFailed, "retry-failed", false, "run the cells again that have failed")
	registerProgress(c, &progress)
	c.RunE = a.body(func(ctx context.Context, args []string) (err error) {
		if o.Workers < 0 {
			return scenarios.Badf("--workers %d: wanted at least 0", o.Workers)
		}
		if o.Shard, err = sweep.ParseShard(shard, only); err != nil {
			return err
		}
		return a.runShard(ctx, args[0], o, progress)
	})
	return c
}

// runShard runs a shard here.
func (a *app) runShard(ctx context.Context, plan string, o sweep.RunOptions, progress string) error {
	if err := checkProgress(progress); err != nil {
		return err
	}
	o.Build, o.Tally = build(), &scenarios.Tally{}
	stop := a.showProgress(progress, o.Tally)
	err := sweep.Run(ctx, plan, o)
	stop()
	if err == nil && progress != "none" {
		a.note("shard %s: %d cells run, %s requests", o.Shard, o.Tally.Done.Load(), short(float64(o.Tally.Requests.Load())))
	}
	return err
}

func (a *app) sweepStatusCommand() *cobra.Command {
	var asJSON, verify bool
	c := &cobra.Command{
		Use:     "status PLAN",
		Short:   "Count the cells that are done, failed and missing, from the results alone",
		Example: "  cacheroute sweep status /shared/plan",
		Args:    one("PLAN"),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON document")
	c.Flags().BoolVar(&verify, "verify", false, "compare each result with its sum, as run, resume and collect do, and with its requests, as collect does")
	c.RunE = a.body(func(_ context.Context, args []string) error {
		s, err := sweep.StatusOf(args[0], verify)
		if err != nil {
			return err
		}
		if !asJSON {
			return s.Print(a.stdout, duration)
		}
		encoder := json.NewEncoder(a.stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(s)
	})
	return c
}

func (a *app) sweepCollectCommand() *cobra.Command {
	o := sweep.CollectOptions{}
	c := &cobra.Command{
		Use:   "collect PLAN",
		Short: "Make the folder of results of a plan that is done",
		Long: `Make the folder of results and the report, as cacheroute run makes them, of a plan
whose cells are all done; print the ladder. The bytes depend neither on the engine
nor on the number and order of shards.`,
		Example: "  cacheroute sweep collect /shared/plan --out results/my-study",
		Args:    one("PLAN"),
	}
	c.Flags().StringVar(&o.Out, "out", "", "folder of results (default results/NAME of the study)")
	c.Flags().BoolVar(&o.Partial, "partial", false, "do without the cells that are missing or failed")
	c.RunE = a.body(func(_ context.Context, args []string) error {
		p, err := sweep.Open(args[0])
		if err != nil {
			return err
		}
		if o.Out == "" {
			o.Out = filepath.Join("results", p.Study)
		}
		if inside(o.Out, args[0]) {
			return scenarios.Badf("--out %s: lies in the plan %s, wanted a folder of its own", o.Out, args[0])
		}
		o.Build, o.Note = build(), a.note
		all := variantsOf(p)
		o.Each = func(r *scenarios.Runner, s *results.Summary, dir string) error {
			for _, n := range r.Notices {
				a.note("%s", n)
			}
			a.note("%d cells; results in %s, page %s", len(s.Cells), dir, scenarios.ReportPath(dir))
			all.next(s)
			return results.PrintLadder(a.stdout, s, a.style(), s.PlanDoubts(r.Rules())...)
		}
		if err := sweep.Collect(args[0], o); err != nil || len(all.Axes) == 0 {
			return err
		}
		return results.WriteVariants(o.Out, &all.Variants)
	})
	return c
}

// inside reports whether a folder is another or lies below it.
func inside(folder, other string) bool {
	below, err := relative(other, folder)
	return err == nil && (below == "." || filepath.IsLocal(below))
}

// relative is the way from one folder to another, wherever the program runs.
func relative(from, to string) (string, error) {
	a, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	b, err := filepath.Abs(to)
	if err != nil {
		return "", err
	}
	return filepath.Rel(a, b)
}

// collected puts the variants of a plan side by side as they are collected.
type collected struct {
	results.Variants
	plan *sweep.Plan
}

func variantsOf(p *sweep.Plan) *collected {
	var planned []scenarios.Variant
	for i := range p.Variants {
		planned = append(planned, scenarios.Variant{Label: p.Variants[i].Label, Values: p.Variants[i].Values})
	}
	return &collected{results.Variants{Study: p.Study, Axes: scenarios.Axes(planned)}, p}
}

// next adds the summary of the next variant.
func (c *collected) next(s *results.Summary) {
	v := &c.plan.Variants[len(c.Variants.Variants)]
	var values []string
	for _, x := range v.Values {
		values = append(values, x.Value)
	}
	lean := *s
	lean.Cells = nil // one variant at a time is in memory
	c.Add(v.Label, values, &lean)
}
