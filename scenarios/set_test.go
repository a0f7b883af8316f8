package scenarios

import (
	"slices"
	"strings"
	"testing"

	"cacheroute/policies"
)

func sets(t *testing.T, args ...string) (o Options) {
	t.Helper()
	for _, a := range args {
		set, err := ParseSet(a)
		if err != nil {
			t.Fatal(err)
		}
		o.Set = append(o.Set, set)
	}
	return o
}

func TestSet(t *testing.T) {
	s := mustParse(t, small, sets(t, "fleet.destinations=7", "seeds=[4, 5]", "loads_qps.1=90", "loads_qps[0]=80",
		"fleet.cost.base_ms=2", "policies.cacheroute.slots=9", "policies.flat-lb.label=mine", "workload.arrivals={name: gamma, cv: 3}"))
	if s.Fleet.Destinations != 7 || !slices.Equal(s.Seeds, []uint64{4, 5}) || !slices.Equal(s.LoadsQPS, []float64{80, 90}) {
		t.Errorf("study %+v", s)
	}
	if s.Policies[0].Label != "mine" || s.Policies[1].Spec.(*policies.CacheRoute).Slots != 9 {
		t.Errorf("policies %+v", s.Policies)
	}
	if s.Workload.Synthetic.Arrivals.Name != "gamma" {
		t.Errorf("arrivals %+v", s.Workload.Synthetic.Arrivals)
	}
}

func TestBadSets(t *testing.T) {
	for _, c := range []struct{ arg, want string }{
		{"fleet.destinations=x", `--set fleet.destinations=x: fleet.destinations: read "x", wanted a whole number`},
		{"fleet.destinations=-3", `--set fleet.destinations=-3: fleet.destinations: must be between`},
		{"fleet.size=3", `--set fleet.size=3: fleet.size: unknown field`},
		{"loads_qps=[.nan]", `--set loads_qps=[.nan]: loads_qps.0: read .nan`},
		{"loads_qps.5=3", `--set loads_qps.5=3: loads_qps.5: no such item in a list of 2`},
		{"policies.nope.slots=3", `--set policies.nope.slots=3: policies.nope: no item of that name`},
		{"name.x=3", `--set name.x=3: name.x: what is above it holds a plain value`},
		{"seeds=", `--set seeds=: "" is no YAML value`},
		{"seeds=[1", `--set seeds=[1: "[1" is no YAML value`},
		{"seeds=[1, 1]", `--set seeds=[1, 1]: seeds.1: 1 is listed twice`},
		{"a.b.c=1", `--set a.b.c=1: a: unknown field`},
	} {
		_, err := Parse("small.yaml", []byte(small), sets(t, c.arg))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
	for _, arg := range []string{"", "x", "=3"} {
		if _, err := ParseSet(arg); err == nil {
			t.Errorf("--set %q was taken", arg)
		}
	}
}

// TestPickPolicies: a picked policy keeps the study's parameters, one that the
// study lacks has defaults.
func TestPickPolicies(t *testing.T) {
	s := mustParse(t, small, Options{Policies: []string{"cacheroute", "sticky"}})
	if len(s.Policies) != 2 || s.Policies[0].Spec.(*policies.CacheRoute).Slots != 3 || s.Policies[1].Name != "sticky" {
		t.Errorf("policies %+v", s.Policies)
	}
	_, err := Parse("small.yaml", []byte(small), Options{Policies: []string{"nope"}})
	if err == nil || !strings.HasPrefix(err.Error(), `--policies nope: policies`) {
		t.Errorf("error %v", err)
	}
}
