package main

import (
	"context"

	"github.com/spf13/cobra"
)

func (a *app) explainCommand() *cobra.Command {
	f := &studyFlags{}
	c := &cobra.Command{
		Use:   "explain STUDY",
		Short: "Say in words what a study runs, how long it takes and how much memory it needs",
		Long: `Say in words what a study runs: the fleet and what is known of it, the requests, the
policies, loads and seeds, what is measured. A short piece of the real simulation tells
how long it will take. Mistakes of the study are listed as run lists them.`,
		Example: "  cacheroute explain table-1\n  cacheroute explain my-study.yaml --loads 30,60 --workers 8",
		Args:    one("STUDY"),
	}
	f.register(c)
	c.RunE = a.body(func(ctx context.Context, args []string) error {
		runner, err := openStudy(ctx, args[0], f.options)
		if err != nil {
			return err
		}
		return runner.Explain(ctx, a.stdout, f.workers)
	})
	return c
}
