package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cacheroute/calib"
	"cacheroute/results"
	"cacheroute/scenarios"
)

// calibrateFlags are the flags of calibrate.
type calibrateFlags struct {
	fit      calib.FitOptions
	format   string
	only     string
	describe string
	noRefine bool
	out      string
	json     bool
	progress string
}

func (a *app) calibrateCommand() *cobra.Command {
	f := &calibrateFlags{fit: calib.FitOptions{Facts: calib.NoFacts}}
	o := &f.fit
	c := &cobra.Command{
		Use:   "calibrate BENCH... [--model linear|overlap] [--out PRESET.yaml]",
		Short: "Fit step costs to a measured bench and write them as a preset",
		Long: `Fit step costs to a measured bench: closed-loop runs in a CSV file, results of
vllm bench serve, benchmarks.json of GuideLLM, or a CSV log of steps. Prints the
coefficients with intervals, the error of each run and of lengths that the fit did
not see, and writes a preset with the origin of every number. Several setups in a
file are fitted one after the other.`,
		Example: `  cacheroute calibrate bench.csv --only model=Qwen3-32B --out qwen.yaml
  cacheroute calibrate c8.json c32.json c128.json --describe gpu=H100-SXM,tensor_parallel=2,precision=fp8 --kv-blocks 30992
  cacheroute validate bench.csv --preset qwen.yaml`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s: no bench, wanted one or more files", c.Name())
			}
			return nil
		},
	}
	c.Flags().StringVar(&o.Form, "model", "linear", "cost model to fit: "+strings.Join(calib.FitForms(), " or "))
	c.Flags().StringVar(&f.format, "format", "", "format of BENCH (default: known from its content)")
	c.Flags().StringVar(&f.only, "only", "", "fit this setup only: model=...,tensor_parallel=...")
	c.Flags().StringVar(&f.describe, "describe", "", "what BENCH does not say of its setup: model=...,gpu=...,tensor_parallel=...,precision=...")
	c.Flags().Float64Var(&o.Facts.LengthRatio, "length-ratio", 0, "shortest length over longest, where BENCH does not say (0: found)")
	c.Flags().IntVar(&o.Facts.RequestsPerClient, "requests-per-client", 0, "requests of a client, where BENCH does not say (0: found)")
	c.Flags().IntVar(&o.Facts.Waiting, "waiting-clients", -1, "clients that find no place in the engine (-1: found)")
	c.Flags().BoolVar(&o.Facts.NoPrefixCaching, "no-prefix-caching", false, "the engine ran without prefix caching")
	c.Flags().IntVar(&o.MaxBatchedTokens, "max-batched-tokens", 0, "the engine's token budget of a step (0: found)")
	c.Flags().IntVar(&o.MaxSeqs, "max-seqs", 256, "the engine's limit of running sequences")
	c.Flags().IntVar(&o.KVBlocks, "kv-blocks", 0, "KV blocks of the engine, as its log says (0: found from KV-bound runs)")
	c.Flags().IntVar(&o.BlockTokens, "block-tokens", 16, "tokens a KV block")
	c.Flags().Float64Var(&o.PeakPrefillMS, "peak-prefill-token-ms", 0, "least ms of a prompt token on the hardware (0: from model and GPU, if known)")
	c.Flags().BoolVar(&f.noRefine, "no-refine", false, "regression of mean steps only, without simulating the bench")
	c.Flags().Uint64Var(&o.Seed, "seed", 1, "seed of the drawn lengths")
	c.Flags().StringVar(&f.out, "out", "", "write the preset to this file (default: to standard output, after the report)")
	c.Flags().BoolVar(&f.json, "json", false, "print the fits as JSON and nothing else to standard output")
	registerProgress(c, &f.progress)
	c.RunE = a.body(func(ctx context.Context, args []string) error { return a.calibrate(ctx, args, f) })
	return c
}

func (a *app) calibrate(ctx context.Context, paths []string, f *calibrateFlags) error {
	f.fit.Refine = !f.noRefine
	if err := f.fit.Check(); err != nil {
		return scenarios.Badf("--%v", err)
	}
	if err := checkProgress(f.progress); err != nil {
		return err
	}
	if err := checkOut("--out", f.out, paths...); err != nil {
		return err
	}
	groups, err := f.groups(paths)
	if err != nil {
		return badBench(err)
	}
	if f.out != "" && len(groups) > 1 {
		var names []string
		for _, g := range groups {
			names = append(names, g.Setup.String())
		}
		return scenarios.Badf("--out %s: read %d setups, wanted one, chosen with --only: %s", f.out, len(groups), strings.Join(names, "; "))
	}
	var fits []*calib.Fit
	var refused []error
	for i, g := range groups {
		part := ""
		if len(groups) > 1 {
			part = fmt.Sprintf("setup %d/%d: ", i+1, len(groups))
		}
		fit, err := a.fitCosts(ctx, g, f, part)
		var fast *calib.TooFast
		if errors.As(err, &fast) {
			refused = append(refused, fmt.Errorf("%s: %w", g.Setup, err))
		} else if err != nil {
			return badBench(err)
		}
		fits = append(fits, fit)
	}
	if err := a.printFits(fits, f); err != nil {
		return err
	}
	if refused != nil {
		return errors.Join(refused...)
	}
	return a.writePresets(fits, f)
}

// fitCosts fits one setup and shows the progress.
func (a *app) fitCosts(ctx context.Context, g calib.Group, f *calibrateFlags, part string) (*calib.Fit, error) {
	o := f.fit
	o.Tally = &calib.FitTally{}
	start := time.Now()
	stop := a.showFit(f.progress, part, o.Tally)
	fit, err := interruptible(ctx, func() (*calib.Fit, error) { return calib.FitCosts(g, o) })
	stop()
	if runs := o.Tally.Runs.Load(); err == nil && runs > 0 && f.progress != "none" {
		a.note("%s%d fits, %s runs simulated in %.1f s", part, o.Tally.Done.Load(), short(float64(runs)), time.Since(start).Seconds())
	}
	return fit, err
}

// groups reads the benches and splits them by setup.
func (f *calibrateFlags) groups(paths []string) ([]calib.Group, error) {
	only, err := calib.ParseSetup(f.only)
	if err != nil {
		return nil, scenarios.Badf("--only: %v", err)
	}
	describe, err := calib.ParseSetup(f.describe)
	if err != nil {
		return nil, scenarios.Badf("--describe: %v", err)
	}
	bench, err := calib.ReadBenches(paths, calib.BenchOptions{Format: f.format, Describe: describe})
	if err != nil {
		return nil, err
	}
	return bench.Groups(only)
}

func (a *app) printFits(fits []*calib.Fit, f *calibrateFlags) error {
	if f.json {
		return calib.FitsJSON(a.stdout, fits)
	}
	return calib.PrintFits(a.stdout, fits)
}

func (a *app) writePresets(fits []*calib.Fit, f *calibrateFlags) error {
	if f.out != "" {
		if err := results.WriteFileAtomic(f.out, fits[0].WritePreset); err != nil {
			return err
		}
		a.note("wrote %s", f.out)
		return nil
	}
	if f.json {
		return nil
	}
	for _, fit := range fits {
		if _, err := io.WriteString(a.stdout, "\n---\n"); err != nil {
			return err
		}
		if err := fit.WritePreset(a.stdout); err != nil {
			return err
		}
	}
	return nil
}
