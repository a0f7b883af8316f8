package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cacheroute/sim/clock"
)

// verdictOf words a study of paperlike policies under one objective, 3.5 s.
func verdictOf(knees map[string][5]float64, order ...string) verdict {
	var cells []Cell
	for _, p := range order {
		cells = append(cells, paperlike(p, all(0), knees[p], knees[p])...)
	}
	r := Report{Summary: Summarise("small", cells, []float64{3.5}, 0.05)}
	r.Manifest.Warnings = []string{"the preset is a guess"}
	r.Manifest.Assumptions = []Assumption{{Parameter: "fleet.destinations", Value: 30.0}}
	return r.verdict()
}

// TestVerdict: the first line says what the ladder shows, and no more.
func TestVerdict(t *testing.T) {
	spread := [5]float64{160, 180, 180, 180, 180}
	for _, c := range []struct {
		name         string
		knees        map[string][5]float64
		order        []string
		figure       string
		says, denies []string
	}{
		{"clear", map[string][5]float64{"flat-lb": all(30), "b": all(120), "c": spread}, []string{"flat-lb", "b", "c"}, "176",
			[]string{"c takes 176 requests/s within p99 TTFT ≤ 3.5 s, the mean of the seeds: 160 requests/s in all 5 seeds, 180 in 4 of 5.", "165 to 187", "1.47× the best other policy, b: 120 (< 160)",
				"5.87× flat-lb, which routes by load alone: 30 (< 60)", "5.87 requests/s for each of the 30 destinations", "tried near it: 160, 180, 220", "the preset is a guess"},
			[]string{"not certain"}},
		{"uncertain", map[string][5]float64{"b": {180, 160, 180, 160, 180}, "c": spread}, []string{"b", "c"}, "176",
			[]string{"The lead over b is not certain: +4", "−16.8 to +24.8"}, nil},
		{"tie", map[string][5]float64{"a": all(60), "b": all(120), "c": all(120)}, []string{"a", "b", "c"}, "120",
			[]string{"b and c take 120 requests/s", "The best policies tie"}, []string{"best other"}},
		{"above the ladder", map[string][5]float64{"b": all(120), "c": all(300)}, []string{"b", "c"}, "> 300",
			[]string{"c takes more than 300 requests/s, the highest load tried", "≥ 2.50× the best other policy, b", "add higher loads"}, []string{"interval over", "each of the"}},
		{"partly above", map[string][5]float64{"b": all(120), "c": {300, 220, 300, 220, 220}}, []string{"b", "c"}, "≥ 252",
			[]string{"c takes at least 252 requests/s", "≥ 2.10×", "2 of 5 seeds lie outside"}, nil},
		{"open other", map[string][5]float64{"b": {300, 80, 80, 80, 80}, "c": all(180)}, []string{"b", "c"}, "180",
			[]string{"No multiplier over b"}, []string{"×"}},
		{"none", map[string][5]float64{"b": all(0), "c": all(0)}, []string{"b", "c"}, "",
			[]string{"No policy keeps the objective, not even at 30 requests/s", "add lower loads"}, []string{"×"}},
		{"alone", map[string][5]float64{"b": all(120)}, []string{"b"}, "120", []string{"b takes 120"}, []string{"×"}},
	} {
		v := verdictOf(c.knees, c.order...)
		text := strings.ReplaceAll(v.Headline+"\n"+strings.Join(append(v.Facts, v.Doubts...), "\n"), "\u00a0", " ")
		if v.Figure != c.figure {
			t.Errorf("%s: figure %q, want %q", c.name, v.Figure, c.figure)
		}
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, text)
			}
		}
		for _, not := range c.denies {
			if strings.Contains(text, not) {
				t.Errorf("%s: %q in\n%s", c.name, not, text)
			}
		}
	}
	if v := (&Report{}).verdict(); v.Figure != "" || !strings.Contains(v.Headline, "no objective") {
		t.Errorf("without an objective: %+v", v)
	}
}

// big is a report of so many policies, loads and seeds, with all profiles, and so
// many intervals of drift in each cell.
func big(policies, loads, seeds, destinations, intervals int) *Report {
	r := &Report{Study: "name: big\n" + strings.Repeat("# filler\n", 10_000)}
	r.Manifest.Study = "big"
	var ladder, p99 []float64
	for l := range loads {
		ladder = append(ladder, 10.123456*float64(l+1))
		p99 = append(p99, 0.123456789*math.Pow(1.1, float64(l)))
	}
	var cells []Cell
	for p := range policies {
		name := fmt.Sprintf("a-policy-of-some-length-%d", p)
		for seed := range seeds {
			cells = append(cells, ladderOf(name, uint64(seed+1)<<40, ladder, p99)...)
		}
		for _, load := range ladder {
			c := NewCollector(Window{To: 60 * clock.Second}, 1, destinations, 200)
			for i := range 2000 {
				at := clock.Time(i) * 30 * clock.Millisecond
				tell(c, 0, ended(at, clock.Time(i+1)*clock.Millisecond, clock.Time(i+1)*clock.Second, int32(i%destinations)))
				c.Load(at, int64(i*i), int64(i*i/3))
			}
			r.Profiles = append(r.Profiles, CellProfile{Policy: name, LoadQPS: load, Seed: 1 << 40, Profile: c.Profile([]float64{1, 3, 9}, FleetTotals{})})
		}
	}
	for i := range cells {
		for k := range intervals {
			hit := Float(1) / Float(3+k)
			cells[i].Intervals = append(cells[i].Intervals, DriftInterval{FromS: Float(60 * k), Requests: 9, KVHit: hit, TTFTP99: 1.2345678 + hit, Imbalance: 1 + hit, Dip: hit / 9,
				Install: &Install{Sets: hit, Traffic: hit / 2, Keys: hit / 3, Counts: hit / 5}})
		}
	}
	r.Summary = Summarise("big", cells, []float64{1, 3, 9}, 0.05)
	return r
}

// TestReportStaysSmall: whatever the study, the page is below 1.5 MB and says
// what it leaves out.
func TestReportStaysSmall(t *testing.T) {
	for _, c := range []struct {
		policies, loads, seeds, destinations, intervals int
		says                                            []string
	}{
		{6, 40, 20, 1000, 0, []string{"The table of cells has 2000 rows of 4800", "Distributions, destinations and time series are here for", "The study is cut"}},
		{100, 40, 1, 30, 0, []string{"Shown are the 48 policies of 100", "The charts show 25 of 40 loads"}},
		{6, 10, 5, 30, 30, nil},
		{6, 40, 2, 30, 100, []string{"The intervals of drift are drawn for 3 of 40 loads"}},
		{60, 7, 1, 30, 200, []string{"The table of means over the intervals of drift has 400 rows of 420", "The intervals of drift are drawn for 1 of 7 loads", "41 of 200 intervals of drift are drawn, evenly chosen"}},
	} {
		var b bytes.Buffer
		if err := big(c.policies, c.loads, c.seeds, c.destinations, c.intervals).write(&b, pageLimits); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d policies, %d loads, %d seeds, %d destinations, %d intervals: %d bytes", c.policies, c.loads, c.seeds, c.destinations, c.intervals, b.Len())
		if b.Len() > 1_500_000 {
			t.Errorf("%+v: %d bytes", c, b.Len())
		}
		for _, want := range c.says {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%+v: no %q", c, want)
			}
		}
		if c.says == nil && strings.Contains(b.String(), "Distributions, destinations") {
			t.Errorf("%+v: profiles left out", c)
		}
	}
}

// hostile puts an attack into every text of a report.
func hostile(v reflect.Value, attack string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			hostile(v.Field(i), attack)
		}
	case reflect.Slice:
		for i := range v.Len() {
			hostile(v.Index(i), attack)
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString(v.String() + attack)
		}
	}
}

// TestReportEscapes: text of the user stays text, whatever the place.
func TestReportEscapes(t *testing.T) {
	count := func(r *Report) map[string]int {
		var b bytes.Buffer
		if err := r.write(&b, pageLimits); err != nil {
			t.Fatal(err)
		}
		n := map[string]int{}
		for _, mark := range []string{"<script", "</script", "<img", "<!--", "<b>", "onerror=\"", "</style", "<svg"} {
			n[mark] = strings.Count(strings.ToLower(b.String()), mark)
		}
		return n
	}
	r := &Report{Summary: study(), Study: "name: x\n", Profiles: big(1, 1, 1, 2, 0).Profiles}
	r.Summary.Drift = big(1, 1, 1, 2, 2).Summary.Drift
	r.Manifest = Manifest{Study: "x", Description: "x", Preset: "x", Version: "x", Commit: "x", Go: "x", Seeds: []uint64{2},
		Inputs: []FileSum{{Name: "x", SHA256: "x"}}, Warnings: []string{"x"},
		Assumptions: []Assumption{{Parameter: "x", Value: "x", Origin: Fitted, Source: "x"}}}
	plain := count(r)
	hostile(reflect.ValueOf(r).Elem(), `</script></style><!--<script>alert(1)</script><img src=x onerror="alert(1)"><b>'"`+"`\u2028")
	r.Manifest.Assumptions[0].Value = "<img src=x>"
	r.Manifest.Assumptions[0].Origin = `measured" onerror="alert(1)`
	if attacked := count(r); !reflect.DeepEqual(plain, attacked) {
		t.Errorf("marks %v, with hostile texts %v", plain, attacked)
	}
}

// TestReportIsMadeOfItsFolder: the page of a run and that of its folder are the
// same, and a folder that is not whole is refused.
func TestReportIsMadeOfItsFolder(t *testing.T) {
	dir := t.TempDir()
	r := &Report{Summary: study(), Study: "name: small\n", Profiles: big(1, 2, 1, 3, 0).Profiles}
	r.Manifest = Manifest{Study: "small", Version: "v", Seeds: []uint64{2, 3}, Warnings: []string{},
		Assumptions: []Assumption{{"fleet.destinations", 2.0, Given, "the study"}}}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("study.yaml", r.Study)
	write("cells.parquet", "cells")
	write("manifest.json", "")
	if err := WriteSummary(filepath.Join(dir, "summary.json"), &r.Summary); err != nil {
		t.Fatal(err)
	}
	if err := WriteProfiles(filepath.Join(dir, "profiles.json"), r.Profiles); err != nil {
		t.Fatal(err)
	}
	if err := WriteManifest(dir, &r.Manifest, "study.yaml", "cells.parquet", "summary.json", "profiles.json"); err != nil {
		t.Fatal(err)
	}
	whole := map[string]string{}
	for _, name := range []string{"manifest.json", "summary.json", "profiles.json", "study.yaml", "cells.parquet"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		whole[name] = string(text)
	}
	again, err := ReadReport(dir)
	if err != nil {
		t.Fatal(err)
	}
	var one, two bytes.Buffer
	if err := r.write(&one, pageLimits); err != nil {
		t.Fatal(err)
	}
	if err := again.write(&two, pageLimits); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("the folder gives another page")
	}
	for _, c := range []struct{ name, text, want string }{
		{"summary.json", strings.Replace(whole["summary.json"], "1.234", "1.235", 1), "not the file that the run wrote"},
		{"profiles.json", whole["profiles.json"][:100], "not the file that the run wrote"},
		{"study.yaml", "", "not the file that the run wrote"},
		{"cells.parquet", "cell", "not the file that the run wrote"},
		{"manifest.json", strings.Replace(whole["manifest.json"], `"version": "v"`, `"version": "w"`, 1), "not as the run wrote it"},
		{"manifest.json", whole["manifest.json"][:100], "not a manifest of this version"},
		{"manifest.json", "{}", "not as the run wrote it"},
		{"manifest.json", strings.Replace(whole["manifest.json"], "profiles.json", "other", 1), "not as the run wrote it"},
	} {
		write(c.name, c.text)
		_, err := ReadReport(dir)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		write(c.name, whole[c.name])
	}
	if err := os.Remove(filepath.Join(dir, "cells.parquet")); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadReport(dir); err == nil || !strings.Contains(err.Error(), "cells.parquet: no such file") {
		t.Errorf("without cells.parquet: %v", err)
	}
}

// TestFoldersThatAreNotWhole: what is missing is said.
func TestFoldersThatAreNotWhole(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "cells"), 0o777); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir: "--resume", t.TempDir(): "is not a folder of results (no manifest.json)", filepath.Join(dir, "none"): "no such file", file: "is not a folder of results",
	} {
		if _, err := ReadReport(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", path, err, want)
		}
	}
}

// TestProfilesAgreeWithTheCell: goodput counts are exact and agree with the
// distribution, and the file reads back as it was.
func TestProfilesAgreeWithTheCell(t *testing.T) {
	path := filepath.Join(t.TempDir(), "profiles.json")
	rapid.Check(t, func(t *rapid.T) {
		c := NewCollector(Window{From: 2, To: 1000}, 1, 3, 1)
		slos := rapid.SliceOfN(rapid.Float64Range(0, 2e-9), 0, 3).Draw(t, "slos")
		within := make([]int64, len(slos))
		for i := range rapid.IntRange(0, 50).Draw(t, "n") {
			ttft := clock.Time(rapid.Int64Range(0, 2000).Draw(t, "ttft"))
			rec := ended(clock.Time(i), ttft, ttft+1, int32(i%3))
			if i%7 == 0 {
				rec.Status = TimedOut
			}
			tell(c, 0, rec)
			for j, slo := range slos {
				if i >= 2 && i%7 != 0 && ttft.Seconds() <= slo {
					within[j]++
				}
			}
		}
		p := c.Profile(slos, FleetTotals{})
		for j := range slos {
			if p.Within[j].Requests != within[j] || p.Within[j].SLO != slos[j] {
				t.Fatalf("within %v: %+v, want %d", slos[j], p.Within[j], within[j])
			}
		}
		var sent int64
		for _, n := range p.Destinations {
			sent += n
		}
		if sent != c.Cell(FleetTotals{}).Requests {
			t.Fatalf("%d requests at destinations, %d in the cell", sent, c.Cell(FleetTotals{}).Requests)
		}
		all := []CellProfile{{"a", 1.5, 7, p}, {"b", 2, 7, p}}
		if err := WriteProfiles(path, all); err != nil {
			t.Fatal(err)
		}
		again, err := ReadProfiles(path)
		if err != nil {
			t.Fatal(err)
		}
		one, _ := json.Marshal(all)
		two, _ := json.Marshal(again)
		if !bytes.Equal(one, two) || len(again) != 2 {
			t.Fatalf("wrote\n%s\nread\n%s", one, two)
		}
	})
}

// TestEvenly: the ends are kept, nothing twice.
func TestEvenly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, most := rapid.IntRange(0, 100).Draw(t, "n"), rapid.IntRange(1, 100).Draw(t, "most")
		chosen := evenly(n, most)
		if len(chosen) != min(n, most) {
			t.Fatalf("%d chosen", len(chosen))
		}
		for i := range chosen {
			if i > 0 && chosen[i] <= chosen[i-1] || chosen[i] >= n {
				t.Fatalf("chosen %v", chosen)
			}
		}
		if len(chosen) > 1 && (chosen[0] != 0 || chosen[len(chosen)-1] != n-1) {
			t.Fatalf("ends of %v", chosen)
		}
	})
}
