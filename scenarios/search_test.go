package scenarios

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cacheroute/results"
)

// answers is a course whose i-th rung passes as said, and counts what it runs.
func answers(passes []bool) (c *course, ask func(*results.Cell) bool, runs *int) {
	runs = new(int)
	c = &course{tried: map[int]results.Cell{}}
	for i := range passes {
		c.rungs = append(c.rungs, math.Pow(1.03, float64(i)))
	}
	c.run = func(rung float64) (results.Cell, error) {
		*runs++
		i := slices.Index(c.rungs, rung)
		if passes[i] {
			return results.Cell{TTFTP99: 0}, nil
		}
		return results.Cell{TTFTP99: 1}, nil
	}
	return c, func(cell *results.Cell) bool { return cell.TTFTP99 == 0 }, runs
}

// Where rungs pass up to one and fail from there on, the search finds it from
// any start, also when the start lies at an end, and never runs a rung twice.
func TestSearchIsExact(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 40} {
		for knee := -1; knee < n; knee++ {
			for start := -1; start < n; start++ {
				passes := make([]bool, n)
				for i := range knee + 1 {
					passes[i] = true
				}
				c, ask, runs := answers(passes)
				got, err := c.last(ask, start)
				if err != nil || got != knee {
					t.Fatalf("%d rungs, start %d: found %d, want %d (%v)", n, start, got, knee, err)
				}
				most := int(math.Ceil(math.Log2(float64(n + 1))))
				if start >= 0 {
					most = 2*most + 2
				}
				if *runs != len(c.tried) || *runs > most {
					t.Errorf("%d rungs, knee %d, start %d: %d runs of %d rungs, wanted at most %d", n, knee, start, *runs, len(c.tried), most)
				}
			}
		}
	}
}

// Where a rung passes behind one that fails, what is found passes and the rung
// behind it was tried and fails, whatever was known before.
func TestSearchFindsABracket(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		passes := make([]bool, 1+r.IntN(30))
		for i := range passes {
			passes[i] = r.Float64() < 0.9-float64(i)/float64(len(passes))
		}
		c, ask, _ := answers(passes)
		for range r.IntN(4) {
			i := r.IntN(len(passes))
			c.tried[i], _ = c.run(c.rungs[i])
		}
		k, err := c.last(ask, r.IntN(len(passes)+1)-1)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range map[int]bool{k: true, k + 1: false} {
			cell, tried := c.tried[i]
			if i >= 0 && i < len(passes) && (!tried || ask(&cell) != want) {
				t.Fatalf("seed %d: %v: found %d, but rung %d was tried: %v, passes: %v", seed, passes, k, i, tried, tried && ask(&cell))
			}
		}
		for i, cell := range c.tried {
			if i > k && ask(&cell) {
				t.Fatalf("seed %d: %v: found %d, but %d passes and was tried", seed, passes, k, i)
			}
		}
	}
}

func TestGeometric(t *testing.T) {
	four := func(x float64) float64 { return digits(x, 4) }
	for _, c := range []struct {
		a, b, precision float64
		round           func(float64) float64
		want            rungs
	}{
		{100, 200, 0.2, four, rungs{100, 118.9, 141.4, 168.2, 200}},
		{1, 1.21, 0.1, four, rungs{1, 1.1, 1.21}},
		{5, 5, 0.1, four, rungs{5}},
		{4, 9, 0.02, math.Round, rungs{4, 5, 6, 7, 8, 9}},
		{10, 20, 0.3, math.Round, rungs{10, 13, 16, 20}},
	} {
		if diff := cmp.Diff(c.want, geometric(c.a, c.b, c.precision, c.round)); diff != "" {
			t.Errorf("%v to %v to %v: %s", c.a, c.b, c.precision, diff)
		}
	}
	if n := geometric(30, 300, 0.02, four).near(0); n != 5 {
		t.Errorf("10 %% are %d rungs of 2 %%, want 5", n)
	}
}

func seek(t *testing.T, r *Runner, precision float64, workers int) *results.Summary {
	t.Helper()
	s, err := r.Capacity(context.Background(), precision, SearchOptions{Workers: workers, Tally: &Tally{}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ladder(t *testing.T, r *Runner) results.Summary {
	t.Helper()
	cells, err := r.Simulate(context.Background(), SearchOptions{Workers: 2, Tally: &Tally{}})
	if err != nil {
		t.Fatal(err)
	}
	m := &r.Study.Measure
	return results.Summarise(r.Study.Name, cells, m.SLOs, m.MaxFailureRate)
}

// The search has the capacities of Table 1 within one rung of the ladder, for a
// third of its requests; and the knee of each seed, unless the load at which the
// search saw it fail lies below one at which the ladder saw it pass.
func TestSearchOfTable1(t *testing.T) {
	study, err := Load("table-1", sets(t, "seeds=[2, 3, 4]", "measure.slo_ttft_p99_s=[3.5]", "policies=[flat-lb, chwbl, {name: cacheroute, slots: 5}]"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Prepare(study, nil)
	if err != nil {
		t.Fatal(err)
	}
	whole, found := ladder(t, r), seek(t, r, 0.12, 2)
	if 3*found.SimulatedRequests > whole.SimulatedRequests {
		t.Errorf("%d requests, the ladder has %d", found.SimulatedRequests, whole.SimulatedRequests)
	}
	rung := func(qps float64) (n int) {
		for _, l := range study.LoadsQPS {
			if l <= qps {
				n++
			}
		}
		return n
	}
	apart := func(a, b float64) bool { return math.Abs(float64(rung(a)-rung(b))) > 1 }
	crossings := 0
	for i, row := range whole.Capacity {
		if got := found.Capacity[i]; apart(float64(got.QPS.Mean), float64(row.QPS.Mean)) {
			t.Errorf("%s: %v by search, %v on the ladder", row.Policy, got.QPS, row.QPS)
		}
		for j, k := range row.PerSeed {
			got := found.Capacity[i].PerSeed[j]
			if !apart(got.QPS, k.QPS) {
				continue
			}
			crossings++
			failsBelow := slices.ContainsFunc(found.Cells, func(c results.Cell) bool {
				return c.Policy == row.Policy && c.Seed == k.Seed && c.LoadQPS < k.QPS && !c.Passes(row.SLO, row.MaxFailureRate)
			})
			if got.QPS > k.QPS || !failsBelow {
				t.Errorf("%s, seed %d: knee %v by search, %v on the ladder", row.Policy, k.Seed, got, k)
			}
		}
	}
	if crossings > 1 {
		t.Errorf("%d of 9 knees differ", crossings)
	}
}

// Against the ladder of all its rungs the search finds the same knee where the
// ladder passes up to one load, and else a load that passes below one that fails.
func TestSearchAgreesWithFineLadder(t *testing.T) {
	const precision = 0.04
	r := prepare(t, strings.Replace(manyKeys, "duration_s: 30", "duration_s: 8", 1))
	found := seek(t, r, precision, 1)
	if again := seek(t, r, precision, 3); !cmp.Equal(found.Cells, again.Cells) {
		t.Error("the number of workers changes what is tried")
	}
	r.Study.LoadsQPS = geometric(60, 200, precision, func(x float64) float64 { return digits(x, 4) })
	whole := ladder(t, r)
	if 2*len(found.Cells) > len(whole.Cells) {
		t.Errorf("%d runs, the ladder has %d", len(found.Cells), len(whole.Cells))
	}
	same := 0
	for i, row := range whole.Capacity {
		for j, k := range row.PerSeed {
			got := found.Capacity[i].PerSeed[j]
			if got == k {
				same++
				continue
			}
			monotone, failed := true, false
			for _, c := range whole.Cells {
				if c.Policy == row.Policy && c.Seed == k.Seed {
					pass := c.Passes(row.SLO, row.MaxFailureRate)
					monotone = monotone && !(pass && failed)
					failed = failed || !pass
				}
			}
			if monotone {
				t.Errorf("%s, p99 <= %v s: %v by search, %v on the ladder", row.Policy, row.SLO, got, k)
			}
		}
	}
	if same < 6 {
		t.Errorf("only %d of 12 knees are those of the ladder", same)
	}
}

// The smallest fleet is that of running every size.
func TestFleetSize(t *testing.T) {
	r := prepare(t, strings.NewReplacer("loads_qps: [60, 200]", "loads_qps: [80]", "duration_s: 30", "duration_s: 8").Replace(manyKeys))
	f, err := r.FleetSize(context.Background(), 1, 12, 0.01, SearchOptions{Workers: 2, Tally: &Tally{}})
	if err != nil {
		t.Fatal(err)
	}
	inside := 0
	for _, row := range f.Sizes {
		for _, s := range row.PerSeed {
			passes := map[int]bool{0: false, 13: true}
			for n := 1; n <= 12; n++ {
				i := slices.IndexFunc(r.Study.Policies, func(p Policy) bool { return p.Label == row.Policy })
				cell, _, err := r.withDestinations(n).Run(context.Background(), Cell{&r.Study.Policies[i], 80, s.Seed}, &Tally{}, nil)
				if err != nil {
					t.Fatal(err)
				}
				passes[n] = cell.Passes(row.SLO, row.MaxFailureRate)
			}
			if s.Censor == results.CensorRight {
				if s.Destinations != 12 || passes[12] {
					t.Errorf("%s, seed %d, p99 <= %v s: %+v, but %v pass", row.Policy, s.Seed, row.SLO, s, passes)
				}
				continue
			}
			if !passes[s.Destinations] || passes[s.Destinations-1] {
				t.Errorf("%s, seed %d, p99 <= %v s: %+v, but %v pass", row.Policy, s.Seed, row.SLO, s, passes)
			}
			if s.Censor == results.CensorNone {
				inside++
			}
		}
	}
	if inside < 8 || r.Study.Fleet.Destinations != 5 {
		t.Errorf("%d sizes inside, the study has %d destinations", inside, r.Study.Fleet.Destinations)
	}
}

func TestSearchRefuses(t *testing.T) {
	for _, c := range []struct {
		from, to, want string
		precision      float64
	}{
		{"x", "x", "--precision 0: wanted between", 0},
		{"x", "x", "--precision NaN: wanted between", math.NaN()},
		{"  prompt:", "  arrivals: {name: closed, think_s: 1}\n  prompt:", "wanted offered loads", 0.1},
	} {
		r := prepare(t, strings.Replace(manyKeys, c.from, c.to, 1))
		if _, err := r.Capacity(context.Background(), c.precision, SearchOptions{Tally: &Tally{}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
		if _, err := r.FleetSize(context.Background(), 2, 3, c.precision, SearchOptions{Tally: &Tally{}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	r := prepare(t, manyKeys)
	if _, err := r.Capacity(stopped, 0.1, SearchOptions{Tally: &Tally{}}); err == nil || err.Error() != "interrupted; nothing was written" {
		t.Errorf("%v", err)
	}
}
