package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"cacheroute/scenarios"
)

func (a *app) listCommand() *cobra.Command {
	names := strings.Join(slices.Sorted(maps.Keys(scenarios.Lists)), "|")
	return &cobra.Command{
		Use:       "list " + names,
		Short:     "List what there is, one line each",
		Example:   "  cacheroute list policies\n  cacheroute list scenarios",
		Args:      one("list"),
		ValidArgs: slices.Sorted(maps.Keys(scenarios.Lists)),
		RunE: a.body(func(_ context.Context, args []string) error {
			list := scenarios.Lists[args[0]]
			if list == nil {
				return scenarios.Badf("list %s: wanted one of %s", args[0], strings.ReplaceAll(names, "|", ", "))
			}
			return printList(a.stdout, list())
		}),
	}
}

func printList(w io.Writer, entries []scenarios.Entry) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range entries {
		fmt.Fprintf(t, "%s\t%s\n", e.Name, e.About)
		if e.Defaults != "" {
			fmt.Fprintf(t, "\t%s\n", e.Defaults)
		}
	}
	return t.Flush()
}
