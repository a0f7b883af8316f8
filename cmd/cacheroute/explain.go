package main

import (
	"context"

	"github.com/spf13/cobra"

	"cacheroute/scenarios"
)

func (a *app) explainCommand() *cobra.Command {
	f := &studyFlags{}
	c := &cobra.Command{
		Use:   "explain STUDY",
		Short: "Say in words what a study runs, how long it takes and how much memory it needs",
		Long: `Say in words what a study runs: the fleet and what is known of it, the requests, the
policies, loads and seeds, what is measured. A short piece of the real simulation tells
how long it will take. Of a study with axes the variants are named and counted.
Mistakes of the study are listed as run lists them.`,
		Example: "  cacheroute explain table-1\n  cacheroute explain my-study.yaml --loads 30,60 --workers 8",
		Args:    one("STUDY"),
	}
	f.register(c)
	c.RunE = a.body(func(ctx context.Context, args []string) error {
		variants, err := openVariants(args[0], f.options)
		if err != nil {
			return err
		}
		if variants[0].Label != "" {
			return scenarios.ExplainVariants(ctx, a.stdout, variants, f.workers)
		}
		runner, err := prepare(ctx, variants[0].Study, nil)
		if err != nil {
			return err
		}
		return runner.Explain(ctx, a.stdout, f.workers)
	})
	return c
}
