package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"cacheroute/scenarios"
	"cacheroute/scenarios/gate"
)

// verdictCodes are the exit codes of a gate that has run.
var verdictCodes = map[gate.Verdict]int{gate.Enable: exitDone, gate.Keep: 3, gate.Inconclusive: 4}

// exitCode is an error that has been said already: the code alone is left.
type exitCode int

func (exitCode) Error() string { return "" }

// gateFlags are the flags of gate.
type gateFlags struct {
	studyFlags
	candidate, baseline string
	input               traceFlags
	destinations        int
	preset              string
	gate                gate.Options
	out                 string
	json                bool
}

// Flags that say how a trace without a study is read and what it is replayed on,
// and how a trace is cut into training and windows.
var (
	readFlags = []string{"format", "key", "block-tokens", "window", "keep", "sessions-per-s", "draw-seed", "force", "assume", "destinations", "preset"}
	cutFlags  = []string{"train", "half-life", "windows"}
)

func (a *app) gateCommand() *cobra.Command {
	f := &gateFlags{}
	c := &cobra.Command{
		Use:   "gate STUDY|TRACE",
		Short: "Decide by shadow replay whether a plan should replace the load balancer",
		Long: `Decide by shadow replay whether a plan should replace the load balancer, as the paper's
deployment gate does (section 5.3). The plan is made beforehand and preserved; it meets
the same requests as the baseline, below and near the baseline's knee, which is sought.

The verdict is enable if p99 near the knee or capacity improves beyond its 95 % interval,
neither gets worse and failures do not rise; keep if it loses or ties; else inconclusive,
with what would settle it, as with fewer than 5 replicates or 100 requests in a run, hits
that a trace does not tell, or requests too few to reach a knee. A higher hit rate counts
for nothing. The exit code is 0 for enable, 3 for keep, 4 for inconclusive. docs/gate.md
has the rule in full.

Two policies are judged, no others of the study: let --baseline be what is in production.
A study is planned from its true rates, a trace from those of a training window before
what is measured.`,
		Example: `  cacheroute gate my-study.yaml
  cacheroute gate table-15 --envelope=false --json
  cacheroute gate conversation_trace.jsonl --train 0.5 --set policies.cacheroute.slots=40 --out gate`,
		Args: one("STUDY or TRACE"),
	}
	f.registerRuns(c)
	flags := c.Flags()
	flags.Lookup("seeds").Usage += " (default: the study's, and more up to 10)"
	flags.StringVar(&f.candidate, "candidate", "cacheroute", "policy that would be enabled, by name or label")
	flags.StringVar(&f.baseline, "baseline", "flat-lb", "policy in production")
	flags.Float64Var(&f.gate.Margin, "margin", 0.05, "least improvement that counts, as a fraction of the baseline")
	flags.BoolVar(&f.gate.Envelope, "envelope", true, "also say how far rates, cache, keys, skew and load may move before the verdict changes")
	flags.StringVar(&f.gate.Train, "train", "0.5", "of a trace: estimate rates from this first part, a fraction below 1 or seconds")
	flags.Float64Var(&f.gate.HalfLifeS, "half-life", 0, "of a trace: seconds in which the weight of a request halves in that estimate (0: all count alike)")
	flags.IntVar(&f.gate.Windows, "windows", 5, "of a trace: windows that the rest is cut into, the replicates")
	f.input.register(c)
	f.input.registerAssume(c)
	flags.IntVar(&f.destinations, "destinations", defaultDestinations, "of a trace: number of destinations")
	flags.StringVar(&f.preset, "preset", defaultPreset, "of a trace: preset of a destination (cacheroute list presets)")
	flags.StringVar(&f.out, "out", "", "write gate.json, gate.html and the judged table to this folder")
	flags.BoolVar(&f.json, "json", false, "print gate.json and nothing else to standard output")
	c.RunE = a.body(func(ctx context.Context, args []string) error {
		given := slices.DeleteFunc(slices.Concat(readFlags, cutFlags), func(name string) bool { return !flags.Changed(name) })
		return a.gate(ctx, args[0], f, given)
	})
	return c
}

func (a *app) gate(ctx context.Context, name string, f *gateFlags, traceFlags []string) error {
	switch {
	case !(f.gate.Margin >= 0 && f.gate.Margin < 1):
		return scenarios.Badf("--margin %v: wanted at least 0 and below 1", f.gate.Margin)
	case !(f.gate.HalfLifeS >= 0):
		return scenarios.Badf("--half-life %v: wanted at least 0", f.gate.HalfLifeS)
	case f.gate.Windows < 2 || f.gate.Windows > 1000:
		return scenarios.Badf("--windows %d: wanted between 2 and 1000", f.gate.Windows)
	}
	runner, err := f.open(ctx, name, traceFlags)
	if err != nil {
		return err
	}
	if f.out != "" { // before the work, not after it
		if err := os.MkdirAll(f.out, 0o777); err != nil {
			return scenarios.Badf("--out: %v", err)
		}
	}
	f.gate.Workers, f.gate.Version, f.gate.Note = f.workers, build().Version, a.note
	report, err := gate.Run(ctx, runner, f.gate)
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := report.Write(f.out); err != nil {
			return err
		}
		a.note("wrote %s, page %s", f.out, gate.PagePath(f.out))
	}
	if f.json {
		err = report.JSON(a.stdout)
	} else {
		err = report.Print(a.stdout, a.style())
	}
	if code := verdictCodes[report.Verdict]; err == nil && code != exitDone {
		return exitCode(code)
	}
	return err
}

// open reads the study or makes that of the trace.
func (f *gateFlags) open(ctx context.Context, name string, traceFlags []string) (*scenarios.Runner, error) {
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	var study *scenarios.Study
	whole := isStudy(name)
	if whole {
		study, err = scenarios.Load(name, o)
	} else {
		study, err = f.replay(name, o)
	}
	switch {
	case err != nil:
		return nil, err
	case study.Workload.Trace == nil && len(traceFlags) > 0:
		return nil, scenarios.Badf("--%s: %s generates its requests, wanted a trace", traceFlags[0], name)
	case whole && len(traceFlags) > 0 && slices.Contains(readFlags, traceFlags[0]):
		return nil, scenarios.Badf("--%s: %s is a study, which says this itself, wanted --set with its field", traceFlags[0], name)
	case study.Workload.Trace != nil && f.seeds != "":
		return nil, scenarios.Badf("--seeds %s: the replicates of a trace are its windows, see --windows", f.seeds)
	case f.seeds == "":
		f.gate.Added = gate.MoreSeeds(study)
	}
	others, err := gate.Pair(study, f.baseline, f.candidate)
	if err != nil {
		return nil, err
	}
	if whole { // a trace alone lists no policies
		f.gate.Others = others
	}
	return prepare(ctx, study, nil)
}

// replay is the study of a trace.
func (f *gateFlags) replay(name string, o scenarios.Options) (*scenarios.Study, error) {
	trace, err := f.input.read(name)
	if err != nil {
		return nil, err
	}
	return scenarios.Replay(trace, f.destinations, f.preset, o)
}

// isStudy tells a study from a trace by its name. What is neither a scenario nor
// a file is called a study, whose error says both.
func isStudy(name string) bool {
	_, err := os.Stat(name)
	missing := errors.Is(err, fs.ErrNotExist) && filepath.Ext(name) == ""
	return missing || namesStudy(name)
}

// namesStudy tells whether a name is a shipped scenario's or ends as studies do.
func namesStudy(name string) bool {
	return slices.Contains(scenarios.Shipped(), name) || slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name))
}
