package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"cacheroute/calib"
	"cacheroute/scenarios"
)

// The fleet that a trace is replayed on unless flags name another.
const (
	defaultDestinations = 8
	defaultPreset       = "llama-3.3-70b-fp8-h100-tp2"
)

func (a *app) replayCommand() *cobra.Command {
	f := &sweepFlags{}
	t := &traceFlags{}
	var speed, preset, observed string
	var destinations int
	c := &cobra.Command{
		Use:   "replay TRACE",
		Short: "Run the requests of a real trace through every policy; print what was read and the ladder",
		Long: `Run the requests of a real trace through every policy: what was read, dropped and
derived (keys, Gini, CV), then p99 latency and KV hit by load.

A load is the mean rate of the trace times a speed, which shortens the times between
requests of a key and so changes hits; a note says how much. A trace that does not say
what prompts share has unknown hits, unless --assume states a model of them. Without a client deadline
(--set measure.deadline_s=60 sets one) every request is served in the end.`,
		Example: `  cacheroute replay conversation_trace.jsonl
  cacheroute replay conversation_trace.jsonl --speed 1,2,4 --destinations 16 --policies flat-lb,cacheroute`,
		Args: one("TRACE"),
	}
	f.register(c)
	t.register(c)
	t.registerReplay(c)
	c.Flags().StringVar(&speed, "speed", "", "replay so many times faster, as a comma list, each a load (default 1)")
	c.Flags().IntVar(&destinations, "destinations", defaultDestinations, "number of destinations")
	c.Flags().StringVar(&preset, "preset", defaultPreset, "preset of a destination (cacheroute list presets)")
	c.Flags().StringVar(&observed, "observed", "", "dump of the servers' /metrics (vLLM, Prometheus text), or EARLIER,LATER, to hold predictions against")
	c.MarkFlagsMutuallyExclusive("speed", "loads")
	c.RunE = a.body(func(ctx context.Context, args []string) error {
		trace, err := t.read(args[0])
		if err != nil {
			return err
		}
		o, err := f.options()
		if err != nil {
			return err
		}
		speeds, err := numbers("--speed", speed)
		if err != nil {
			return err
		}
		study, err := scenarios.Replay(trace, destinations, preset, o)
		if err != nil {
			return err
		}
		runner, err := prepare(ctx, study, speeds)
		if err != nil {
			return err
		}
		if observed != "" {
			counters, err := readCounters(observed)
			if err != nil {
				return scenarios.Badf("--observed: %v", err)
			}
			runner.Observe(counters)
		}
		about := a.stdout
		if f.json {
			about = a.stderr
		}
		if err := runner.Trace().Header().Print(about); err != nil {
			return err
		}
		return a.sweep(ctx, runner, f)
	})
	return c
}

// readCounters reads a dump of counters, or the difference of two.
func readCounters(paths string) (calib.Counters, error) {
	earlier, later, two := strings.Cut(paths, ",")
	first, err := calib.ReadCounters(earlier)
	if err != nil || !two {
		return first, err
	}
	second, err := calib.ReadCounters(later)
	if err != nil {
		return second, err
	}
	return second.Since(first)
}

// numbers reads a comma list.
func numbers(flag, list string) ([]float64, error) {
	var all []float64
	for _, w := range words(list) {
		x, err := strconv.ParseFloat(w, 64)
		if err != nil {
			return nil, scenarios.Badf("%s %s: read %s, wanted numbers", flag, list, w)
		}
		all = append(all, x)
	}
	return all, nil
}
