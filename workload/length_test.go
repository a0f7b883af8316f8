package workload

import (
	"fmt"
	"math"
	"testing"

	"go.yaml.in/yaml/v4"
)

func TestEveryLengthHasItsMean(t *testing.T) {
	file := write(t, "lengths", "10\n20\r\n\n600")
	for name, build := range Lengths {
		d := build()
		switch d := d.(type) {
		case *ConstantLength:
			d.Tokens = 7
		case *LognormalLength:
			wantError(t, d.Check(), "mean: ")
			d.Mean, d.Sigma = 190, 0.75
		case *UniformLength:
			wantError(t, d.Check(), "min: ")
			d.Min, d.Max = 5, 9
		case *EmpiricalLength:
			wantError(t, d.Check(), "file: ")
			d.File = file
		}
		if err := d.Check(); err != nil || d.About() == "" {
			t.Errorf("%s: about %q, %v", name, d.About(), err)
		}
		b, err := d.Build()
		if err != nil {
			t.Fatal(err)
		}
		rng := newDraw().at(4, 5)
		var sum float64
		const n = 1e6
		for range int(n) {
			sum += float64(b.Draw(rng))
		}
		near(t, name, sum/n, b.Mean(), 0.01*b.Mean())
	}
}

func TestLognormalIsClampedAfterTheMeanIsSet(t *testing.T) {
	b, err := (&LognormalLength{Mean: 100, Sigma: 2, Min: 50, Max: 120}).Build()
	if err != nil {
		t.Fatal(err)
	}
	rng := newDraw().at(1, 1)
	var below, above float64
	const n = 200000
	for range n {
		switch x := b.Draw(rng); {
		case x < 50 || x > 120:
			t.Fatalf("drew %d", x)
		case x == 50:
			below++
		case x == 120:
			above++
		}
	}
	mu := math.Log(100) - 2
	phi := func(x float64) float64 { return math.Erfc(-(math.Log(x)-mu)/2/math.Sqrt2) / 2 }
	near(t, "at the minimum", below/n, phi(50.5), 0.005)
	near(t, "at the maximum", above/n, 1-phi(119.5), 0.005)
	near(t, "mean as asked", b.Mean(), 100, 0)
}

func TestWeightedValues(t *testing.T) {
	d := &EmpiricalLength{Values: []int{10, 30}, Weights: []float64{3, 1}}
	b, err := d.Build()
	if err != nil || d.Check() != nil {
		t.Fatal(err, d.Check())
	}
	near(t, "mean", b.Mean(), 15, 1e-12)
	rng := newDraw().at(1, 1)
	counts := map[int32]float64{}
	for range 100000 {
		counts[b.Draw(rng)]++
	}
	near(t, "first value", counts[10], 75000, 700)
	near(t, "second value", counts[30], 25000, 700)
}

func TestLengthErrors(t *testing.T) {
	for want, d := range map[string]LengthDist{
		"x.tokens: ":  &ConstantLength{Tokens: -1},
		"x.mean: ":    &LognormalLength{Mean: math.Inf(1)},
		"x.sigma: ":   &LognormalLength{Mean: 5, Sigma: math.NaN()},
		"x.max: ":     &LognormalLength{Mean: 5, Min: 9, Max: 8},
		"x.min: ":     &UniformLength{Max: 8},
		"x.weights: ": &EmpiricalLength{Values: []int{1}, Weights: []float64{0}},
		"x.values: ":  &EmpiricalLength{Values: []int{0}},
		"x.file: ":    &EmpiricalLength{Values: []int{1}, File: "y"},
	} {
		wantError(t, Length{d}.check("x", 0), want)
	}
	wantError(t, Tokens(0).check("x", 1), "x: must be at least 1")
	wantError(t, Length{}.check("x", 1), "x: must be at least 1")
	if err := (Length{}).check("x", 0); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"0\n", "1.5\n", "-3\n", "12345678901234567890\n", "\n"} {
		path := write(t, "lengths", text)
		_, err := readLengths(path)
		wantError(t, err, path, "wanted")
	}
}

func TestLengthInYAML(t *testing.T) {
	type study struct {
		A Length `yaml:"a"`
	}
	for _, c := range []struct{ text, want, err string }{
		{"a: 5", "&{constant 5}", ""},
		{"a: {name: lognormal, mean: 190, sigma: 0.75}", "&{lognormal 190 0.75 0 0}", ""},
		{"a: {name: empirical, values: [1, 2]}", "&{empirical  [1 2] []}", ""},
		{"\na: {name: lognormal, men: 3}", "", "line 2: field men not found"},
		{"a: 5.5", "", "wanted a whole number"},
		{"a: [5]", "", "wanted a whole number"},
		{"a: {name: foo}", "", "read \"foo\", wanted one of constant, empirical, lognormal, uniform"},
	} {
		var s study
		err := yaml.Load([]byte(c.text), &s, yaml.WithKnownFields())
		if c.err != "" {
			wantError(t, err, c.err)
			continue
		}
		if got := fmt.Sprint(s.A.Dist); err != nil || got != c.want {
			t.Errorf("%s: read %s, %v", c.text, got, err)
		}
		out, err := yaml.Marshal(s)
		var again study
		if err == nil {
			err = yaml.Load(out, &again, yaml.WithKnownFields())
		}
		if got := fmt.Sprint(again.A.Dist); err != nil || got != c.want {
			t.Errorf("%s: written and read again %s, %v", c.text, got, err)
		}
	}
}
