package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"cacheroute/results"
	"cacheroute/scenarios"
)

// capacityFlags are the flags of a search.
type capacityFlags struct {
	studyFlags
	slo       string
	from, to  float64
	load      float64
	fleet     string
	precision float64
	json      bool
	progress  string
}

func (a *app) capacityCommand() *cobra.Command {
	f := &capacityFlags{}
	c := &cobra.Command{
		Use:   "capacity STUDY",
		Short: "Seek the load that each policy sustains, or how many destinations a load needs",
		Long: `Seek the highest load that each policy sustains within the objectives, between the
lowest and the highest load of the study, to a relative precision: instead of every
rung of a ladder, each policy and seed runs the loads that narrow its knee down.
Policies and seeds meet the same requests. With --load and --fleet the load is fixed
and the fewest destinations that take it are sought. Nothing is written.`,
		Example: `  cacheroute capacity table-1 --slo 3.5
  cacheroute capacity my-study.yaml --from 50 --to 500 --precision 0.01 --policies flat-lb,cacheroute
  cacheroute capacity my-study.yaml --load 150 --fleet 4..128`,
		Args: one("STUDY"),
	}
	flags := c.Flags()
	flags.StringVar(&f.slo, "slo", "", "objectives for the p99 of the time to first token in seconds, as a comma list (default those of the study)")
	flags.Float64Var(&f.precision, "precision", 0.02, "relative distance of the loads, or fleets, around a knee")
	flags.Float64Var(&f.from, "from", 0, "lowest load in requests per second (default that of the study)")
	flags.Float64Var(&f.to, "to", 0, "highest load (default that of the study)")
	flags.Float64Var(&f.load, "load", 0, "the load that --fleet is sought for, in requests per second")
	flags.StringVar(&f.fleet, "fleet", "", "seek the fewest destinations of `MIN..MAX`, such as 4..128, that take --load")
	flags.BoolVar(&f.json, "json", false, "print what was tried and the knees as one JSON document, and nothing else")
	registerProgress(c, &f.progress)
	f.registerPolicies(c)
	f.registerSeeds(c)
	c.RunE = a.body(func(ctx context.Context, args []string) error {
		o, err := f.options(flags.Changed)
		if err != nil {
			return err
		}
		if flags.Changed("fleet") || flags.Changed("load") {
			return a.fleetSize(ctx, args[0], o, f)
		}
		return a.capacity(ctx, args[0], o, f)
	})
	return c
}

// options turns the flags into changes of the study; errors name the flag. A load
// of 0 is one that was not given.
func (f *capacityFlags) options(given func(flag string) bool) (scenarios.Options, error) {
	if err := checkProgress(f.progress); err != nil {
		return scenarios.Options{}, err
	}
	for _, load := range []struct {
		flag string
		qps  float64
	}{{"from", f.from}, {"to", f.to}, {"load", f.load}} {
		if given(load.flag) && !(load.qps >= 1e-6 && load.qps <= 1e9) {
			return scenarios.Options{}, scenarios.Badf("--%s %v: wanted between 1e-06 and 1e+09 requests/s", load.flag, load.qps)
		}
	}
	o, err := f.studyFlags.options()
	if given("slo") && words(f.slo) == nil {
		return o, scenarios.Badf("--slo %q: no number, wanted a comma list", f.slo)
	}
	if f.slo != "" {
		o.Set = append(o.Set, scenarios.Override{Path: "measure.slo_ttft_p99_s", Value: "[" + f.slo + "]", Source: "--slo " + f.slo})
	}
	return o, err
}

// capacity seeks the loads.
func (a *app) capacity(ctx context.Context, name string, o scenarios.Options, f *capacityFlags) error {
	study, err := scenarios.Load(name, o)
	if err != nil {
		return err
	}
	if err := f.bounds(study); err != nil {
		return err
	}
	runner, err := prepare(ctx, study, nil)
	if err != nil {
		return err
	}
	summary, took, err := searched(a, runner, f.progress, f.workers, func(o scenarios.SearchOptions) (*results.Summary, error) {
		return runner.Capacity(ctx, f.precision, o)
	})
	if err != nil {
		return err
	}
	summary.WallS, summary.CPUS = took.wallS, took.cpuS
	if f.json {
		_, err = summary.WriteTo(a.stdout)
	} else {
		fmt.Fprintf(a.stdout, "%s: knees sought from %s to %s QPS, to %.3g %%\n", study.Name, results.Shortly(slices.Min(study.LoadsQPS)), results.Shortly(slices.Max(study.LoadsQPS)), 100*f.precision)
		err = results.PrintCapacity(a.stdout, summary, a.style(), summary.PlanDoubts(runner.Rules())...)
	}
	return took.said(a, f.progress, err)
}

// bounds gives the study the lowest and the highest load.
func (f *capacityFlags) bounds(s *scenarios.Study) error {
	if s.Measure.ByStage {
		return nil // the search refuses it and says why
	}
	from, to := f.from, f.to
	if len(s.LoadsQPS) > 0 {
		if from == 0 {
			from = slices.Min(s.LoadsQPS)
		}
		if to == 0 {
			to = slices.Max(s.LoadsQPS)
		}
	}
	if !(from > 0 && from < to) {
		return scenarios.Badf("%s: from %v to %v requests/s, wanted rising loads: --from and --to, or more than one of loads_qps", s.Name, from, to)
	}
	s.LoadsQPS = []float64{from, to}
	return s.Check()
}

// fleetSize seeks the destinations.
func (a *app) fleetSize(ctx context.Context, name string, o scenarios.Options, f *capacityFlags) error {
	from, to, err := f.sizes()
	if err != nil {
		return err
	}
	load := strconv.FormatFloat(f.load, 'g', -1, 64)
	o.Set = append(o.Set, scenarios.Override{Path: "loads_qps", Value: "[" + load + "]", Source: "--load " + load},
		scenarios.Override{Path: "fleet.destinations", Value: strconv.Itoa(to), Source: "--fleet " + f.fleet})
	study, err := scenarios.Load(name, o)
	if err != nil {
		return err
	}
	runner, err := prepare(ctx, study, nil)
	if err != nil {
		return err
	}
	sizes, took, err := searched(a, runner, f.progress, f.workers, func(o scenarios.SearchOptions) (*results.FleetSizes, error) {
		return runner.FleetSize(ctx, from, to, f.precision, o)
	})
	if err != nil {
		return err
	}
	sizes.WallS, sizes.CPUS = took.wallS, took.cpuS
	if f.json {
		err = sizes.JSON(a.stdout)
	} else {
		err = results.PrintFleetSizes(a.stdout, sizes, a.style())
	}
	return took.said(a, f.progress, err)
}

// sizes reads --fleet.
func (f *capacityFlags) sizes() (from, to int, err error) {
	switch {
	case f.fleet == "" || f.load == 0:
		return 0, 0, scenarios.Badf("--load %v --fleet %q: wanted both, or none to seek the load of the study's fleet", f.load, f.fleet)
	case f.from != 0 || f.to != 0:
		return 0, 0, scenarios.Badf("--fleet %s: wanted no --from and --to, as the load is that of --load", f.fleet)
	}
	low, high, ok := strings.Cut(f.fleet, "..")
	from, errLow := strconv.Atoi(low)
	to, errHigh := strconv.Atoi(high)
	if !ok || errLow != nil || errHigh != nil || from < 1 || from >= to {
		return 0, 0, scenarios.Badf("--fleet %s: wanted two rising numbers, such as 4..128", f.fleet)
	}
	return from, to, nil
}
