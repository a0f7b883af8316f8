package main

import (
	"context"

	"github.com/spf13/cobra"

	"cacheroute/results"
	"cacheroute/scenarios"
)

func (a *app) qcapCommand() *cobra.Command {
	f := &capacityFlags{}
	keys := 0
	c := &cobra.Command{
		Use:   "qcap STUDY",
		Short: "Measure the load that one destination takes within the objectives: q_cap of a plan",
		Long: `Measure the load that one destination of a study's fleet takes within its objectives,
which is q_cap of the paper's plan (Eq. 1): its knee, sought from half of its share of
the study's lowest load to twice that of the highest, mean and interval over the seeds. The destination serves the most frequent keys, as many as
its share of the study's; the window is as many times longer as the fleet is larger,
so that it has as many requests. Nothing is written.`,
		Example: `  cacheroute qcap table-1
  cacheroute qcap my-study.yaml --keys 1 --loads 100,2000`,
		Args: one("STUDY"),
	}
	f.registerRuns(c)
	c.Flags().IntVar(&keys, "keys", 0, "keys that the destination serves, the most frequent (0: keys of the study / destinations)")
	c.Flags().BoolVar(&f.json, "json", false, "print the loads tried and the knees as summary.json has them, and nothing else")
	c.Flags().Float64Var(&f.precision, "precision", 0.05, "relative distance of the loads around a knee")
	registerProgress(c, &f.progress)
	c.RunE = a.body(func(ctx context.Context, args []string) error {
		if err := checkProgress(f.progress); err != nil {
			return err
		}
		fleet, err := openStudy(ctx, args[0], f.studyFlags.options)
		if err != nil {
			return err
		}
		r, err := fleet.SingleDestination(keys)
		if err != nil {
			return err
		}
		summary, took, err := searched(a, r, f.progress, f.workers, func(o scenarios.SearchOptions) (*results.Summary, error) {
			return r.Capacity(ctx, f.precision, o)
		})
		if err != nil {
			return err
		}
		if f.json {
			_, err = summary.WriteTo(a.stdout)
		} else {
			err = r.PrintQCap(a.stdout, summary, f.precision)
		}
		return took.said(a, f.progress, err)
	})
	return c
}
