package sweep

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"cacheroute/results"
	"cacheroute/scenarios"
)

// large is a study of 100,000 cells: 2 policies, 10 loads, 5000 seeds.
func large() string {
	seeds := make([]string, 5000)
	for i := range seeds {
		seeds[i] = fmt.Sprint(i + 1)
	}
	return strings.NewReplacer("[20, 40]", "[10, 20, 30, 40, 50, 60, 70, 80, 90, 100]", "[1, 2]", "["+strings.Join(seeds, ", ")+"]").Replace(small)
}

// planned makes the plan of a study.
func planned(t testing.TB, dir, text string, b scenarios.Build) *Plan {
	t.Helper()
	study, err := scenarios.Parse("small.yaml", []byte(text), scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Make(dir, []scenarios.Variant{{Study: study}}, MakeOptions{Name: study.Name, Build: b})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// canned simulates nothing: a cell costs what a sweep adds to it.
func canned(t testing.TB) func(context.Context, *scenarios.Runner, scenarios.Cell, func(*results.Record)) (results.Cell, *results.Profile, error) {
	t.Helper()
	study, err := scenarios.Parse("small.yaml", []byte(small), scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := scenarios.Prepare(study, nil)
	if err != nil {
		t.Fatal(err)
	}
	cell, profile, err := r.Run(context.Background(), r.Cell(0), &scenarios.Tally{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(_ context.Context, r *scenarios.Runner, c scenarios.Cell, _ func(*results.Record)) (results.Cell, *results.Profile, error) {
		cell := cell
		cell.Policy, cell.LoadQPS, cell.Seed = c.Policy.Label, c.LoadQPS, c.Seed
		if r.Profiled(c) {
			return cell, profile, nil
		}
		return cell, nil, nil
	}
}

// BenchmarkSweep has the cost of 100,000 cells: what each adds to its
// simulation in 100 shards, and what plan, status and collect take.
func BenchmarkSweep(b *testing.B) {
	dir := b.TempDir()
	b.Run("plan", func(b *testing.B) {
		for b.Loop() {
			planned(b, dir, large(), scenarios.Build{})
		}
	})
	simulate := canned(b)
	const shards = 100
	b.Run("cell", func(b *testing.B) {
		ran := int64(0)
		for b.Loop() {
			for i := range shards {
				o := RunOptions{Shard: Shard{i, shards}, Workers: 1, RetryFailed: true, Tally: &scenarios.Tally{}}
				s, err := open(dir, &o)
				if err != nil {
					b.Fatal(err)
				}
				s.simulate = simulate
				if err := s.run(b.Context()); err != nil {
					b.Fatal(err)
				}
				ran += o.Tally.Done.Load()
			}
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/100_000/float64(b.N), "µs/cell")
		b.ReportMetric(float64(ran), "run")
	})
	for _, verify := range []bool{false, true} {
		b.Run(fmt.Sprintf("status/verify=%t", verify), func(b *testing.B) {
			for b.Loop() {
				s, err := StatusOf(dir, verify)
				if err != nil || s.Done != s.Cells {
					b.Fatalf("%+v, %v", s, err)
				}
			}
		})
	}
	b.Run("collect", func(b *testing.B) {
		for b.Loop() {
			err := Collect(dir, CollectOptions{Out: b.TempDir(), Note: b.Logf,
				Each: func(*scenarios.Runner, *results.Summary, string) error { return nil }})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
