package main

import (
	"context"

	"github.com/spf13/cobra"

	"cacheroute/scenarios"
)

// studyFlags are the flags that change a study and say how it is run.
type studyFlags struct {
	set      []string
	policies string
	loads    string
	seeds    string
	workers  int
}

func (f *studyFlags) register(c *cobra.Command) {
	f.registerPolicies(c)
	f.registerRuns(c)
}

func (f *studyFlags) registerPolicies(c *cobra.Command) {
	c.Flags().StringVar(&f.policies, "policies", "", "run these policies only, as a comma list")
}

func (f *studyFlags) registerLoads(c *cobra.Command) {
	c.Flags().StringVar(&f.loads, "loads", "", "offered loads in requests per second, as a comma list")
}

// registerRuns registers all but the choice of policies.
func (f *studyFlags) registerRuns(c *cobra.Command) {
	f.registerLoads(c)
	f.registerSeeds(c)
}

// registerSeeds registers all but the choice of policies and of loads.
func (f *studyFlags) registerSeeds(c *cobra.Command) {
	f.registerStudy(c)
	c.Flags().IntVar(&f.workers, "workers", 0, "parallel runs (0: one for each CPU)")
}

// registerChoice registers the flags that change the study, not how it is run.
func (f *studyFlags) registerChoice(c *cobra.Command) {
	f.registerPolicies(c)
	f.registerLoads(c)
	f.registerStudy(c)
}

func (f *studyFlags) registerStudy(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.set, "set", nil, "change a field of the study, as `path=value`, such as fleet.destinations=8 (repeatable)")
	c.Flags().StringVar(&f.seeds, "seeds", "", "seeds, as a comma list")
}

// options turns the flags into changes of the study; errors name the flag.
func (f *studyFlags) options() (scenarios.Options, error) {
	var o scenarios.Options
	for _, arg := range f.set {
		set, err := scenarios.ParseSet(arg)
		if err != nil {
			return o, err
		}
		o.Set = append(o.Set, set)
	}
	if f.loads != "" {
		o.Set = append(o.Set, scenarios.Override{Path: "loads_qps", Value: "[" + f.loads + "]", Source: "--loads " + f.loads})
	}
	if f.seeds != "" {
		o.Set = append(o.Set, scenarios.Override{Path: "seeds", Value: "[" + f.seeds + "]", Source: "--seeds " + f.seeds})
	}
	if o.Policies = words(f.policies); f.policies != "" && o.Policies == nil {
		return o, scenarios.Badf("--policies %s: no name, wanted a comma list", f.policies)
	}
	if f.workers < 0 {
		return o, scenarios.Badf("--workers %d: wanted at least 0", f.workers)
	}
	return o, nil
}

// openStudy loads a study as a command's flags change it and reads its inputs.
func openStudy(ctx context.Context, name string, options func() (scenarios.Options, error)) (*scenarios.Runner, error) {
	o, err := options()
	if err != nil {
		return nil, err
	}
	study, err := scenarios.Load(name, o)
	if err != nil {
		return nil, err
	}
	return prepare(ctx, study, nil)
}

// openVariants loads a study as a command's flags change it: one study for each
// combination of the values of its axes.
func openVariants(name string, options func() (scenarios.Options, error)) ([]scenarios.Variant, error) {
	o, err := options()
	if err != nil {
		return nil, err
	}
	return scenarios.Expand(name, o)
}
