package policies

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// drifted is the top keys of the primary distribution and a function that
// takes lognormal steps of 0.3.
func drifted(keys int, rng *rand.Rand) (rates []float64, next func() []float64) {
	all := lognormalRates(128_824, rng)
	slices.Sort(all)
	rates = slices.Clone(all[len(all)-keys:])
	last := rates
	return rates, func() []float64 {
		last = slices.Clone(last)
		for b := range last {
			last[b] *= math.Exp(0.3 * rng.NormFloat64())
		}
		return last
	}
}

// installsOf runs a policy through five steps, a request in each interval.
func installsOf(t *testing.T, replan string, rates []float64, next func() []float64) (Planned, []Install) {
	t.Helper()
	spec := NewCacheRoute()
	spec.Replan, spec.Slots = replan, 9
	built, err := spec.Build(Env{
		Destinations: 30, KeyHashes: make([]uint64, len(rates)), Rates: rates, NextRates: next, Interval: 60 * clock.Second,
		Rand: rand.New(rand.NewPCG(1, 1)),
	})
	if err != nil {
		t.Fatal(err)
	}
	v := NewView(30, 0)
	for i := range 6 {
		v.Advance(clock.Time(i) * 60 * clock.Second)
		built.Route(&workload.Request{}, v)
	}
	replanned, ok := built.(Replanned)
	if !ok {
		return built.(Planned), nil
	}
	return built.(Planned), replanned.Installs()
}

// Over five steps of 0.3 from the top 128 keys, planning from scratch with ties
// by index moves about 95 % of the keys a step, and a plan of the rates before
// has a largest load of about 1.73 times the mean where a fresh one has 1.57:
// what an independent program found over 72 runs. The paper's Table 12 has
// 94.5 % of the keys.
func TestReplanOverFiveSteps(t *testing.T) {
	const seed, runs = 12, 60
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var moved, stale, fresh float64
	for range runs {
		rates, next := drifted(128, rng)
		_, installs := installsOf(t, "every", rates, next)
		if len(installs) != 5 {
			t.Fatalf("%d tables installed, want 5", len(installs))
		}
		for _, x := range installs {
			moved += float64(x.KeysMoved) / 128 / 5 / runs
			stale += x.ImbalanceStale / 5 / runs
			fresh += x.ImbalanceFresh / 5 / runs
			if math.Abs(x.Cache-float64(x.KeysMoved)/128) > 1e-12 || x.Count != 0 {
				t.Fatalf("with one destination a key, churn is the keys that moved: %+v", x)
			}
		}
	}
	t.Logf("moved %.3f of the keys, stale %.3f, fresh %.3f", moved, stale, fresh)
	for _, c := range []struct {
		what                 string
		got, want, tolerance float64
	}{{"keys moved", moved, 0.949, 0.01}, {"stale imbalance", stale, 1.73, 0.06}, {"fresh imbalance", fresh, 1.57, 0.06}} {
		if math.Abs(c.got-c.want) > c.tolerance {
			t.Errorf("%s: %.3f, want %.3f within %.2f", c.what, c.got, c.want, c.tolerance)
		}
	}
}

// What is installed: never nothing, every the plan of the interval's own rates,
// late that of the interval before, which is the first table again at first.
func TestReplanInstalls(t *testing.T) {
	steps := func() (rates []float64, next func() []float64) { return drifted(128, rand.New(rand.NewPCG(3, 3))) }
	var course [][]float64
	first, next := steps()
	course = append(course, first)
	for range 5 {
		course = append(course, next())
	}
	plan := func(rates []float64) Table {
		table, err := Plan(PlanInput{Rates: rates, Destinations: 30, Rule: *NewCacheRoute()})
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	for _, c := range []struct {
		replan   string
		installs int
		last     []float64
	}{{"never", 0, course[0]}, {"every", 5, course[5]}, {"late", 5, course[4]}} {
		rates, next := steps()
		p, installs := installsOf(t, c.replan, rates, next)
		want := plan(c.last)
		if len(installs) != c.installs || CompareTables(128, p.Table().Assigned, want.Assigned).Cache != 0 {
			t.Errorf("%s: %d tables installed, want %d; the last one is another", c.replan, len(installs), c.installs)
		}
		for i, x := range installs {
			old, now := plan(course[i]), plan(course[i+1])
			if c.replan == "late" {
				old, now = plan(course[max(0, i-1)]), plan(course[i])
			}
			if want := newInstall(clock.Time(i+1)*60*clock.Second, course[i+1], &old, &now); x != want {
				t.Errorf("%s: install %d is %+v, want %+v", c.replan, i, x, want)
			}
		}
	}
}

// A turn of the old sets does not outlast them.
func TestReplanInTurn(t *testing.T) {
	spec := NewCacheRoute()
	spec.QCap, spec.Dispatch, spec.Replan = 1, "rr", "every"
	p, err := spec.Build(Env{
		Destinations: 4, KeyHashes: make([]uint64, 1), Rates: []float64{4}, Rand: rand.New(rand.NewPCG(1, 1)),
		NextRates: func() []float64 { return []float64{2} }, Interval: clock.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	v := NewView(4, 0)
	seen := map[int]int{}
	for i := range 7 {
		v.Advance(clock.Time(i) * clock.Second / 3) // three requests with four destinations, then two
		seen[p.Route(&workload.Request{}, v)]++
	}
	if x := p.(Replanned).Installs(); len(x) != 2 || x[0].Count != 1 || x[0].TrafficMoved != 1 {
		t.Errorf("installs %+v", x)
	}
	if len(seen) != 3 {
		t.Errorf("destinations %v, want three in turn and two of them again", seen)
	}
}
