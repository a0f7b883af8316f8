package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"cacheroute/scenarios"
)

func (a *app) compareCommand() *cobra.Command {
	var o scenarios.CompareOptions
	var asJSON bool
	var page string
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two folders of results: what differs in the studies, paired differences of the figures",
		Long: `Compare two folders of results, A and B: what differs in the studies, then B - A of p99,
KV hit, imbalance, failures, throughput and capacities by policy and load.

Differences are taken seed by seed, as equal seeds of an equal workload are the same
requests; their 95 % Student-t intervals are over the seeds. What is not comparable is
refused. A and B may be one folder, to compare two of its policies.`,
		Example: `  cacheroute compare results/table-1 results/other
  cacheroute compare results/table-1 results/table-1 --pair dualmap=cacheroute`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("compare: read %d arguments, wanted two folders of results", len(args))
			}
			return nil
		},
	}
	c.Flags().StringArrayVar(&o.Pairs, "pair", nil, "compare policy X of A with policy Y of B, as `X=Y` (repeatable; default: those of equal name)")
	c.Flags().BoolVar(&o.Unpaired, "unpaired", false, "compare the means of the seeds (Welch): for workloads that differ")
	c.Flags().BoolVar(&asJSON, "json", false, "print the comparison as JSON and nothing else to standard output")
	c.Flags().StringVar(&page, "html", "", "also write the comparison as a page to this `file`")
	c.RunE = a.body(func(_ context.Context, args []string) error {
		comparison, err := scenarios.Compare(args[0], args[1], o)
		if err != nil {
			return err
		}
		if page != "" {
			if err := comparison.WritePage(page); err != nil {
				return scenarios.Badf("--html %v", err)
			}
			a.note("wrote %s", page)
		}
		if asJSON {
			e := json.NewEncoder(a.stdout)
			e.SetEscapeHTML(false)
			e.SetIndent("", " ")
			return e.Encode(comparison)
		}
		return comparison.Print(a.stdout, a.style())
	})
	return c
}
