package gate

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cacheroute/policies"
	"cacheroute/results"
	"cacheroute/scenarios"
)

// TestKnee: where all loads up to a limit pass, the knee is within a refined step
// below it, the same from wherever the search starts.
func TestKnee(t *testing.T) {
	l := newLadder([]float64{10, 300, 40})
	step := math.Pow(rungRatio, 1.0/(1<<halvings))
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Float64Range(1, 60_000).Draw(t, "limit")
		from := rapid.IntRange(-rungsBeneath, l.top+rungsBeyond).Draw(t, "from")
		passes := func(load float64) (bool, error) { return load <= limit, nil }
		k, err := l.find(from, passes)
		top, _ := l.find(l.top, passes)
		lowest, highest := l.load(-rungsBeneath), l.load(l.top+rungsBeyond)
		switch {
		case err != nil || k.load != top.load || k.most != top.most:
			t.Fatalf("%+v from rung %d, %+v from the top (%v)", k, from, top, err)
		case limit < lowest && k.load != 0, limit >= highest && !(k.most && k.load == highest):
			t.Fatalf("%+v for a limit of %v outside %v to %v", k, limit, lowest, highest)
		case limit >= lowest && limit < highest && !(k.load <= limit && limit < k.load*step*(1+1e-9)):
			t.Fatalf("%+v for a limit of %v", k, limit)
		}
	})
}

// TestKneeAboveColdCaches: the highest load that passes counts, though a lower one
// fails.
func TestKneeAboveColdCaches(t *testing.T) {
	l := newLadder([]float64{10, 80})
	k, err := l.find(l.top, func(load float64) (bool, error) { return load > 15 && load < 41, nil })
	if err != nil || k.load < 40 || k.load >= 41 {
		t.Errorf("%+v, %v, want just below 41", k, err)
	}
}

// TestGain has spreads whose intervals are known: over four values with deviations
// of ±d/2, half the interval is 3.182·d/2·√(4/3)/2 = 0.919 d.
func TestGain(t *testing.T) {
	for name, x := range map[string]struct {
		mean, spread float64 // of the gain
		want         Outcome
		more         bool
	}{
		"clear and large":           {0.20, 0.1, Win, false},
		"clear and below margin":    {0.03, 0.01, Tie, false},
		"nothing":                   {0, 0.01, Tie, false},
		"identical":                 {0, 0, Tie, false},
		"clear loss":                {-0.20, 0.1, Loss, false},
		"large but within interval": {0.20, 0.3, Open, true},
		"small and wide":            {0.01, 0.1, Open, true},
		"hopelessly wide":           {0.01, 10, Open, false},
	} {
		for _, better := range []float64{1, -1} {
			base := []float64{100, 100, 100, 100}
			var other []float64
			for i, b := range base {
				deviation := x.spread / 2
				if i%2 == 0 {
					deviation = -deviation
				}
				other = append(other, b+better*b*(x.mean+deviation))
			}
			g := newGain(base, other, better, 0.05)
			if g.Outcome != x.want || (g.More > 4) != x.more {
				t.Errorf("%s: %+v, want %s", name, g, x.want)
			}
			if half := float64(g.HalfWidth()); math.Abs(half-0.919*x.spread) > 1e-3*x.spread+1e-12 {
				t.Errorf("%s: half the interval is %v, want %v", name, half, 0.919*x.spread)
			}
		}
	}
	if g := newGain([]float64{1}, []float64{0.5}, -1, 0.05); g.Outcome != Open || g.More != fewestSeeds {
		t.Errorf("one replicate: %+v, want an open gain", g)
	}
}

// TestEvidence: a verdict needs five replicates and 100 requests in every run that
// it rests on; a knee of 0 has no run.
func TestEvidence(t *testing.T) {
	study := &scenarios.Study{Policies: []scenarios.Policy{{Label: "a"}, {Label: "b"}}}
	study.Measure.DurationS = 10
	for name, x := range map[string]struct {
		replicates  int
		runs, knees int64 // requests
		load        float64
		lacks       []string
		duration    string
	}{
		"enough":          {5, 100, 100, 7, nil, ""},
		"four replicates": {4, 250, 100, 7, []string{"4 of at least 5 replicates"}, ""},
		"small knee":      {5, 200, 99, 7, []string{"99 of at least 100 requests in the smallest run"}, "13"},
		"no knee":         {5, 200, 0, 0, nil, ""},
		"short runs":      {20, 50, 200, 7, []string{"50 of at least 100 requests in the smallest run"}, "25"},
		"nothing":         {1, 0, 0, 0, []string{"1 of at least 5 replicates", "0 of at least 100 requests in the smallest run"}, "1250"},
	} {
		g := &gate{runner: &scenarios.Runner{Study: study}, seeds: make([]uint64, x.replicates)}
		m := &measured{near: 9}
		for range g.seeds {
			m.knees[1] = append(m.knees[1], knee{load: x.load, requests: x.knees})
			for _, p := range study.Policies {
				m.cells = append(m.cells, results.Cell{Policy: p.Label, LoadQPS: m.near, Requests: x.runs})
			}
		}
		e := g.evidence(m, m.near)
		lacks := e.lacks()
		if len(lacks) != len(x.lacks) {
			t.Errorf("%s: %q, want %q", name, lacks, x.lacks)
			continue
		}
		for i, want := range x.lacks {
			if !strings.Contains(lacks[i], want) {
				t.Errorf("%s: %q, want %q", name, lacks[i], want)
			}
		}
		remedies := strings.Join(g.remedies(e), "; ")
		if want := "measure.duration_s=" + x.duration; strings.Contains(remedies, "duration_s") != (x.duration != "") || !strings.HasSuffix(remedies, x.duration) {
			t.Errorf("%s: %q, want %q", name, remedies, want)
		}
	}
}

// TestGainWords: a rise of over 300 % is said as a factor of the means.
func TestGainWords(t *testing.T) {
	for want, gain := range map[string][2]float64{
		"2.0 ± 1.0 % higher: a loss":         {-0.03, -0.01},
		"300.0 ± 0.0 % higher: a loss":       {-3, -3},
		"105.0 ± 27.5 times as high: a loss": {-104 - 27.5, -104 + 27.5},
		"99.0 ± 0.5 % lower: a win":          {0.985, 0.995},
		"10.0 ± 0.0 % lower: a win":          {0.1, 0.1},
	} {
		mean := results.Float((gain[0] + gain[1]) / 2)
		g := Gain{Interval: results.Interval{Mean: mean, Lo: results.Float(gain[0]), Hi: results.Float(gain[1])}, Outcome: Win}
		if mean < 0 {
			g.Outcome = Loss
		}
		if got := g.words("lower", "higher", 0.05); got != want {
			t.Errorf("%v: %s, want %s", gain, got, want)
		}
	}
}

// TestSkewDoubt has plans for four destinations.
func TestSkewDoubt(t *testing.T) {
	for name, x := range map[string]struct {
		busiest, balance, qcap float64
		replication            bool
		want                   []string // none: no doubt
	}{
		"even":                {0.25, 1.5, 0, true, nil},
		"one busy key":        {0.26, 1.04, 0, true, []string{"alone is 1.04 times", "policies.plan.q_cap_qps=N", "policies.plan.slots=N", "cacheroute qcap"}},
		"with copies":         {0.6, 1.5, 3, true, nil},
		"copies switched off": {0.6, 1.5, 3, false, []string{"alone is 2.4 times", "policies.plan.replication=true"}},
		"uneven with copies":  {0.6, 1.51, 3, true, []string{"fullest destination is 1.51 times", "a lower q_cap"}},
		"uneven small keys":   {0.2, 1.6, 0, true, []string{"fullest destination is 1.6 times", "q_cap_qps=N"}},
	} {
		rule := policies.NewCacheRoute()
		rule.QCap, rule.Replication = x.qcap, x.replication
		s := &scenarios.Study{Policies: []scenarios.Policy{{Label: "lb"}, {Label: "plan"}}}
		s.Policies[1].Spec, s.Fleet.Destinations = rule, 4
		g := &gate{runner: &scenarios.Runner{Study: s}}
		doubt := g.skewDoubt(&Plan{Busiest: x.busiest, Balance: x.balance})
		if (doubt == "") != (x.want == nil) {
			t.Errorf("%s: doubt %q", name, doubt)
		}
		for _, want := range x.want {
			if !strings.Contains(doubt, want) {
				t.Errorf("%s: %q does not say %q", name, doubt, want)
			}
		}
	}
}
