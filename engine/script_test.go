package engine

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "make what the scripts print now their expectation")

// The scripts of testdata drive one engine by hand. A script is a row of
// paragraphs: commands, a line ----, and what they print; # begins a comment.
// See stage for the commands. After a change of the semantics, run with
// -rewrite and review the diff.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { playFile(t, file) })
	}
}

func playFile(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var now []string
	var s stage
	line := 1
	for _, paragraph := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
		commands, want, isTest := strings.Cut(paragraph+"\n", "----\n")
		if strings.Contains(want, "----\n") {
			t.Fatalf("%s:%d: no empty line before the next commands", file, line)
		}
		if isTest {
			got := s.play(t, file, line, commands)
			if got != want && !*rewrite {
				t.Errorf("%s:%d: after\n%swant:\n%sgot:\n%s", file, line, commands, want, got)
			}
			paragraph = strings.TrimSuffix(commands+"----\n"+got, "\n")
		} else if !strings.HasPrefix(paragraph, "#") {
			t.Fatalf("%s:%d: neither commands with ---- nor a comment", file, line)
		}
		line += strings.Count(paragraph, "\n") + 2
		now = append(now, paragraph)
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(strings.Join(now, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// play runs the commands of a paragraph and returns what they print.
func (s *stage) play(t *testing.T, file string, line int, commands string) string {
	var out bytes.Buffer
	for i, command := range strings.Split(strings.TrimSpace(commands), "\n") {
		if strings.HasPrefix(command, "#") {
			continue
		}
		verb, rest, _ := strings.Cut(command, " ")
		do := verbs[verb]
		if do == nil {
			t.Fatalf("%s:%d: no command %q", file, line+i, verb)
		}
		if err := do(s, strings.Fields(rest), &out); err != nil {
			t.Fatalf("%s:%d: %s: %v", file, line+i, command, err)
		}
	}
	return out.String()
}
