package paper

import (
	"context"
	"flag"
	"os"
	"regexp"
	"testing"

	"cacheroute/scenarios"
)

var update = flag.Bool("update", false, "rewrite docs/paper.md and the scenarios of single tables")

const page = "../../docs/paper.md"

// TestPage: docs/paper.md holds what the tables come to now.
func TestPage(t *testing.T) {
	if testing.Short() {
		t.Skip("runs all tables")
	}
	r, err := Run(context.Background(), Options{Dir: t.TempDir(), Tally: &scenarios.Tally{}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := string(text)
	for name, generated := range r.Markdown() {
		part := regexp.MustCompile(`(?s)(<!-- generated: ` + name + ` -->\n).*?(<!-- end -->)`)
		if !part.MatchString(want) {
			t.Fatalf("%s has no part %q", page, name)
		}
		want = part.ReplaceAllStringFunc(want, func(old string) string {
			return "<!-- generated: " + name + " -->\n" + generated + "<!-- end -->"
		})
	}
	checkGenerated(t, page, want)
}
