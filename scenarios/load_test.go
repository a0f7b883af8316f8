package scenarios

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// small is a study that runs in milliseconds.
const small = `name: small
fleet: {destinations: 2, preset: llama-3.1-8b-bf16-h100-tp1}
workload:
  keys: {name: zipf, count: 8}
  prompt: {context_tokens: 100, turn_tokens: 20}
  output_tokens: 5
policies: [flat-lb, {name: cacheroute, slots: 3}]
loads_qps: [20, 40]
seeds: [1, 2]
measure: {duration_s: 3}
`

func mustParse(t *testing.T, text string, o Options) *Study {
	t.Helper()
	s, err := Parse("small.yaml", []byte(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// badStudies are changes of the small study and how their error begins.
var badStudies = []struct{ from, to, want string }{
	{"destinations: 2", "destination: 2", `small.yaml:2: fleet.destination: unknown field, did you mean destinations?`},
	{"destinations: 2", "destinations: two", `small.yaml:2: fleet.destinations: read "two", wanted a whole number`},
	{"destinations: 2", "destinations: 2.5", `small.yaml:2: fleet.destinations: read "2.5", wanted a whole number`},
	{"destinations: 2", "destinations: [2]", `small.yaml:2: fleet.destinations: read a list, wanted a whole number`},
	{"destinations: 2", "destinations: 0", `small.yaml:2: fleet.destinations: must be between 1 and 100000, got 0`},
	{"destinations: 2", "destinations: 1e30", `small.yaml:2: fleet.destinations: read "1e30", wanted a whole number`},
	{"destinations: 2", "destinations: ", `small.yaml:2: fleet.destinations: no value`},
	{"destinations: 2", "destinations: 2, destinations: 3", `small.yaml:2: fleet.destinations: repeated field, first given at small.yaml:2`},
	{"llama-3.1-8b", "llama-9", `small.yaml:2: fleet.preset: no preset "llama-9-bf16-h100-tp1", wanted one of llama`},
	{", preset: llama-3.1-8b-bf16-h100-tp1", "", `small.yaml:2: fleet: no preset, wanted preset: a file or one of llama`},
	{", preset", ", cost: {prefill_token_ms: -1}, preset", `small.yaml:2: fleet.cost.prefill_token_ms: must lie`},
	{", preset", ", kv_blocks: 0, preset", `small.yaml:2: fleet.kv_blocks: must lie`},
	{", preset", ", ttft_overhead_s: 61, preset", `small.yaml:10: measure.deadline_s: 60 is not above fleet.ttft_overhead_s = 61`},
	{"zipf", "zipfel", `small.yaml:4: workload.keys.name: unknown key population "zipfel", wanted one of lognormal, rates, zipf`},
	{"name: zipf, count: 8", "count: 8", `small.yaml:4: workload.keys: no name, wanted name: and a key population`},
	{"count: 8", "count: 0", `small.yaml:4: workload.keys.count: must be between`},
	{"count: 8", "cout: 8", `small.yaml:4: workload.keys.cout: unknown field, did you mean count?`},
	{"count: 8", "count: 0x", `small.yaml:4: workload.keys.count: read "0x", wanted a whole number`},
	{"count: 8", "count: 010", `small.yaml:4: workload.keys.count: read 010, wanted a number without leading zeros`},
	{"turn_tokens: 20", "turn_tokens: {name: lognormal, mean: 3, sigma: -1}", `small.yaml:5: workload.prompt.turn_tokens.sigma: must be between`},
	{"turn_tokens: 20", "turn_tokens: {name: lognormal, men: 3}", `small.yaml:5: workload.prompt.turn_tokens.men: unknown field`},
	{"turn_tokens: 20", "turn_tokens: 0", `small.yaml:5: workload.prompt.turn_tokens: must be at least 1 token`},
	{"turn_tokens: 20", "turn_tokens: many", `small.yaml:5: workload.prompt.turn_tokens: wanted a whole number of tokens`},
	{"flat-lb,", "flat,", `small.yaml:7: policies.0: unknown policy "flat", wanted one of cacheroute`},
	{"flat-lb,", "cacheroute,", `small.yaml:7: policies.1: second policy called "cacheroute", wanted label: to tell them apart`},
	{"slots: 3", "slots: 0", `small.yaml:7: policies.1.slots: must be between`},
	{"slots: 3", "slot: 3", `small.yaml:7: policies.1.slot: unknown field, did you mean slots?`},
	{"slots: 3", "label: a=b", `small.yaml:7: policies.1.label: read "a=b", wanted up to 64 characters without commas, quotes, '=' and '.'`},
	{"slots: 3", "label: \"a\\u202eb\"", `small.yaml:7: policies.1.label: "a\u202eb" holds characters that cannot be seen`},
	{"slots: 3", "label: 'a,b'", `small.yaml:7: policies.1.label: read "a,b", wanted up to 64 characters`},
	{"[flat-lb, {name: cacheroute, slots: 3}]", "[]", `small.yaml:7: policies: empty list`},
	{"[20, 40]", "[20, -40]", `small.yaml:8: loads_qps.1: must be between 1e-06 and 1e+09, got -40`},
	{"[20, 40]", "[.nan]", `small.yaml:8: loads_qps.0: read .nan, wanted a finite number`},
	{"[20, 40]", "[-.inf]", `small.yaml:8: loads_qps.0: read -.inf, wanted a finite number`},
	{"[20, 40]", "[20, 20]", `small.yaml:8: loads_qps.1: 20 is listed twice`},
	{"[20, 40]", "20", `small.yaml:8: loads_qps: read "20", wanted a list`},
	{"[20, 40]", "[900000000]", `small.yaml:8: loads_qps.0: 2.7e+09 requests in a run, wanted at most 1e+09`},
	{"loads_qps: [20, 40]\n", "", `small.yaml:1: loads_qps: missing`},
	{"seeds: [1, 2]", "seeds: [-1]", `small.yaml:9: seeds.0: read "-1", wanted a whole number of at least 0`},
	{"seeds: [1, 2]", "seeds: &s [1]\ndescription: *s", `small.yaml:10: description: read a list, wanted text`},
	{"seeds: [1, 2]", "<<: {seeds: [1]}", `small.yaml:9: <<: read a field named "<<", wanted a name`},
	{"seeds: [1, 2]", "&a seeds: &b [*b]", `small.yaml`},
	{"duration_s: 3", "duration_s: 0", `small.yaml:10: measure.duration_s: must be positive`},
	{"duration_s: 3", "duration: 3", `small.yaml:10: measure.duration: unknown field, did you mean duration_s?`},
	{"duration_s: 3", "slo_ttft_p99_s: [2, 0]", `small.yaml:10: measure.slo_ttft_p99_s.1: must be positive`},
	{"duration_s: 3", "max_failure_rate: 2", `small.yaml:10: measure.max_failure_rate: must be between 0 and 1, got 2`},
	{"name: small", "name: ../small", `small.yaml:1: name: "../small", wanted letters`},
	{"name: small", "name: small\ndescription: \"\\e[31m\"", `small.yaml:2: description: "\x1b[31m" holds characters that cannot be seen`},
	{small, "name: x\nfleet:\n  destinatons: 3\n  preset: llama-3.1-8b-bf16-h100-tp1\n", `small.yaml:3: fleet.destinatons: unknown field, did you mean destinations?`},
	{"name: small", "name: [small", `small.yaml:2: while parsing a flow sequence`},
	{"name: small", "name: small\n---\nname: other", `small.yaml:1: read a second document, wanted one study`},
	{"name: small", "name: small\nsweep: {}", `small.yaml:2: sweep: wanted axes`},
	{"name: small", "name: !!binary small", `small.yaml:1: `},
	{small, "", `small.yaml:1: nothing in the file, wanted a study`},
	{small, "[1]", `small.yaml:1: no mapping of fields, wanted a study`},
	{small, "name: x", `small.yaml:1: fleet: missing`},
	{small, strings.Repeat(" ", maxStudyBytes+1), `small.yaml: more than`},
}

// TestBadStudies changes one thing of a good study and wants one line with
// place, field, and what was wanted.
func TestBadStudies(t *testing.T) {
	for _, c := range badStudies {
		text := strings.Replace(small, c.from, c.to, 1)
		if text == small {
			t.Fatalf("the study does not hold %q", c.from)
		}
		_, err := Parse("small.yaml", []byte(text), Options{})
		var b *BadInput
		if !errors.As(err, &b) {
			t.Errorf("%q: error %v, want bad input", c.to, err)
			continue
		}
		if !strings.HasPrefix(b.Lines[0], c.want) {
			t.Errorf("%.60q:\n got %s\nwant %s", c.to, b.Lines[0], c.want)
		}
		if strings.Contains(err.Error(), "scenarios.") || strings.Contains(err.Error(), "workload.Z") {
			t.Errorf("%.60q: speaks of Go: %v", c.to, err)
		}
	}
}

// TestAllMistakes: every mistake has its line.
func TestAllMistakes(t *testing.T) {
	text := strings.NewReplacer("destinations: 2", "destinations: 0", "[1, 2]", "[]", "small\n", "'a b'\n").Replace(small)
	_, err := Parse("small.yaml", []byte(text), Options{})
	want := `small.yaml:1: name: "a b", wanted letters, digits, '.', '_', '-', '=' and ',', as it names a folder
small.yaml:2: fleet.destinations: must be between 1 and 100000, got 0
small.yaml:9: seeds: empty list, wanted at least one`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestAliasBomb(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x]\n"
	for i := range 12 {
		from, to := string(rune('a'+i)), string(rune('a'+i+1))
		bomb += to + "0: &" + to + "0 [" + strings.Repeat("*"+from+"0, ", 8) + "]\n"
	}
	_, err := Parse("bomb.yaml", []byte(bomb), Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "bomb.yaml: more than") {
		t.Errorf("error %v", err)
	}
}

// TestRoundTrip: what a study resolves to loads back to an equal study.
func TestRoundTrip(t *testing.T) {
	texts := map[string]string{"small": small}
	for _, name := range Shipped() {
		data, err := os.ReadFile(name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(data)
	}
	texts["trace"] = "name: t\nfleet: {destinations: 1, preset: paper-70b-fp8}\nworkload: {trace: {file: a.jsonl}}\n"
	for name, text := range texts {
		variants, err := ExpandText("study.yaml", []byte(text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		first := variants[0].Study
		resolved, err := first.YAML()
		if err != nil {
			t.Fatal(err)
		}
		second := mustParse(t, string(resolved), Options{})
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("%s: %s\n%s", name, diff, resolved)
		}
	}
}

func TestPresetAndOverrides(t *testing.T) {
	s := mustParse(t, strings.Replace(small, ", preset", ", kv_blocks: 77, cost: {base_ms: 3}, preset", 1), Options{})
	if s.Fleet.KVBlocks != 77 || s.Fleet.BlockTokens != 16 {
		t.Errorf("fleet %+v", s.Fleet)
	}
	all, err := s.Assumptions()
	if err != nil {
		t.Fatal(err)
	}
	origin := map[string]string{}
	for _, a := range all {
		origin[a.Parameter] = string(a.Origin) + " " + a.Source
	}
	if got := origin["fleet.kv_blocks"]; got != "given the study" {
		t.Errorf("kv_blocks: %s", got)
	}
	if got := origin["fleet.cost.base_ms"]; got != "given the study" {
		t.Errorf("base_ms: %s", got)
	}
	if got := origin["fleet.cost.prefill_token_ms"]; !strings.HasPrefix(got, "fitted ") || !strings.Contains(got, "AIConfigurator") {
		t.Errorf("prefill_token_ms: %s", got)
	}
}

// TestFilesOfAStudy: a relative path is meant from where it is written.
func TestFilesOfAStudy(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.yaml")
	text := strings.Replace(small, "{name: zipf, count: 8}", "{name: rates, file: r.csv}", 1)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := Load(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := *s.files()[0], filepath.Join(dir, "r.csv"); got != want {
		t.Errorf("file %s, want %s", got, want)
	}
	s, err = Load(path, Options{Set: []Override{{"workload.keys.file", "x.csv", "--set"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := *s.files()[0]; got != "x.csv" {
		t.Errorf("overridden file %s, want x.csv", got)
	}
}

func TestLoadNames(t *testing.T) {
	if _, err := Load("no-such", Options{}); err == nil || !strings.Contains(err.Error(), "wanted a YAML file or one of fleet-size, llmd-37-capacity, long-prefix, quick, table-1, table-15, table-2, table-3, table-4, table-9") {
		t.Errorf("error %v", err)
	}
	if _, err := Load(t.TempDir(), Options{}); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("error %v", err)
	}
	if s, err := Load("table-1", Options{}); err != nil || len(s.Policies)*len(s.LoadsQPS)*len(s.Seeds) != 300 {
		t.Errorf("table-1: %v, want 300 cells", err)
	}
}

func TestManyMistakes(t *testing.T) {
	text := strings.Replace(small, "[20, 40]", "["+strings.Repeat("-1, ", 100_000)+"]", 1)
	_, err := Parse("small.yaml", []byte(text), Options{})
	var b *BadInput
	if !errors.As(err, &b) || len(b.Lines) != mostMistakes || !strings.HasSuffix(b.Lines[mostMistakes-1], "more mistakes)") {
		t.Errorf("%.200v", err)
	}
}
