package fit

import (
	"bytes"
	"context"
	"flag"
	"os"
	"reflect"
	"regexp"
	"testing"

	"cacheroute/scenarios"
)

var update = flag.Bool("update", false, "write the generated parts of docs/fit.md")

const (
	// recordedFit is the fit.json that cacheroute fit table-1 wrote.
	recordedFit = "testdata/table-1.json"
	fitPage     = "../../docs/fit.md"
)

func recorded(t *testing.T) *Result {
	t.Helper()
	s, err := Load(Table1)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(recordedFit)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := s.ReadResult(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What the search is recorded to have found is what a simulation gives.
func TestShippedFitIsSimulated(t *testing.T) {
	r := recorded(t)
	best := r.Optima[0]
	loss, scores, err := r.Spec.evaluate(context.Background(), best.at, &r.Spec.Stages[best.Stage-1], &scenarios.Tally{})
	if err != nil {
		t.Fatal(err)
	}
	if loss != best.Loss || !reflect.DeepEqual(scores, best.Scores) {
		t.Errorf("loss %v and %+v, recorded %v and %+v", loss, scores, best.Loss, best.Scores)
	}
}

// The scenario table-1 has the numbers that the search found.
func TestShippedScenarioIsTheFit(t *testing.T) {
	r := recorded(t)
	fitted, err := r.Study()
	if err != nil {
		t.Fatal(err)
	}
	plain, err := scenarios.Load(Table1, scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, err1 := fitted.YAML()
	got, err2 := plain.YAML()
	if err1 != nil || err2 != nil || !bytes.Equal(got, want) {
		t.Errorf("the scenario:\n%s\nwith the fitted numbers:\n%s\n%v %v", got, want, err1, err2)
	}
	assumptions, err := plain.Assumptions()
	if err != nil {
		t.Fatal(err)
	}
	origin := map[string]string{}
	for _, a := range assumptions {
		origin[a.Parameter] = string(a.Origin)
	}
	for i := range r.Spec.Parameters {
		want := "fitted"
		if r.Spec.Parameters[i].Path == "fleet.signal_interval_s" {
			want = "given" // by the scenario, which says that it is fitted: presets do not hold it
		}
		if o, ok := origin[r.Spec.Parameters[i].Path]; ok && o != want {
			t.Errorf("%s is marked %s, wanted %s", r.Spec.Parameters[i].Path, o, want)
		}
	}
}

func TestFitPage(t *testing.T) {
	page, err := os.ReadFile(fitPage)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := recorded(t).Print(&text); err != nil {
		t.Fatal(err)
	}
	part := regexp.MustCompile("(?s)(<!-- generated: fit -->\n).*?(<!-- end -->)")
	if !part.Match(page) {
		t.Fatal("docs/fit.md has no generated part")
	}
	fresh := part.ReplaceAll(page, []byte("${1}```console\n"+text.String()+"```\n${2}"))
	switch {
	case bytes.Equal(page, fresh):
	case *update:
		if err := os.WriteFile(fitPage, fresh, 0o666); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("docs/fit.md is not what the recorded fit gives; run with -update")
	}
}
