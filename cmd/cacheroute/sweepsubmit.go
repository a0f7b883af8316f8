package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cacheroute/scenarios/sweep"
)

// submitFlags are the flags of submit and resume.
type submitFlags struct {
	sweep.Submission
	dryRun   bool
	progress string
}

func (f *submitFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.Engine, "engine", "local", strings.Join(sweep.Engines(), ", "))
	flags.IntVar(&f.Shards, "shards", 0, "number of shards of the whole plan (0: 1 here, else 100)")
	flags.IntVar(&f.CPUs, "cpus", 0, "CPUs of a shard, which runs as many cells at a time (0: all here, else 1)")
	flags.StringVar(&f.Memory, "memory", "", "memory of a shard, as the engine writes it, such as 4G or 4Gi")
	flags.IntVar(&f.AtMost, "at-most", 0, "run at most so many shards at a time (0: as the engine likes)")
	flags.StringVar(&f.Image, "image", "", "Kubernetes: image that holds this program")
	flags.StringVar(&f.Claim, "claim", "", "Kubernetes: claim of the ReadWriteMany volume that holds the plan")
	flags.StringVar(&f.Mount, "mount", "", "Kubernetes: where that volume is mounted, here and in the pods")
	flags.BoolVar(&f.RetryFailed, "retry-failed", false, "also run the cells again that have failed")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print what would be submitted")
	flags.StringVar(&f.progress, "progress", "auto", "of the local engine: auto, bar, plain or none")
}

// planAndMore wants a plan, and perhaps words after -- for the engine.
func planAndMore(c *cobra.Command, args []string) error {
	if n := c.ArgsLenAtDash(); n == 1 || n < 0 && len(args) == 1 {
		return nil
	}
	return fmt.Errorf("%s: read %d arguments, wanted one PLAN, and what is for the engine after --", c.Name(), len(args))
}

func (a *app) sweepSubmitCommand() *cobra.Command {
	f := &submitFlags{}
	c := &cobra.Command{
		Use:   "submit PLAN [-- ARGUMENTS]",
		Short: "Run the shards of a plan that lack a cell: here, or as a job of Slurm or Kubernetes",
		Long: `Run the shards of a plan that lack a cell: here, as a job array of Slurm, or as an
Indexed Job of Kubernetes. What follows -- goes to sbatch or kubectl.`,
		Example: `  cacheroute sweep submit /shared/plan
  cacheroute sweep submit /shared/plan --engine slurm --shards 200 -- --partition=cpu --time=4:00:00
  cacheroute sweep submit /shared/plan --engine kubernetes --image registry.example/cacheroute:1 --claim shared --mount /shared --dry-run`,
		Args: planAndMore,
	}
	f.register(c)
	c.RunE = a.body(func(ctx context.Context, args []string) error {
		f.Args = args[1:]
		return a.submit(ctx, args[0], f)
	})
	return c
}

func (a *app) sweepResumeCommand() *cobra.Command {
	f := &submitFlags{}
	c := &cobra.Command{
		Use:   "resume PLAN [-- ARGUMENTS]",
		Short: "Submit the shards again that lack a cell, as they were submitted last",
		Long: `Submit the shards again that lack a cell: with --engine as its flags say, without
as they were submitted last. What still waits or runs is better cancelled before,
else it does the same cells a second time.`,
		Example: `  cacheroute sweep resume /shared/plan
  cacheroute sweep resume /shared/plan --retry-failed`,
		Args: planAndMore,
	}
	f.register(c)
	c.RunE = a.body(func(ctx context.Context, args []string) error {
		f.Args = args[1:]
		if !c.Flags().Changed("engine") {
			last, ok, err := sweep.Submitted(args[0])
			if err != nil {
				return err
			}
			if ok {
				last.Args, last.RetryFailed = append(last.Args, f.Args...), f.RetryFailed
				f.Submission = last
			}
		}
		return a.submit(ctx, args[0], f)
	})
	return c
}

// submit runs the shards that lack a cell on the engine of the flags.
func (a *app) submit(ctx context.Context, plan string, f *submitFlags) error {
	s, p, shards, err := f.Prepare(plan)
	if err != nil {
		return err
	}
	if len(shards) == 0 {
		a.note("every cell of %s has a result or a failure: nothing to run", plan)
		return nil
	}
	switch {
	case f.dryRun:
		script, err := s.Script(p, shards)
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(a.stdout, script)
		return err
	case s.Engine == "local":
		return a.runLocally(ctx, plan, s, shards, f)
	}
	name, err := s.Submit(ctx, p, shards, a.stderr)
	if err != nil {
		return err
	}
	a.note("%d of %d shards submitted as %s; cacheroute sweep status %s tells how far they are", len(shards), s.Shards, name, plan)
	return nil
}

// runLocally runs shards one after the other. A failed cell does not stop them.
func (a *app) runLocally(ctx context.Context, plan string, s sweep.Submission, shards []int, f *submitFlags) (failed error) {
	for _, i := range shards {
		o := sweep.RunOptions{Shard: sweep.Shard{I: i, N: s.Shards}, Workers: s.CPUs, RetryFailed: s.RetryFailed}
		if err := a.runShard(ctx, plan, o, f.progress); err != nil {
			if a.exitCode(err) != exitBad {
				return err
			}
			failed = err
		}
	}
	return failed
}
