package paper

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"cacheroute/scenarios"
)

func tablesOf(t *testing.T) []table {
	t.Helper()
	all, err := readTables(tablesFile)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestData: every cell names what there is, and every number can be read.
func TestData(t *testing.T) {
	known := map[string]*scenarios.Study{}
	for _, r := range recipes() {
		s, _, err := r.build(t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := known[r.name]; twice {
			t.Errorf("two studies %s", r.name)
		}
		known[r.name] = s
	}
	names := map[string]bool{}
	for _, tb := range tablesOf(t) {
		names[tb.Table] = true
		found := tb.Reference == ""
		for _, r := range tb.Rows {
			found = found || r.Name == tb.Reference
			for i, c := range tb.Columns {
				found = found || c.Name == tb.Reference
				at := r.source.or(c.source).or(tb.source)
				where := fmt.Sprintf("table %s, %s, %s", tb.Table, r.Name, c.Name)
				if gauges[at.Kind] == nil || kinds[at.Kind].near == nil {
					t.Errorf("%s: no kind %q", where, at.Kind)
				}
				if _, _, err := parseNumber(r.Paper[i], at.Kind); err != nil {
					t.Errorf("%s: %v", where, err)
				}
				s, ok := known[at.Study]
				if !ok {
					t.Errorf("%s: no study %q", where, at.Study)
				}
				if s != nil && at.Policy != "" && !slices.ContainsFunc(s.Policies, func(p scenarios.Policy) bool { return p.Label == at.Policy }) {
					t.Errorf("%s: study %s has no %s", where, at.Study, at.Policy)
				}
				if at.Kind == "capacity" && at.SLO == 0 {
					t.Errorf("%s: no objective", where)
				}
			}
		}
		if !found {
			t.Errorf("table %s: no %q to refer to", tb.Table, tb.Reference)
		}
	}
	for n := range 15 {
		if !names[fmt.Sprint(n+1)] {
			t.Errorf("no table %d", n+1)
		}
	}
	for _, c := range claims() {
		for _, study := range c.studies {
			if _, ok := known[study]; !ok {
				t.Errorf("claim %q: no study %s", c.text, study)
			}
		}
		if !names[c.table] {
			t.Errorf("claim %q: no table %s", c.text, c.table)
		}
	}
}

// TestIdentities: numbers that the paper derives from others follow from them.
func TestIdentities(t *testing.T) {
	all := tablesOf(t)
	// paper is a number of the n-th part of a table.
	paper := func(name string, part int, row, column string) float64 {
		for _, tb := range all {
			if tb.Table != name {
				continue
			}
			if part--; part >= 0 {
				continue
			}
			for _, r := range tb.Rows {
				for i, c := range tb.Columns {
					if r.Name == row && c.Name == column {
						n, _, err := parseNumber(r.Paper[i], r.source.or(c.source).or(tb.source).Kind)
						if err != nil {
							t.Fatal(err)
						}
						return float64(n.Mean)
					}
				}
			}
		}
		t.Fatalf("table %s has no %s, %s", name, row, column)
		return 0
	}
	one := func(row, column string) float64 { return paper("1", 0, row, column) }
	text := func(row string) float64 { return paper("text", 0, row, "value") }
	other := func(row string) float64 { return paper("text", 1, row, "value") }
	mean := func(column string) float64 {
		return (paper("12", 0, "0→1", column) + paper("12", 0, "2→3", column) + paper("12", 0, "4→5", column)) / 3
	}
	for _, c := range []struct {
		what            string
		stated, derived float64
		unit            float64 // of the last digit that is printed
	}{
		{"2.3x", text("over the strongest baseline, 3.5 s"), one("CacheRoute", "Cap.@3.5s") / one("Preble", "Cap.@3.5s"), 0.1},
		{"4.2x", text("over Flat-LB, 3.5 s"), one("CacheRoute", "Cap.@3.5s") / one("Flat-LB", "Cap.@3.5s"), 0.1},
		{"1.3x at 5 s", text("over the strongest baseline, 5 s"), one("CacheRoute", "Cap.@5s") / one("Preble", "Cap.@5s"), 0.1},
		{"29.1 points", text("KV hit above Flat-LB, points"), one("CacheRoute", "KV hit") - one("Flat-LB", "KV hit"), 0.1},
		{"1.6x", other("second distribution, top-256, over the best"), paper("2", 0, "CacheRoute", "top-256") / paper("2", 0, "DualMap", "top-256"), 0.1},
		{"1.39x", other("8B, top-128, over the best"), paper("3", 0, "top-128", "CacheRoute") / paper("3", 0, "top-128", "Preble"), 0.01},
		{"1.33x", other("70B, top-256, over DualMap"), paper("9", 0, "CacheRoute", "Cap.@3.5s") / paper("9", 0, "DualMap", "Cap.@3.5s"), 0.01},
		{"1.50x of Table 13 over Table 3", paper("13", 0, "q_cap 50 QPS", "Mult."), paper("13", 0, "q_cap 50 QPS", "CR cap.") / paper("3", 0, "top-128", "Flat-LB"), 0.01},
		{"0.50x of Table 5 from Table 15", paper("5", 0, "Aggregate A-32B", "Cap. mult."), paper("15", 0, "Aggregate A-32B", "CR@3.5s") / paper("15", 0, "Aggregate A-32B", "flat@3.5s"), 0.01},
		{"0.67x of Table 5 from Table 15", paper("5", 0, "Aggregate A-32B", "mult. at 5 s"), paper("15", 0, "Aggregate A-32B", "CR@5s") / paper("15", 0, "Aggregate A-32B", "flat@5s"), 0.01},
		{"hit of Table 5 in Table 15", paper("5", 0, "Aggregate B-32B", "Aff. hit"), paper("15", 0, "Aggregate B-32B", "affinity hit"), 0},
		{"mean KV loss", paper("12", 0, "Mean", "KV loss, points"), mean("KV loss, points"), 0.1},
		{"mean p99 loss", paper("12", 0, "Mean", "p99 loss, ms"), mean("p99 loss, ms"), 1},
		{"mean dip", paper("12", 0, "Mean", "Warmup dip, points"), mean("Warmup dip, points"), 0.1},
		{"context of the prompt", paper("6", 0, "the same, % of the prompt", "value"), 100 * paper("6", 0, "Stable per-business context, tokens", "value") / paper("6", 0, "Mean input length, tokens", "value"), 1},
	} {
		if math.Abs(c.stated-c.derived) > c.unit/2+1e-9 {
			t.Errorf("%s: stated %v, derived %v", c.what, c.stated, c.derived)
		}
	}
	for _, row := range []string{"Flat-LB", "Sticky", "CHWBL", "DualMap", "Preble", "CacheRoute"} {
		if one(row, "p99@100") != paper("F2", 0, row, "(a) p99@100") || one(row, "Cap.@3.5s") != paper("F2", 0, row, "(b) knee@3.5s") {
			t.Errorf("%s: Figure 2 is not Table 1", row)
		}
	}
}

// TestStudiesFollowBase: whatever the fit says of the harness is in all studies.
func TestStudiesFollowBase(t *testing.T) {
	base, err := scenarios.Load(baseScenario, scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range recipes() {
		s, _, err := r.build(t.TempDir(), []uint64{9})
		if err != nil {
			continue // TestData tells
		}
		if len(s.Seeds) != 1 || s.Seeds[0] != 9 {
			t.Errorf("%s: seeds %v, want those that were asked for", r.name, s.Seeds)
		}
		if s.Fleet.TTFTOverheadS != base.Fleet.TTFTOverheadS || s.Measure.DeadlineS != base.Measure.DeadlineS {
			t.Errorf("%s: overhead or deadline is not the base scenario's", r.name)
		}
		if r.model != "32B" && s.Workload.Synthetic.Prompt.TemplateTokens != base.Workload.Synthetic.Prompt.TemplateTokens {
			t.Errorf("%s: the template is not the base scenario's", r.name)
		}
	}
}

// TestModels: the rule gives the model that it starts from its own numbers, and
// the facts of the paper's memory.
func TestModels(t *testing.T) {
	if got := flagship.blocks(40071, 16); got != 40071 {
		t.Errorf("the paper's model has %d blocks, want its 40,071", got)
	}
	if tokens := 40071 * 16; tokens/1000 != 641 {
		t.Errorf("%d tokens, the paper says about 641K", tokens)
	}
	for name, m := range models {
		if got := m.blocks(40071, 16); got < 1000 || got > 80142 {
			t.Errorf("%s: %d blocks", name, got)
		}
		for _, preset := range []string{m.of, m.over} {
			if p, err := presetPrices(preset); err != nil || p["base_ms"] <= 0 {
				t.Errorf("%s: preset %s: %v %v", name, preset, p, err)
			}
		}
	}
	k := &kit{name: "same"}
	if err := k.model(model{of: measured70B, over: measured70B, gpus: flagship.gpus, weightsGB: flagship.weightsGB, kvTokenBytes: flagship.kvTokenBytes}); err != nil {
		t.Fatal(err)
	}
	base, err := scenarios.Load(baseScenario, scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	same, err := k.study()
	if err != nil {
		t.Fatal(err)
	}
	was, _ := prices(base.Fleet.Cost.Spec)
	is, _ := prices(same.Fleet.Cost.Spec)
	for name, x := range was {
		if math.Abs(is[name]-x) > 1e-3*x {
			t.Errorf("%s: %v, want %v", name, is[name], x)
		}
	}
}

func TestGaps(t *testing.T) {
	gaps := lognormalGaps()
	if len(gaps) != 22639 {
		t.Errorf("%d gaps", len(gaps))
	}
	if cv := scale(slices.Clone(gaps)); math.Abs(cv-2.73) > 1e-6 {
		t.Errorf("CV %v, want 2.73", cv)
	}
	var sum, mean, square, product float64
	for _, g := range gaps {
		mean += math.Log(g) / float64(len(gaps))
		sum += g
	}
	for i, g := range gaps[1:] {
		square += (math.Log(g) - mean) * (math.Log(g) - mean)
		product += (math.Log(g) - mean) * (math.Log(gaps[i]) - mean)
	}
	if math.Abs(product/square-gapCorrelation) > 0.03 || math.Abs(sum/float64(len(gaps))-1) > 1e-9 {
		t.Errorf("correlation %v, mean %v, want %v and 1", product/square, sum/float64(len(gaps)), gapCorrelation)
	}
}

func TestGini(t *testing.T) {
	for _, c := range []struct {
		shares []float64
		want   float64
	}{{[]float64{0.25, 0.25, 0.25, 0.25}, 0}, {[]float64{1, 0, 0, 0}, 0.75}, {[]float64{0.75, 0.25}, 0.25}} {
		if got := gini(c.shares); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("gini(%v) = %v, want %v", c.shares, got, c.want)
		}
	}
}
