package scenarios

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cacheroute/policies"
)

// swept is the small study with axes.
func swept(axes string) []byte { return []byte(small + "sweep:\n" + axes) }

func mustExpand(t *testing.T, axes string, o Options) []Variant {
	t.Helper()
	all, err := ExpandText("small.yaml", swept(axes), o)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// show is the label of each variant and some of what its study has.
func show(all []Variant) (lines []string) {
	for _, v := range all {
		s := v.Study
		line := fmt.Sprintf("%s: %d of %d blocks", v.Label, s.Fleet.Destinations, s.Fleet.KVBlocks)
		for _, p := range s.Policies {
			if c, ok := p.Spec.(*policies.CacheRoute); ok {
				line += fmt.Sprintf(", slots %d", c.Slots)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func TestExpand(t *testing.T) {
	for _, c := range []struct {
		name, axes string
		options    Options
		want       []string
	}{
		{"product, the last axis fastest", "  fleet.destinations: [2, 4]\n  fleet.kv_blocks: {from: 100, to: 10000, steps: 3, scale: log}\n", Options{}, []string{
			"destinations=2,kv_blocks=100: 2 of 100 blocks, slots 3", "destinations=2,kv_blocks=1000: 2 of 1000 blocks, slots 3", "destinations=2,kv_blocks=10000: 2 of 10000 blocks, slots 3",
			"destinations=4,kv_blocks=100: 4 of 100 blocks, slots 3", "destinations=4,kv_blocks=1000: 4 of 1000 blocks, slots 3", "destinations=4,kv_blocks=10000: 4 of 10000 blocks, slots 3",
		}},
		{"paired", "  fleet.kv_blocks: [300]\n  paired:\n    fleet.destinations: [2, 4]\n    policies.cacheroute.slots: [7, 9]\n", Options{}, []string{
			"kv_blocks=300,destinations=2,slots=7: 2 of 300 blocks, slots 7", "kv_blocks=300,destinations=4,slots=9: 4 of 300 blocks, slots 9",
		}},
		{"lists and mappings", "  policies: [[flat-lb], [{name: cacheroute, slots: 8}]]\n  fleet.kv_blocks: [300]\n", Options{}, []string{
			"policies=flat-lb,kv_blocks=300: 2 of 300 blocks", "policies=name-cacheroute-slots-8,kv_blocks=300: 2 of 300 blocks, slots 8",
		}},
		{"an override takes the place of its axis", "  fleet.destinations: [2, 4]\n  fleet.kv_blocks: [300, 400]\n",
			Options{Set: []Override{{Path: "fleet.destinations", Value: "3", Source: "--set"}}}, []string{
				"kv_blocks=300: 3 of 300 blocks, slots 3", "kv_blocks=400: 3 of 400 blocks, slots 3",
			}},
		{"one below an axis holds for all of its values", "  fleet: [{destinations: 2, preset: paper-70b-fp8}, {destinations: 4, preset: paper-70b-fp8}]\n",
			Options{Set: []Override{{Path: "fleet.kv_blocks", Value: "77", Source: "--set"}}}, []string{
				"fleet=destinations-2-preset-paper-70b-fp8: 2 of 77 blocks, slots 3", "fleet=destinations-4-preset-paper-70b-fp8: 4 of 77 blocks, slots 3",
			}},
		{"an axis from the command line", "  fleet.kv_blocks: [300]\n",
			Options{Set: []Override{{Path: "sweep.fleet.destinations", Value: "[5, 6]", Source: "--set"}}}, []string{
				"kv_blocks=300,destinations=5: 5 of 300 blocks, slots 3", "kv_blocks=300,destinations=6: 6 of 300 blocks, slots 3",
			}},
		{"picked policies take the place of theirs", "  policies: [[flat-lb], [sticky]]\n  fleet.kv_blocks: [300]\n", Options{Policies: []string{"cacheroute"}}, []string{
			"kv_blocks=300: 2 of 300 blocks, slots 3",
		}},
	} {
		if diff := cmp.Diff(c.want, show(mustExpand(t, c.axes, c.options))); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// A variant is the study that its values make as overrides, but for its name.
func TestVariantIsItsOverrides(t *testing.T) {
	all := mustExpand(t, "  fleet.destinations: [2, 4]\n  workload.prompt.turn_tokens: [{name: lognormal, mean: 30, sigma: 1}, 20]\n", Options{})
	for _, v := range all {
		var o Options
		for _, x := range v.Values {
			o.Set = append(o.Set, Override{Path: x.Path, Value: x.Value, Source: "--set"})
		}
		s := mustParse(t, small, o)
		if s.Name += "," + v.Label; s.Name != v.Study.Name {
			t.Errorf("name %s", v.Study.Name)
		}
		if diff := cmp.Diff(s, v.Study); diff != "" {
			t.Errorf("%s: %s", v.Label, diff)
		}
	}
	if len(all) != 4 {
		t.Errorf("%d variants", len(all))
	}
}

// An axis can give what the study leaves out, and files lie beside the study.
func TestAxisOfWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "study.yaml")
	text := strings.NewReplacer("destinations: 2, ", "", "{name: zipf, count: 8}", "{name: rates}").Replace(small) +
		"sweep: {fleet.destinations: [3], workload.keys.file: [a/x.csv, b/y.csv]}\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	all, err := Expand(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"a/x.csv", "b/y.csv"} {
		v := all[i]
		if got := *v.Study.files()[0]; got != filepath.Join(dir, want) || v.Study.Fleet.Destinations != 3 || v.Label != "destinations=3,file="+filepath.Base(want) {
			t.Errorf("%s: file %s, %d destinations", v.Label, got, v.Study.Fleet.Destinations)
		}
	}
}

// A study without axes is its own variant; a study with axes is no single study
// unless each is given a value.
func TestLoadWithAxes(t *testing.T) {
	one, err := ExpandText("small.yaml", []byte(small), Options{})
	if err != nil || len(one) != 1 || one[0].Label != "" || one[0].Values != nil || one[0].Study.Name != "small" {
		t.Errorf("%+v, %v", one, err)
	}
	text := swept("  fleet.destinations: [2, 4]\n")
	_, err = Parse("small.yaml", text, Options{})
	if want := "small.yaml:12: sweep: read axes (fleet.destinations), which only run, explain and sweep take; --set fleet.destinations=2 keeps one value"; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	s, err := Parse("small.yaml", text, sets(t, "fleet.destinations=4"))
	if err != nil || s.Fleet.Destinations != 4 || s.Name != "small" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestBadAxes(t *testing.T) {
	for _, c := range []struct{ axes, want string }{
		{"  {}", "small.yaml:12: sweep: wanted axes"},
		{"  [1]", "small.yaml:12: sweep: wanted axes"},
		{"  paired: {}", "small.yaml:12: sweep.paired: wanted axes"},
		{"  fleet.kv_blocks: [3]\n  fleet.destinatons: [1, 2]", "small.yaml:13: fleet.destinatons: unknown field, did you mean destinations?"},
		{"  flet.destinations: [1, 2]", "small.yaml:12: flet: unknown field"},
		{"  name.x: [1, 2]", "small.yaml:12: sweep: name.x: what is above it holds a plain value"},
		{"  policies.nope.slots: [1, 2]", "small.yaml:12: sweep: policies.nope: no item of that name"},
		{"  fleet.destinations: []", "small.yaml:12: sweep.fleet.destinations: read a list of 0 values, wanted 1 to 10000"},
		{"  fleet.destinations: 3", `small.yaml:12: sweep.fleet.destinations: read "3", wanted a list of values or {from, to, steps}`},
		{"  fleet.destinations: [1,\n  2, 1]", "small.yaml:13: sweep.fleet.destinations: 1 is listed twice"},
		{"  measure.duration_s: [1, 1.0]", "small.yaml:12: sweep: variants duration_s=1 and duration_s=1.0 are one and the same study"},
		{"  name: [a, b]", "small.yaml:12: sweep: variants name=a and name=b are one and the same study"},
		{"  fleet.destinations: [1,\n  0]", "small.yaml:13: fleet.destinations: must be between 1 and 100000, got 0"},
		{"  fleet.destinations:\n  - 1\n  - x", `small.yaml:14: fleet.destinations: read "x", wanted a whole number`},
		{"  fleet.preset: [paper-70b-fp8,\n   nope]", `small.yaml:13: fleet.preset: no preset "nope"`},
		{"  fleet.destinations: {from: 1, to: 3}", "small.yaml:12: sweep.fleet.destinations: a range without from, to or steps"},
		{"  fleet.destinations: {from: 3, to: 3, steps: 2}", "small.yaml:12: sweep.fleet.destinations: from 3 to 3, wanted rising values"},
		{"  fleet.destinations: {from: 1, to: 3, steps: 1}", "small.yaml:12: sweep.fleet.destinations: 1 steps, wanted 2 to 10000"},
		{"  fleet.destinations: {from: 1, to: 3, steps: 9}", "small.yaml:12: sweep.fleet.destinations: 1 is listed twice"},
		{"  fleet.destinations: {from: 0, to: 3, steps: 2, scale: log}", "small.yaml:12: sweep.fleet.destinations: from 0 on a log scale"},
		{"  fleet.destinations: {from: 1, to: 3, steps: 2, scale: lin}", `small.yaml:12: sweep.fleet.destinations: scale "lin", wanted linear or log`},
		{"  fleet.destinations: {from: 1, to: 3, step: 2}", "small.yaml:12: sweep.fleet.destinations.step: unknown field, did you mean steps?"},
		{"  paired:\n    fleet.destinations: [1, 2]\n    fleet.kv_blocks: [1]", "small.yaml:14: sweep.paired.fleet.kv_blocks: 1 value, wanted 2 as fleet.destinations has"},
		{"  fleet.destinations: [1, 2]\n  paired: {fleet.destinations: [1, 2]}", "small.yaml:13: sweep: axis fleet.destinations lies within axis fleet.destinations of small.yaml:12"},
		{"  seeds: [[1], [2]]\n  seeds.0: [3, 4]", "small.yaml:13: sweep: axis seeds.0 lies within axis seeds of small.yaml:12"},
		{"  fleet.destinations: {from: 1, to: 200, steps: 200}\n  fleet.kv_blocks: {from: 101, to: 200, steps: 100}", "small.yaml:12: sweep: the axes have 20000 combinations, wanted at most 10000"},
		{"  fleet.destinations: [1, 2]\n  seeds: [[1], [2]]\n  loads_qps: [[1]]\n  fleet.destinations: [3]", "small.yaml:15: sweep.fleet.destinations: repeated field, first given at small.yaml:12"},
	} {
		all, err := ExpandText("small.yaml", swept(c.axes), Options{})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %d variants, error\n %v\nwant\n %s", c.axes, len(all), err, c.want)
		}
	}
}

// The cells of all variants together have the bound of one study.
func TestTooManyCells(t *testing.T) {
	many := ""
	for i := range 1000 {
		many += fmt.Sprintf("%d, ", i)
	}
	text := strings.Replace(small, "seeds: [1, 2]", "seeds: ["+strings.TrimSuffix(many, ", ")+"]", 1)
	_, err := ExpandText("small.yaml", []byte(text+"sweep:\n  fleet.destinations: {from: 1, to: 300, steps: 300}\n"), Options{})
	if want := "small.yaml:12: sweep: more than 1000000 cells by variant 251 of 300"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v", err)
	}
}
