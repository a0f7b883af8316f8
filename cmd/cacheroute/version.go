package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/spf13/cobra"

	"cacheroute/results"
	"cacheroute/scenarios"
)

// version is set by the linker in a release.
var version = "devel"

// build tells which program this is. A build of a clean commit is known by it,
// any other by the sum of its executable.
var build = sync.OnceValue(func() scenarios.Build {
	b := scenarios.Build{Version: version, Commit: "unknown", Go: runtime.Version()}
	modified := true
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.modified":
				modified = s.Value != "false"
			}
		}
	}
	if b.Code = b.Commit; !modified {
		return b
	}
	if b.Commit != "unknown" {
		b.Commit += "+changes"
	}
	if path, err := os.Executable(); err == nil {
		if sum, err := results.SumFile("cacheroute", path); err == nil {
			b.Code = sum.SHA256
		}
	}
	return b
})

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print version, commit and Go",
		Example: "  cacheroute version",
		Args:    cobra.NoArgs,
		RunE: a.body(func(context.Context, []string) error {
			b := build()
			_, err := fmt.Fprintf(a.stdout, "cacheroute %s, commit %s, %s\n", b.Version, b.Commit, b.Go)
			return err
		}),
	}
}
