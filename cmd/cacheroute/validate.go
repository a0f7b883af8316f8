package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"cacheroute/calib"
	"cacheroute/scenarios"
)

// validateFlags are the flags of validate.
type validateFlags struct {
	preset   string
	only     string
	describe string
	format   string
	json     bool
	page     string
	facts    calib.Facts
	seed     uint64
}

func (a *app) validateCommand() *cobra.Command {
	f := &validateFlags{facts: calib.NoFacts}
	c := &cobra.Command{
		Use:   "validate BENCH --preset P",
		Short: "Simulate each run of a measured bench and print simulated against measured",
		Long: `Simulate each run of a measured bench with a preset and print simulated against
measured: mean time to first token, mean time per output token, output tokens per
second, KV-bound or not, and the mean errors. P is a preset's name or a file that
calibrate has written. The runs of the preset's model and hardware are used, others
are left out and counted.`,
		Example: `  cacheroute validate bench.csv --preset llama-3.3-70b-fp8-h100-tp2
  cacheroute validate result.json --preset my-preset.yaml --html validation.html`,
		Args: one("BENCH"),
	}
	c.Flags().StringVar(&f.preset, "preset", "", "preset, by name or file (required)")
	c.Flags().StringVar(&f.only, "only", "", "use the runs of this setup: model=...,tensor_parallel=... (default: that of the preset)")
	c.Flags().StringVar(&f.describe, "describe", "", "what BENCH does not say of its runs: model=...,gpu=...,tensor_parallel=...,precision=...")
	c.Flags().StringVar(&f.format, "format", "", "format of BENCH (default: known from its content)")
	c.Flags().Float64Var(&f.facts.LengthRatio, "length-ratio", 0, "shortest length over longest, where BENCH does not say (0: as the preset says)")
	c.Flags().IntVar(&f.facts.RequestsPerClient, "requests-per-client", 0, "requests of a client, where BENCH does not say (0: as the preset says)")
	c.Flags().IntVar(&f.facts.Waiting, "waiting-clients", -1, "clients that find no place in the engine (-1: as the preset says)")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the drawn lengths")
	c.Flags().BoolVar(&f.json, "json", false, "print the result as JSON and nothing else to standard output")
	c.Flags().StringVar(&f.page, "html", "", "also write the result as a page to this `file`")
	if err := c.MarkFlagRequired("preset"); err != nil {
		panic(err)
	}
	c.RunE = a.body(func(ctx context.Context, args []string) error { return a.validate(ctx, args[0], f) })
	return c
}

func (a *app) validate(ctx context.Context, path string, f *validateFlags) error {
	if err := checkOut("--html", f.page, path, f.preset); err != nil {
		return err
	}
	if err := f.facts.Check(); err != nil {
		return scenarios.Badf("%v", err)
	}
	want, err := calib.ParseSetup(f.only)
	if err != nil {
		return scenarios.Badf("--only: %v", err)
	}
	describe, err := calib.ParseSetup(f.describe)
	if err != nil {
		return scenarios.Badf("--describe: %v", err)
	}
	preset, err := calib.Load(f.preset)
	if err != nil {
		return scenarios.Badf("--preset: %v", err)
	}
	bench, err := calib.ReadBench(path, calib.BenchOptions{Format: f.format, Describe: describe})
	if err != nil {
		return badBench(err)
	}
	v, err := interruptible(ctx, func() (*calib.Validation, error) {
		return calib.Validate(preset, bench, calib.ValidateOptions{Want: want, Facts: f.facts, Seed: f.seed})
	})
	if err != nil {
		return badBench(err)
	}
	for _, text := range v.Notes {
		a.note("%s", text)
	}
	if f.page != "" {
		if err := v.WritePage(f.page); err != nil {
			return scenarios.Badf("--html %v", err)
		}
		a.note("wrote %s", f.page)
	}
	if f.json {
		return v.JSON(a.stdout)
	}
	return v.Print(a.stdout)
}

// badBench makes the mistakes of a bench the input's.
func badBench(err error) error {
	var bad *calib.BadBench
	if errors.As(err, &bad) {
		return &scenarios.BadInput{Lines: bad.Lines}
	}
	return err
}
