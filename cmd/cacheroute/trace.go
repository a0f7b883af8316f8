package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"cacheroute/results"
	"cacheroute/scenarios"
	"cacheroute/workload/trace"
)

func (a *app) traceCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "trace",
		Short: "Look at a recorded trace, or convert it",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.traceInfoCommand(), a.traceConvertCommand())
	return c
}

func (a *app) traceInfoCommand() *cobra.Command {
	f := &traceFlags{}
	var page string
	var asJSON bool
	c := &cobra.Command{
		Use:   "info TRACE",
		Short: "Read a trace once and print its statistics: rates, lengths, keys, what caches could reuse",
		Long: `Read a trace once, in memory that does not grow with it, and print what was read and
dropped, the arrivals and their rate over time, lengths, routing keys by depth of the
prefix (Gini, largest share, how much of the reuse stays within a key), and the hit
rate of an infinite cache, if the trace says what prompts share.`,
		Example: `  cacheroute trace info conversation_trace.jsonl
  cacheroute trace info requests.csv.gz --key session --out info.html`,
		Args: one("TRACE"),
	}
	f.register(c)
	c.Flags().StringVar(&page, "out", "", "write the statistics to this file as a page (HTML)")
	c.Flags().BoolVar(&asJSON, "json", false, "print the statistics as JSON and nothing else to standard output")
	c.RunE = a.body(func(ctx context.Context, args []string) error {
		if err := checkOut("--out", page, args[0]); err != nil {
			return err
		}
		r, err := f.open(ctx, args[0])
		if err != nil {
			return err
		}
		defer r.Close()
		stats, err := r.Stats(ctx)
		if err != nil {
			return badTrace(ctx, err)
		}
		info := stats.Info(r.Header())
		if page != "" {
			if err := results.WriteTracePage(page, info); err != nil {
				return err
			}
			a.note("wrote %s", page)
		}
		if asJSON {
			return info.JSON(a.stdout)
		}
		return info.Print(a.stdout)
	})
	return c
}

func (a *app) traceConvertCommand() *cobra.Command {
	f := &traceFlags{}
	c := &cobra.Command{
		Use:   "convert TRACE OUT",
		Short: "Write a trace in this project's own format: OUT ends in .parquet, .csv or .jsonl",
		Long: `Write a trace in this project's own format (docs/traces.md): OUT ends in .parquet, or in
.csv or .jsonl, these also with .gz or .zst. Rows keep their order and recorded times;
a replay of OUT gives what a replay of TRACE does. OUT appears when it is whole.`,
		Example: `  cacheroute trace convert conversation_trace.jsonl conversation.parquet
  cacheroute trace convert big.jsonl.zst part.csv.gz --window 3600,7200 --key session --keep 0.1`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("convert: read %d arguments, wanted TRACE and OUT", len(args))
			}
			return nil
		},
	}
	f.register(c)
	c.RunE = a.body(func(ctx context.Context, args []string) error {
		if err := checkOut("OUT", args[1], args[0]); err != nil {
			return err
		}
		r, err := f.open(ctx, args[0])
		if err != nil {
			return err
		}
		defer r.Close()
		if err := results.RemoveStale(args[1]); err != nil {
			return err
		}
		// What goes wrong with the trace is told as it is, not as a failure to write.
		var failed error
		err = results.WriteFileAtomic(args[1], func(w io.Writer) error {
			failed = r.Convert(ctx, w, args[1])
			return failed
		})
		if failed != nil {
			return badTrace(ctx, failed)
		}
		if err != nil {
			return err
		}
		a.note("wrote %s", args[1])
		return r.Header().Print(a.stdout)
	})
	return c
}

// open opens the trace that the flags ask for.
func (f *traceFlags) open(ctx context.Context, path string) (*trace.Reader, error) {
	t, err := f.read(path)
	if err != nil {
		return nil, err
	}
	r, err := trace.Open(ctx, path, t.Options())
	if err != nil {
		return nil, badTrace(ctx, err)
	}
	return r, nil
}

// badTrace makes the mistakes of a trace the input's.
func badTrace(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.New("interrupted while reading the trace; nothing was written")
	}
	return scenarios.Badf("%v", err)
}
