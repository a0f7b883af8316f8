package scenarios

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cacheroute/workload"
)

const (
	measuredFleet = "../../shared/data/bench/llmd_37_capacity.csv"
	fleetPage     = "../docs/llmd-37.md"
	fleetSLO      = 3.5 // seconds, of the p90 of TTFT
)

// fleetPolicies are the measured policies by our names, and how many rungs the
// simulated knee is off.
var fleetPolicies = []struct {
	name, measured string
	off            int
}{
	{"random", "random", 1}, {"least-loaded", "load", 1}, {"llm-d", "default", 1}, {"llm-d-precise", "precise", 0},
}

// fleetRow is one policy in one stage, measured or simulated over its seeds.
type fleetRow struct{ p90, mean, tokens float64 }

// fleet is a ladder by policy and rate.
type fleet map[string]map[float64]fleetRow

func (f fleet) add(policy string, qps float64, r fleetRow) {
	if f[policy] == nil {
		f[policy] = map[float64]fleetRow{}
	}
	f[policy][qps] = r
}

// rungs are the rates in order.
func (f fleet) rungs() (all []float64) {
	for qps := range f["random"] {
		all = append(all, qps)
	}
	slices.Sort(all)
	return all
}

// knee is the highest rung whose p90 is within the objective, as its place from
// 1 on; 0: none.
func (f fleet) knee(policy string) int {
	knee := 0
	for i, qps := range f.rungs() {
		if f[policy][qps].p90 <= fleetSLO {
			knee = i + 1
		}
	}
	return knee
}

func readFleet(t *testing.T) fleet {
	t.Helper()
	file, err := os.Open(measuredFleet)
	if os.IsNotExist(err) {
		t.Skipf("%s is not there: nothing to compare with", measuredFleet)
	} else if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	f := fleet{}
	for _, row := range rows[1:] {
		number := func(column string) float64 {
			x, err := strconv.ParseFloat(row[slices.Index(rows[0], column)], 64)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		for _, p := range fleetPolicies {
			if p.measured == row[slices.Index(rows[0], "policy")] {
				f.add(p.name, number("offered_qps"), fleetRow{number("ttft_p90_s"), number("ttft_mean_s"), number("output_tok_s")})
			}
		}
	}
	return f
}

// simulateFleet runs the scenario with changes: the means over the seeds.
func simulateFleet(t *testing.T, changes string) fleet {
	t.Helper()
	var o Options
	for _, set := range strings.Fields(changes) {
		path, value, _ := strings.Cut(set, "=")
		o.Set = append(o.Set, Override{Path: path, Value: value})
	}
	s, err := Load("llmd-37-capacity", o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Prepare(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, seeds := fleet{}, float64(len(s.Seeds))
	for _, c := range sweepOf(t, r, SweepOptions{Dir: t.TempDir()}) {
		sum := f[c.Policy][c.LoadQPS]
		f.add(c.Policy, c.LoadQPS, fleetRow{sum.p90 + float64(c.TTFTP90)/seeds, sum.mean + float64(c.TTFTMean)/seeds,
			sum.tokens + float64(c.OutputTokensPer)/seeds})
	}
	return f
}

// fleetChanges are other readings of what is not known of the bench, and
// controls, which the page shows beside the shipped one.
var fleetChanges = []struct{ what, set string }{
	{"prompts drawn independently", "workload.prompt.cycle='' workload.prompt.stay_probability=0.3333333333333333"},
	{"prompts in the order of their groups", "workload.prompt.cycle=listed"},
	{"every question new", "workload.prompt.retrieved_tokens=0 workload.prompt.variants=0 workload.prompt.turn_tokens=1001"},
	{"control: no prompt shares anything", "workload.prompt.context_tokens=0 workload.prompt.retrieved_tokens=0 workload.prompt.variants=0 workload.prompt.turn_tokens=9001"},
	{"stages without a pause, the backlog carried over", "workload.arrivals.pause_s=0"},
}

// TestMeasuredFleet writes the tables of docs/llmd-37.md, which compare the
// scenario with the measured fleet, and holds it to what was achieved.
func TestMeasuredFleet(t *testing.T) {
	measured := readFleet(t)
	shipped := simulateFleet(t, "")
	page, err := os.ReadFile(fleetPage)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	text = fill(t, text, "stages", stageTable(measured, shipped))
	text = fill(t, text, "knees", kneeTable(measured, shipped))
	text = fill(t, text, "readings", readingTable(t, measured, shipped))
	text = fill(t, text, "drains", drainTable(t, measured, shipped))
	if *update {
		err = os.WriteFile(fleetPage, []byte(text), 0o666)
	} else if text != string(page) {
		err = fmt.Errorf("%s is out of date, run: go test ./scenarios -run TestMeasuredFleet -update", fleetPage)
	}
	if err != nil {
		t.Error(err)
	}
	for _, p := range fleetPolicies {
		got, want := shipped.knee(p.name), measured.knee(p.name)
		if off := max(got, want) - min(got, want); off > p.off {
			t.Errorf("%s: the knee is rung %d, measured rung %d, wanted at most %d apart", p.name, got, want, p.off)
		}
	}
}

// fill replaces the generated part of that name.
func fill(t *testing.T, page, name, table string) string {
	t.Helper()
	part := regexp.MustCompile(`(?s)(<!-- generated: ` + name + ` -->\n).*?(<!-- end -->)`)
	if !part.MatchString(page) {
		t.Fatalf("%s has no part %q", fleetPage, name)
	}
	return part.ReplaceAllString(page, "${1}"+table+"${2}")
}

func stageTable(measured, simulated fleet) string {
	var b strings.Builder
	b.WriteString("| policy | requests/s | TTFT p90, s | simulated | TTFT mean, s | simulated | output tokens/s | simulated | deviation |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, p := range fleetPolicies {
		for _, qps := range measured.rungs() {
			m, s := measured[p.name][qps], simulated[p.name][qps]
			fmt.Fprintf(&b, "| `%s` | %v | %.2f | %.2f | %.2f | %.2f | %.0f | %.0f | %+.0f %% |\n",
				p.name, qps, m.p90, s.p90, m.mean, s.mean, m.tokens, s.tokens, deviation(s, m))
		}
	}
	return b.String()
}

func deviation(s, m fleetRow) float64 { return 100 * (s.tokens/m.tokens - 1) }

// rung names the knee: the rate of its rung.
func (f fleet) rung(knee int) string {
	rungs := f.rungs()
	switch knee {
	case 0:
		return fmt.Sprintf("<%v", rungs[0])
	case len(rungs):
		return fmt.Sprintf("≥%v", rungs[knee-1])
	}
	return fmt.Sprint(rungs[knee-1])
}

func kneeTable(measured, simulated fleet) string {
	var b strings.Builder
	b.WriteString("| policy | knee measured | simulated | rungs apart | output tokens/s at 20 requests/s: simulated against measured |\n|---|--:|--:|--:|--:|\n")
	for _, p := range fleetPolicies {
		m, s := measured.knee(p.name), simulated.knee(p.name)
		fmt.Fprintf(&b, "| `%s` | %s | %s | %.0f | %+.0f %% |\n", p.name, measured.rung(m), simulated.rung(s), math.Abs(float64(s-m)),
			deviation(simulated[p.name][20], measured[p.name][20]))
	}
	return b.String()
}

func readingTable(t *testing.T, measured, shipped fleet) string {
	var b strings.Builder
	b.WriteString("| reading |")
	for _, p := range fleetPolicies {
		fmt.Fprintf(&b, " `%s` |", p.name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(fleetPolicies)) + "\n")
	row := func(what string, f fleet) {
		fmt.Fprintf(&b, "| %s |", what)
		for _, p := range fleetPolicies {
			fmt.Fprintf(&b, " %s; %s s; %.0f |", f.rung(f.knee(p.name)), seconds(f[p.name][20].p90), f[p.name][20].tokens)
		}
		b.WriteString("\n")
	}
	row("measured", measured)
	row("as shipped", shipped)
	for _, c := range fleetChanges {
		row(c.what, simulateFleet(t, c.set))
	}
	return b.String()
}

// slowerSteps is a control: decode steps as much slower, whatever they hold, as
// explains the output rate of llm-d-precise at 3 requests/s.
const slowerSteps = "fleet.cost.base_ms=29"

// drainTable holds the explanation that decode steps are slower against the time
// that each stage of the policy without queues takes until its last answer.
func drainTable(t *testing.T, measured, shipped fleet) string {
	const policy = "llm-d-precise"
	control := simulateFleet(t, slowerSteps)
	var b strings.Builder
	b.WriteString("| requests/s | requests | stage measured, s | simulated | difference | simulated from last arrival to last answer | difference if every step took 12.7 ms more |\n|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, stage := range fleetStages(t) {
		f, ok := measured[policy][stage.QPS]
		if !ok {
			continue // the warm-up
		}
		requests := stage.QPS * stage.DurationS
		span := func(r fleetRow) float64 { return requests * 1000 / r.tokens } // every answer has 1,000 tokens
		simulated := span(shipped[policy][stage.QPS])
		fmt.Fprintf(&b, "| %v | %.0f | %.1f | %.1f | %.1f | %.1f | %+.1f |\n", stage.QPS, requests, span(f), simulated, span(f)-simulated,
			simulated-stage.DurationS, span(f)-span(control[policy][stage.QPS]))
	}
	return b.String()
}

func fleetStages(t *testing.T) []workload.Stage {
	t.Helper()
	s, err := Load("llmd-37-capacity", Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s.Workload.Synthetic.Arrivals.Spec.(*workload.StagedArrivals).Stages
}

func seconds(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}
