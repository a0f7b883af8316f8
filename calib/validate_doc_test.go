package calib

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cacheroute/results"
)

var updateDocs = flag.Bool("update", false, "rewrite docs/presets.md")

const presetsPage = "../docs/presets.md"

// whyNot says of the presets that are held against no run why, and where else
// to look.
var whyNot = map[string]string{
	"llama-3.3-70b-fp8-h100-96gb-tp2": "No run of such cards is public: its costs are an assumption. Do not take a fleet's capacity from it without a bench of your own.",
	"llama-3.1-70b-bf16-h100-tp4":     "The runs behind it are not published with it. It is held against a measured fleet of four such servers in [llmd-37.md](llmd-37.md).",
	"paper-70b-fp8":                   "It is fitted to Table 1 of the paper and describes no measured engine; see [model.md](model.md).",
}

const presetsIntro = `# Presets: where their numbers come from, and how well they hold

This page is generated from the presets and from measured runs (` + "`go test ./calib -run TestPresetsPage -update`" + `).

A preset is a claim about an engine, and a bench can refute it. This is how to try, with the runs on this page or with your own:

` + "```console\n$ cacheroute validate BENCH --preset llama-3.3-70b-fp8-h100-tp2\n```" + `

The runs are an extract of 103 rows of ` + "`silicon_sample.csv`" + ` of [AIConfigurator](https://github.com/ai-dynamo/aiconfigurator) (Apache-2.0), all on H100 SXM 80 GB: mean TTFT and mean TPOT of closed-loop benches. Line numbers count from the header line of that extract.
Each run is simulated as it was made: all clients start at once on an idle engine, each sends its next request when it has its answer, no prompt shares a token with another, 10 requests a client, and the mean is over all of them, the first burst included.
The file gives no throughput; both columns are *clients × answer / (TTFT + (answer − 1) × TPOT)*, which is exact for clients that always wait.

The four presets fitted to them are what ` + "`cacheroute calibrate`" + ` gives; the head of each file has its command ([calibrate.md](calibrate.md) says what it does). Errors "held out" are those on a shape by a fit to the others.
TPOT decides the costs, and along a valley of prefill, attention and TTFT overhead it hardly changes: at TP2 other values in it, inside the intervals, have 5 instead of 7 % of TTFT error, and predict left-out shapes less well.

**KV-bound.** A measured run is called KV-bound if its TTFT grows at least 1.75 times as much as its clients, from the largest run of its shape that is not; a simulated one if its TTFT is at least 1.75 times that with blocks that are never short. Such runs are no part of the fit of costs: the number of KV blocks is
fitted to them.

**What was needed to come near.** Four things in how the benches were run show in their TTFT and are not in the file. The presets name them below ` + "`bench`" + `, with their origin; only ` + "`validate`" + ` uses them, a study does not:

- *lengths*: InferenceMAX draws them uniform between 0.8 and 1 of the nominal length. Equal lengths keep clients in step for the whole run, which makes TTFT two to four times as long.
- *one prompt a step*: with constant lengths, clients that finish together send together. Under a budget of 8,192 tokens eight prompts of 1,024 share each step and all wait for all; measured TTFT is that of an engine whose step has room for one prompt. This is a finding, not a setting that the file states. It leaves the Qwen3 runs of 4,096-token prompts at few clients 10-28 % low.
- *waiting clients*: the TTFT of the TensorRT-LLM runs holds one whole answer in as many as there are clients, at every length of answers: it falls with more clients. One client has no place in the engine.
- *prefix caching off*: a preempted request computes everything again. With caching it would find its own blocks; then KV-bound runs come out 14 % too fast.

One row (Qwen3, 4,000 tokens, 48 clients) has a lower TPOT than rows with shorter prompts and fewer clients of the same setup: it is listed as odd and is no part of the mean.
`

// presetPage is the part of the page about one preset.
func presetPage(t *testing.T, name string) string {
	t.Helper()
	p, err := Load(name)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n| parameter | value | origin | source |\n|---|---|---|---|\n", name, p.Description)
	for _, a := range slices.Concat(p.Assumptions, p.Bench.Sources) {
		fmt.Fprintf(&b, "| `%s` | %v | %s | %s |\n", a.Parameter, a.Value, a.Origin, a.Source)
	}
	if why, ok := whyNot[name]; ok {
		fmt.Fprintf(&b, "\n%s\n", why)
		return b.String()
	}
	b.WriteString("\n```text\n")
	if err := validateShared(t, name).Print(&b); err != nil {
		t.Fatal(err)
	}
	b.WriteString("```\n")
	return b.String()
}

// TestPresetsPage: docs/presets.md is what presets and measured runs give now.
func TestPresetsPage(t *testing.T) {
	if _, err := os.Stat(sharedBench); err != nil {
		t.Skipf("no measured runs at %s", sharedBench)
	}
	want := presetsIntro
	for _, name := range Names() {
		want += presetPage(t, name)
	}
	for _, name := range slices.Sorted(maps.Keys(whyNot)) {
		if !slices.Contains(Names(), name) {
			t.Errorf("no preset %s", name)
		}
	}
	if *updateDocs {
		if err := results.WriteFileAtomic(presetsPage, func(w io.Writer) error {
			_, err := io.WriteString(w, want)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(presetsPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("docs/presets.md is not up to date (-want +got), go test ./calib -run TestPresetsPage -update:\n%s", diff)
	}
}
