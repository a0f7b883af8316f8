package main

import (
	"context"

	"github.com/spf13/cobra"

	"cacheroute/scenarios"
)

func (a *app) reportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "report DIR",
		Short: "Write the page of a finished run again, from its folder alone",
		Long: `Write DIR/report.html from the other files of the folder: one file without any
request to a network, to be opened from disk, mailed or printed. Every run writes
it too; a newer program may make a better page of an older run.`,
		Example: "  cacheroute report results/table-1",
		Args:    one("DIR"),
		RunE: a.body(func(_ context.Context, args []string) error {
			path, err := scenarios.Report(args[0])
			if err != nil {
				return err
			}
			a.note("wrote %s", path)
			return nil
		}),
	}
}
