package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"cacheroute/policies"
	"cacheroute/scenarios"
	"cacheroute/workload"
)

// planFlags are the flags of plan.
type planFlags struct {
	destinations int
	qps          float64
	seed         uint64
	previous     string
	out          string
	json         bool
	input        traceFlags
	train        string
	halfLife     float64
}

func (a *app) planCommand() *cobra.Command {
	f := &planFlags{}
	rule := policies.NewCacheRoute()
	c := &cobra.Command{
		Use:   "plan RATES|TRACE --destinations R",
		Short: "Plan the routing table of the paper's Algorithm 1 from a file of key rates",
		Long: `Plan the routing table of the paper's Algorithm 1 from a file of key rates: which
keys are admitted, where they go, the load of each destination. RATES is a CSV or
Parquet file with the columns key and rate (requests per second). With --train the
rates are estimated from the first part of a trace.`,
		Example: `  cacheroute plan rates.csv --destinations 30 --slots 5 --out table.json
  cacheroute plan new-rates.csv --destinations 30 --previous table.json
  cacheroute plan conversation_trace.jsonl --train 600 --destinations 30 --out table.parquet`,
		Args: planArgs, // before the required flags, which a study would ask for in vain
	}
	c.Flags().IntVar(&f.destinations, "destinations", 0, "number of destinations R (required)")
	c.Flags().IntVar(&rule.Slots, "slots", rule.Slots, "key slots a destination, W; only their sum limits admission, see --enforce-w")
	c.Flags().BoolVar(&rule.EnforceW, "enforce-w", false, "give no destination more than W keys")
	c.Flags().Float64Var(&rule.QCap, "q-cap", 0, "requests per second that one destination serves within the SLO (0: above the rate of every key)")
	c.Flags().StringVar(&rule.Admit, "admit", rule.Admit, "after the first key that does not fit the free slots: stop, or skip it")
	c.Flags().StringVar(&rule.Placement, "placement", rule.Placement, "lpt, or random: different destinations whatever their load")
	c.Flags().BoolVar(&rule.Replication, "replication", rule.Replication, "give keys above --q-cap more than one destination")
	c.Flags().StringVar(&rule.Tie, "tie", rule.Tie, "order of destinations of equal load: index, or random")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of random placement and random ties")
	c.Flags().Float64Var(&f.qps, "qps", 0, "scale the rates to this total (0: as in the file)")
	c.Flags().StringVar(&f.previous, "previous", "", "earlier table, to say what moves")
	c.Flags().StringVar(&f.out, "out", "", "write the table to this file, by its extension as JSON, .csv or .parquet")
	c.Flags().StringVar(&f.train, "train", "", "estimate the rates from this first part of a trace, a fraction below 1 or seconds")
	c.Flags().Float64Var(&f.halfLife, "half-life", 0, "of a trace: seconds in which the weight of a request halves in that estimate (0: all count alike)")
	f.input.register(c)
	c.Flags().BoolVar(&f.json, "json", false, "print the table as JSON and nothing else to standard output")
	if err := c.MarkFlagRequired("destinations"); err != nil {
		panic(err)
	}
	c.RunE = a.body(func(_ context.Context, args []string) error {
		if c.Flags().Changed("train") && f.train == "" {
			return scenarios.Badf("--train %q: wanted a fraction below 1, or seconds", f.train)
		}
		return a.plan(args[0], f, *rule)
	})
	return c
}

// planArgs wants a single file that is no study.
func planArgs(c *cobra.Command, args []string) error {
	if err := one("RATES or TRACE")(c, args); err != nil {
		return err
	}
	_, err := os.Stat(args[0])
	// The name of a scenario can be that of a file of rates too.
	if here := err == nil; namesStudy(args[0]) && here == (filepath.Ext(args[0]) != "") {
		return scenarios.Badf("%s: this is a study, wanted rates or a trace", args[0])
	}
	return nil
}

func (a *app) plan(path string, f *planFlags, rule policies.CacheRoute) error {
	if err := checkOut("--out", f.out, path); err != nil {
		return err
	}
	rates, err := a.planRates(path, f)
	if err != nil {
		return err
	}
	var earlier *scenarios.RoutingTable
	if f.previous != "" {
		if earlier, err = scenarios.ReadRoutingTable(f.previous); err != nil {
			return err
		}
	}
	start := time.Now()
	table, err := scenarios.NewRoutingTable(rates, f.destinations, rule, f.seed)
	if err != nil {
		return err
	}
	took := time.Since(start)
	if earlier != nil {
		table.Compare(earlier)
	}
	if f.out != "" {
		if err := table.WriteFile(f.out); err != nil {
			return err
		}
		a.note("wrote %s", f.out)
	}
	a.note("planned in %.1f ms", 1e3*took.Seconds())
	if f.json {
		return table.JSON(a.stdout)
	}
	return table.Print(a.stdout)
}

// planRates reads a file of rates, or estimates them from a trace.
func (a *app) planRates(path string, f *planFlags) (*workload.Rates, error) {
	switch {
	case f.train == "" && (f.halfLife != 0 || f.input != traceFlags{}):
		return nil, scenarios.Badf("--half-life, --format, --key and the like are for a trace, wanted --train with them")
	case f.train == "":
		return scenarios.ReadRates(path, f.qps)
	}
	trace, err := f.input.read(path)
	if err != nil {
		return nil, err
	}
	rates, to, err := scenarios.TraceRates(trace, f.train, f.halfLife, f.qps)
	if err == nil {
		a.note("rates of %d keys from the first %.6g s of the trace", len(rates.Names), to)
	}
	return rates, err
}
