package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"cacheroute/scenarios"
	"cacheroute/scenarios/sweep"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1  // the run failed or was interrupted
	exitBad    = 2  // bad usage or input, or a cell of a shard that fails
	exitRetry  = 75 // a shard may do better at another try (EX_TEMPFAIL of sysexits.h)
)

// app is one invocation of the program.
type app struct {
	stdout, stderr io.Writer
	started        bool // the arguments were good enough to start a command
	profile        string
	color          string

	line   sync.Mutex // the last line of stderr
	barred bool       // it is a progress bar
}

// run is the program: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	a := &app{stdout: stdout, stderr: stderr}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	if code := exitCode(0); errors.As(err, &code) {
		return int(code)
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "cacheroute: %s\n", strings.TrimRight(line, "\n"))
	}
	return a.exitCode(err)
}

func (a *app) exitCode(err error) int {
	var bad *scenarios.BadInput
	var cells *sweep.FailedCells
	var transient *sweep.Transient
	switch {
	case errors.As(err, &bad) || errors.As(err, &cells) || !a.started:
		return exitBad
	case errors.As(err, &transient):
		return exitRetry
	}
	return exitFailed
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "cacheroute",
		Short:         "Simulate how a fleet of LLM engines serves requests under different routing policies",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentFlags().StringVar(&a.profile, "cpuprofile", "", "write a CPU profile to this file")
	if err := root.PersistentFlags().MarkHidden("cpuprofile"); err != nil {
		panic(err)
	}
	root.PersistentFlags().StringVar(&a.color, "color", "auto", "auto, always or never; auto heeds NO_COLOR")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w; %s --help shows what there is", err, c.CommandPath())
	})
	root.AddCommand(a.initCommand(), a.explainCommand(), a.runCommand(), a.replayCommand(), a.traceCommand(), a.reportCommand(), a.compareCommand(), a.capacityCommand(), a.planCommand(), a.gateCommand(), a.qcapCommand(), a.residencyCommand(), a.calibrateCommand(), a.validateCommand(), a.fitCommand(), a.paperCommand(), a.sweepCommand(), a.listCommand(), a.schemaCommand(), a.versionCommand())
	return root
}

// body wraps what a command does: from here on an error is the run's, unless it
// says that it is the input's.
func (a *app) body(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) (err error) {
		a.started = true
		if err := a.checkColor(); err != nil {
			return err
		}
		if a.profile != "" {
			f, err := os.Create(a.profile)
			if err != nil {
				return scenarios.Badf("--cpuprofile: %v", err)
			}
			defer f.Close()
			if err := pprof.StartCPUProfile(f); err != nil {
				return err
			}
			defer pprof.StopCPUProfile()
		}
		return do(c.Context(), args)
	}
}

// interruptible runs work that does not look at ctx: when ctx ends it is left
// behind, and the program with it.
func interruptible[T any](ctx context.Context, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := work()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, errors.New("interrupted")
	}
}

// checkOut refuses to write to one of the files that were read. The flag is what
// names the output.
func checkOut(flag, out string, read ...string) error {
	written, err := os.Stat(out)
	if out == "" || err != nil {
		return nil
	}
	for _, path := range read {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, written) {
			return scenarios.Badf("%s %s: it is the file that is read, wanted another", flag, out)
		}
	}
	return nil
}

// one wants a single argument.
func one(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s: read %d arguments, wanted one %s", c.Name(), len(args), what)
		}
		return nil
	}
}

// words splits a comma list; nil for an empty string.
func words(list string) []string {
	var all []string
	for _, w := range strings.Split(list, ",") {
		if w = strings.TrimSpace(w); w != "" {
			all = append(all, w)
		}
	}
	return all
}
