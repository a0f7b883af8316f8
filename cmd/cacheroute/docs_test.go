package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocumentedCommands runs every cacheroute command in a sh block of the
// README and of docs/, from the root of the project as a reader would.
func TestDocumentedCommands(t *testing.T) {
	t.Chdir("../..")
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)\n```sh\n(.*?)```")
	commands := 0
	for _, page := range append(pages, "README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range block.FindAllStringSubmatch(string(text), -1) {
			for line := range strings.Lines(b[1]) {
				args := strings.Fields(line)
				if len(args) == 0 || args[0] != "cacheroute" {
					t.Errorf("%s: a sh block holds %q, want a cacheroute command", page, line)
					continue
				}
				commands++
				runDocumented(t, page, args[1:])
			}
		}
	}
	if commands < 10 {
		t.Errorf("only %d commands found in the docs", commands)
	}
}

func runDocumented(t *testing.T, page string, args []string) {
	t.Helper()
	if slices.Contains([]string{"run", "replay", "paper"}, args[0]) {
		args = append(args, "--out", t.TempDir())
	}
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), args, &stdout, &stderr); code != exitDone {
		t.Errorf("%s: cacheroute %s: exit code %d\n%s", page, strings.Join(args, " "), code, &stderr)
	} else if stdout.Len() == 0 {
		t.Errorf("%s: cacheroute %s prints nothing", page, strings.Join(args, " "))
	}
}
