package paper

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cacheroute/policies"
	"cacheroute/results"
	"cacheroute/scenarios"
)

// shipped are the studies that are scenarios of their own.
var shipped = []struct {
	scenario, study, description, hint string
	more                               func(*scenarios.Study)
}{
	{"table-2", "second-256", "Paper, Table 2: another population of keys, 256 of them active", "The other column: --set workload.keys.top=128.", nil},
	{"table-3", "8b-128", "Paper, Table 3: Llama-3.1-8B, 128 active keys", "The other rows: --set workload.keys.top=16, 32, 64, 256, 2000.", nil},
	{"table-4", "whales", "Paper, Table 4: ablation with whales, 8B", "affinity and replication are cacheroute with parts switched off.", ablate},
	{"table-9", "wide", "Paper, Table 9: 70B, 256 active keys, eight seeds", "", nil},
	{"table-15", "32b-a", "Paper, Table 15: Qwen3-32B, prompts with little to reuse", "Aggregate B: --set workload.keys.seed=4.", nil},
}

// ablate adds the two middle rows of Table 4.
func ablate(s *scenarios.Study) {
	full := s.Policies[1]
	for _, label := range []string{"affinity", "replication"} {
		spec := *full.Spec.(*policies.CacheRoute)
		spec.Placement, spec.Replication = "random", label == "replication"
		p := full
		p.Spec, p.Label = &spec, label
		s.Policies = append(s.Policies, p)
	}
}

// TestShipped: the scenarios of single tables are what the base scenario and the
// assumptions give now.
func TestShipped(t *testing.T) {
	for _, want := range shipped {
		for _, r := range recipes() {
			if r.name != want.study {
				continue
			}
			s, changes, err := r.build(t.TempDir(), nil)
			if err != nil {
				t.Fatal(err)
			}
			s.Name = want.scenario
			s.Description = want.description + " (assumptions: docs/paper.md)"
			if want.more != nil {
				want.more(s)
			}
			about := (&entry{recipe: r}).assumed()
			checkGenerated(t, "../"+want.scenario+".yaml", header(about, want.hint, changes)+studyText(t, s))
		}
	}
}

func studyText(t *testing.T, s *scenarios.Study) string {
	t.Helper()
	text, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// header is the comment above a generated scenario.
func header(about, hint string, changes []string) string {
	text := fmt.Sprintf("# yaml-language-server: $schema=study.schema.json\n# %s\n", results.Wrap(strings.TrimSpace("Generated: table-1 with the changes below. Assumed: "+about+". "+hint), 2, "# "))
	for _, c := range changes {
		text += "#   " + c + "\n"
	}
	return text + "# go test ./scenarios/paper -run TestShipped -update writes it anew.\n"
}

// checkGenerated compares a generated file with what the code gives now.
func checkGenerated(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := writeText(path, []byte(want)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("%s is not up to date (-want +got), go test ./scenarios/paper -update:\n%s", path, diff)
	}
}
