package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cacheroute/scenarios"
)

func (a *app) initCommand() *cobra.Command {
	var start scenarios.Start
	var out string
	var force bool
	var kinds, names []string
	for _, k := range scenarios.Kinds {
		kinds = append(kinds, fmt.Sprintf("  %-18s %s", k.Name, k.About))
		names = append(names, k.Name)
	}
	c := &cobra.Command{
		Use:   "init [NAME]",
		Short: "Write a commented study to start from",
		Long: "Write a commented study to start from, NAME.yaml, and beside it the schema with which\n" +
			"editors complete and check it. Each kind runs as it is:\n\n" + strings.Join(kinds, "\n"),
		Example: `  cacheroute init
  cacheroute init my-fleet --kind compare-policies
  cacheroute init my-replay --kind replay --trace my-trace.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("init: read %d arguments, wanted one NAME at most", len(args))
			}
			return nil
		},
	}
	c.Flags().StringVar(&start.Kind, "kind", names[0], strings.Join(names, ", "))
	c.Flags().StringVar(&start.Trace, "trace", "", "trace of a replay (default: an example is written beside the study)")
	c.Flags().StringVar(&out, "out", "", "file to write, - for standard output (default NAME.yaml)")
	c.Flags().BoolVar(&force, "force", false, "overwrite what is there")
	c.RunE = a.body(func(_ context.Context, args []string) error {
		start.Name = append(args, "my-study")[0]
		return a.initStudy(start, out, force)
	})
	return c
}

func (a *app) initStudy(start scenarios.Start, out string, force bool) error {
	if out == "-" {
		text, err := start.Text(".")
		if err != nil {
			return err
		}
		_, err = a.stdout.Write(text)
		return err
	}
	if out == "" {
		out = start.Name + ".yaml"
	}
	paths, err := start.WriteFile(out, force)
	if err != nil {
		return err
	}
	a.note("wrote %s", strings.Join(paths, ", "))
	_, err = fmt.Fprintf(a.stdout, "next: cacheroute explain %[1]s, then cacheroute run %[1]s\n", filepath.ToSlash(out))
	return err
}

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a study, for editors that complete and check it",
		Long: `Print the JSON Schema of a study. An editor with yaml-language-server completes and
checks a study whose first line is

  # yaml-language-server: $schema=study.schema.json`,
		Example: "  cacheroute schema > study.schema.json",
		Args:    cobra.NoArgs,
		RunE: a.body(func(context.Context, []string) error {
			_, err := a.stdout.Write(scenarios.Schema)
			return err
		}),
	}
}
