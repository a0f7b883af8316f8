package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"cacheroute/results"
	"cacheroute/scenarios"
)

// runVariants runs the variants of a study with axes one after the other, each
// into a folder of its own, and prints their capacities.
func (a *app) runVariants(ctx context.Context, variants []scenarios.Variant, f *sweepFlags) error {
	start := time.Now()
	base := variants[0].Base()
	dir := f.folder(base)
	release, err := scenarios.Claim(dir)
	if err != nil {
		return err
	}
	defer release()
	sweep := &results.Variants{Study: base, Axes: scenarios.Axes(variants)}
	noted := map[string]bool{}
	cells, run, requests := 0, int64(0), int64(0)
	for i := range variants {
		v := &variants[i]
		runner, err := prepare(ctx, v.Study, nil)
		if err != nil {
			return err
		}
		for _, n := range runner.Notices {
			if !noted[n] {
				a.note("%s", n)
			}
			noted[n] = true
		}
		tally := &scenarios.Tally{Part: fmt.Sprintf("variant %d/%d", i+1, len(variants))}
		summary, err := a.runInto(ctx, filepath.Join(dir, v.Label), runner, f, tally)
		if err != nil {
			return fmt.Errorf("%s: %w", tally.Part, err)
		}
		var values []string
		for _, x := range v.Values {
			values = append(values, x.Value)
		}
		sweep.Add(v.Label, values, summary)
		cells, run, requests = cells+len(summary.Cells), run+tally.Cells.Load(), requests+tally.Requests.Load()
	}
	if err := results.WriteVariants(dir, sweep); err != nil {
		return err
	}
	if f.json {
		err = sweep.JSON(a.stdout)
	} else {
		err = results.PrintVariants(a.stdout, sweep, a.style())
	}
	if err != nil || f.progress == "none" {
		return err
	}
	a.note("%d variants, %d cells (%d run now), %s requests in %.1f s; %s has a row a variant, policy and objective, each variant its page in %s",
		len(variants), cells, run, short(float64(requests)), time.Since(start).Seconds(), filepath.Join(dir, "sweep.csv"), scenarios.ReportPath(filepath.Join(dir, "VARIANT")))
	return nil
}
