package scenarios

import (
	"os"
	"strings"
	"testing"
)

// FuzzParse: whatever a study file holds, it is read or refused in lines that
// name the file; what is read resolves to a study that reads the same again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	for _, name := range Shipped() {
		data, err := os.ReadFile(name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, seed := range []string{
		"", "\x00", "- 1", "a: &a [*a]", "{}", "name: !!int x", "? [a]\n: b", "name: x\nname: y", "fleet: {preset: [1]}",
		"name: t\nfleet: {destinations: 1, preset: paper-70b-fp8}\nworkload: {trace: {file: a.jsonl}}\n",
		"workload: {keys: {name: rates, file: x}, arrivals: {name: stages, stages: [{qps: 1, duration_s: 1}]}}",
		"policies: [{name: flat-lb, label: ''}]", "measure: {slo_ttft_p99_s: .inf}", "sweep: {a.b: {from: 1, to: 2, steps: 3}, paired: {c: [1]}}", "sweep: {paired: 1}", "\xff\xfea\x00",
		"workload: {output_tokens: {name: empirical, values: [1, 2], weights: [1, -1]}}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse("x.yaml", data, Options{})
		if err != nil {
			for _, line := range strings.Split(err.Error(), "\n") {
				if !strings.HasPrefix(line, "x.yaml:") {
					t.Errorf("line without its file: %q", line)
				}
			}
			return
		}
		first, err := s.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("resolved.yaml", first, Options{})
		if err != nil {
			t.Fatalf("%v\n%s", err, first)
		}
		if second, err := again.YAML(); err != nil || string(second) != string(first) {
			t.Fatalf("%v\n%s\n%s", err, first, second)
		}
	})
}
