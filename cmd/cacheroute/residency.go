package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"cacheroute/scenarios"
)

func (a *app) residencyCommand() *cobra.Command {
	f := &studyFlags{}
	blocks, progress, json := "", "", false
	c := &cobra.Command{
		Use:   "residency STUDY",
		Short: "Compare KV hit rates from a formula with the simulated ones",
		Long: `Compare the KV hit rates that the characteristic time approximation predicts, from
the rates of the keys, the routing and the number of KV blocks alone, with the simulated
ones, for each policy, load and cache size: a diagnostic that shows how far such a
formula can be trusted on a workload. Policies whose routing follows the load are left
out. Nothing is written. docs/residency.md says when the formula fails, and why.`,
		Example: `  cacheroute residency table-1
  cacheroute residency table-1 --kv-blocks 5000,10000,20000,40000 --set measure.duration_s=300`,
		Args: one("STUDY"),
	}
	f.register(c)
	c.Flags().StringVar(&blocks, "kv-blocks", "", "cache sizes in blocks, as a comma list (default: a quarter, a half and all of the study's)")
	c.Flags().BoolVar(&json, "json", false, "print the comparison as JSON and nothing else")
	registerProgress(c, &progress)
	c.RunE = a.body(func(ctx context.Context, args []string) error {
		if err := checkProgress(progress); err != nil {
			return err
		}
		runner, err := openStudy(ctx, args[0], f.options)
		if err != nil {
			return err
		}
		sizes, err := cacheSizes(blocks, runner.Study.Fleet.KVBlocks)
		if err != nil {
			return err
		}
		compared, took, err := searched(a, runner, progress, f.workers, func(o scenarios.SearchOptions) (*scenarios.Residency, error) {
			return runner.Residency(ctx, sizes, o)
		})
		if err != nil {
			return err
		}
		if json {
			err = compared.JSON(a.stdout)
		} else {
			err = compared.Print(a.stdout)
		}
		return took.said(a, progress, err)
	})
	return c
}

// cacheSizes reads a comma list of numbers of blocks.
func cacheSizes(list string, all int) ([]int, error) {
	if list == "" {
		return []int{max(1, all/4), max(1, all/2), all}, nil
	}
	var sizes []int
	for _, word := range words(list) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, scenarios.Badf("--kv-blocks %s: read %q, wanted whole numbers above 0", list, word)
		}
		sizes = append(sizes, n)
	}
	if sizes == nil {
		return nil, scenarios.Badf("--kv-blocks %s: no number, wanted a comma list", list)
	}
	return sizes, nil
}
