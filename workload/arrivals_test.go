package workload

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"cacheroute/sim/clock"
)

// start begins the arrivals of a spec with a fixed seed.
func start(t *testing.T, s ArrivalSpec, qps float64) Arrivals {
	t.Helper()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	p, err := s.Build()
	if err != nil {
		t.Fatal(err)
	}
	return p.Start(qps, clock.Streams{Seed: 1}.Rand("workload/arrivals"))
}

// drawGaps returns gaps in seconds, at most n.
func drawGaps(a Arrivals, n int) (gaps []float64) {
	for range n {
		gap, ok := a.Next()
		if !ok {
			break
		}
		gaps = append(gaps, gap.Seconds())
	}
	return gaps
}

func meanAndCV(x []float64) (mean, cv float64) {
	var squares float64
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		squares += (v - mean) * (v - mean) / float64(len(x))
	}
	return mean, math.Sqrt(squares) / mean
}

func TestEveryArrivalSpecHasTheAskedRateAndCV(t *testing.T) {
	const n, qps = 400000, 37.0
	for name, build := range ArrivalSpecs {
		s := build()
		switch s := s.(type) {
		case *BootstrapArrivals:
			wantError(t, s.Check(), "file: ")
			s.File = write(t, "gaps", gapFile)
		case *StagedArrivals:
			wantError(t, s.Check(), "stages: ")
			s.Stages = []Stage{{2, 100}, {0, 50}, {6, 10000}}
		}
		if s.About() == "" {
			t.Errorf("%s says nothing about itself", name)
		}
		if _, closed := s.(*ClosedArrivals); closed {
			continue // has no rate of its own, see TestClientsSendInOrder
		}
		gaps := drawGaps(start(t, s, qps), n)[1:] // the first gap is from the start of the run
		mean, cv := meanAndCV(gaps)
		near(t, name+": mean gap", mean*qps, 1, 0.015)
		p, _ := s.Build()
		if want := p.GapCV(); !math.IsNaN(want) {
			near(t, name+": CV", cv, want, 0.03*want+1e-6)
		}
	}
}

var gapFile = strings.Repeat("0.5\n0.1\n\n0\n2.5\r\n1e-3\n", 40)

func TestGammaFollowsItsDistribution(t *testing.T) {
	for _, cv := range []float64{0.2, 0.5, 1, 1.9, 4} {
		const n = 100000
		gaps := drawGaps(start(t, &GammaArrivals{CV: cv}, 1), n)
		sort.Float64s(gaps)
		shape := 1 / cv / cv
		dist := distuv.Gamma{Alpha: shape, Beta: shape}
		var d float64 // Kolmogorov-Smirnov distance
		for i, x := range gaps {
			p := dist.CDF(x)
			d = max(d, p-float64(i)/n, float64(i+1)/n-p)
		}
		// Gaps below a picosecond are rounded to 0 at high CV.
		if atZero := dist.CDF(0.5e-12); d > 1.95/math.Sqrt(n)+atZero {
			t.Errorf("cv %v: distance %v from the gamma distribution", cv, d)
		}
	}
}

func TestConstantArrivalsDoNotDrift(t *testing.T) {
	a := start(t, ConstantArrivals{}, 30)
	var at clock.Time
	for i := range 300000 {
		gap, _ := a.Next()
		at += gap
		want := (clock.Time(2*i+1)*clock.Second + 30) / 60
		if d := at - want; d < -1 || d > 1 {
			t.Fatalf("request %d comes %d ps off", i, d)
		}
	}
}

func TestBootstrapReplaysBlocks(t *testing.T) {
	path := write(t, "gaps", "1\n2\n3\n4\n5\n6\n7\n")
	p, err := (&BootstrapArrivals{File: path, BlockLength: 3}).Build()
	if err != nil {
		t.Fatal(err)
	}
	gaps := drawGaps(p.Start(1, clock.Streams{Seed: 3}.Rand("x")), 3000)
	starts := map[int]int{}
	for i := 0; i < len(gaps); i += 3 {
		first := gaps[i] * 4 // the mean of the file
		starts[int(first+0.5)]++
		near(t, "second gap of a block", gaps[i+1]*4, first+1, 1e-6)
		near(t, "third gap of a block", gaps[i+2]*4, first+2, 1e-6)
	}
	for s := 1; s <= 5; s++ {
		near(t, "blocks from each place", float64(starts[s]), 200, 60)
	}
	if len(starts) != 5 {
		t.Errorf("blocks start at %v", starts)
	}
}

// The mean over all blocks is the offered load although the ends of the file
// are in fewer blocks.
func TestBootstrapMeanIsExact(t *testing.T) {
	gaps := []float64{100, 1, 2, 3, 50, 7}
	const block = 4
	p, err := newBootstrap("", gaps, block)
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for from := 0; from+block <= len(gaps); from++ {
		for _, g := range p.gaps[from : from+block] {
			sum += g
		}
	}
	near(t, "mean over all blocks", sum/(3*block), 1, 1e-12)
}

func TestStagesHaveTheirRates(t *testing.T) {
	for _, spacing := range []string{"constant", "poisson"} {
		s := &StagedArrivals{Stages: []Stage{{9, 300}, {3, 2100}, {0, 10}, {20, 500}}, Spacing: spacing}
		// Twice the mean of the stages doubles each stage.
		a := start(t, s, 2*(2700+6300+10000)/2910.0)
		counts := make([]float64, 4)
		at := 0.0
		for _, gap := range drawGaps(a, 1e6) {
			at += gap
			for i, until := range []float64{300, 2400, 2410, 2910} {
				if at <= until {
					counts[i]++
					break
				}
			}
		}
		for i, want := range []float64{5400, 12600, 0, 20000} {
			tolerance := 0.0
			if spacing == "poisson" {
				tolerance = 5 * math.Sqrt(want)
			}
			near(t, spacing+" requests in a stage", counts[i], want, tolerance)
		}
		if at > 2910 {
			t.Errorf("a request at %v s, after the last stage", at)
		}
	}
}

// Between two stages nothing arrives, and a course that is opened at its own mean
// rate has the rates that it says.
func TestStagesPause(t *testing.T) {
	s := &StagedArrivals{Stages: []Stage{{4, 2.5}, {0, 1}, {2, 2}}, Spacing: "constant", PauseS: 100}
	if s.QPS() != 14/205.5 || s.Requests() != 14 || !slices.Equal(s.Starts(), []float64{0, 102.5, 203.5}) {
		t.Errorf("%v requests/s, %v requests, starts at %v", s.QPS(), s.Requests(), s.Starts())
	}
	var at []float64
	now := 0.0
	for _, gap := range drawGaps(start(t, s, s.QPS()), 100) {
		now += gap
		at = append(at, math.Round(1e9*now)/1e9)
	}
	want := []float64{0.125, 0.375, 0.625, 0.875, 1.125, 1.375, 1.625, 1.875, 2.125, 2.375, 203.75, 204.25, 204.75, 205.25}
	if !slices.Equal(at, want) {
		t.Errorf("arrivals at %v, wanted %v", at, want)
	}
}

func TestArrivalErrors(t *testing.T) {
	nan := math.NaN()
	for want, s := range map[string]ArrivalSpec{
		"cv: ":                  &GammaArrivals{CV: nan},
		"block_length: ":        &BootstrapArrivals{File: "x"},
		"spacing: ":             &StagedArrivals{Stages: []Stage{{1, 1}}},
		"stages[1].qps: ":       &StagedArrivals{Stages: []Stage{{1, 1}, {-1, 1}}, Spacing: "poisson"},
		"stages[0].duration_s:": &StagedArrivals{Stages: []Stage{{1, nan}}, Spacing: "poisson"},
		"stages: ":              &StagedArrivals{Stages: []Stage{{0, 1}}, Spacing: "poisson"},
		"pause_s: ":             &StagedArrivals{Stages: []Stage{{1, 1}}, Spacing: "poisson", PauseS: nan},
	} {
		wantError(t, s.Check(), want)
	}
	for want, text := range map[string]string{
		":2: read \"-1\"": "1\n-1\n", ":1: read \"NaN\"": "NaN\n", ":3: read \"x\"": "1\n\nx",
		"read 2 gaps": "1\n2\n", "all gaps are 0": "0\n0\n0\n",
	} {
		path := write(t, "gaps", text)
		_, err := (&BootstrapArrivals{File: path, BlockLength: 3}).Build()
		wantError(t, err, path, want)
	}
	_, err := (&BootstrapArrivals{File: os.TempDir(), BlockLength: 3}).Build()
	wantError(t, err, "is a directory")
}

// Clients send in the order in which they get free and have thought, ties in
// the order of their answers; as many as the load says, one at least.
func TestClientsSendInOrder(t *testing.T) {
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	for _, think := range []string{"constant", "exponential"} {
		a := &ClosedArrivals{ThinkS: 1e-9, Think: think}
		if got := len(a.Start(0.2, rng).(*clients).ready); got != 1 {
			t.Errorf("a load of 0.2 has %d clients", got)
		}
		c := a.Start(5, rng).(*clients)
		now := clock.Time(0)
		for range 5 {
			if c.nextAt() != 0 {
				t.Errorf("a client begins at %v", c.nextAt())
			}
			c.send()
		}
		if c.nextAt() != clock.Never {
			t.Errorf("with all clients waiting the next request comes at %v", c.nextAt())
		}
		var sent []clock.Time
		for range 2000 {
			now += clock.Time(rng.IntN(300))
			c.free(now)
			for rng.IntN(3) == 0 && c.nextAt() != clock.Never {
				now = max(now, c.nextAt()) // answers come later than what has been sent
				sent = append(sent, c.send())
			}
		}
		if len(sent) < 500 || !slices.IsSorted(sent) {
			t.Errorf("%s: %d requests, not in order of time", think, len(sent))
		}
	}
}
