package policies

import (
	"math/rand/v2"
	"testing"

	"cacheroute/workload"
)

// report is a fleet that reports what it is given.
type report struct {
	signals []Signal
	cached  []int
}

func (f report) Signal(i int) Signal { return f.signals[i] }

func (f report) Cached(_ *workload.Request, i int) int { return f.cached[i] }

// TestScores works the weighted sums of llm-d's scorers out by hand.
func TestScores(t *testing.T) {
	r := &workload.Request{}
	r.Append(1, workload.Context, 1000)
	idle, full := Signal{}, Signal{Running: 9, KVUsage: 0.9}
	queued := Signal{Waiting: 4, Running: 9, KVUsage: 0.5}
	longer := Signal{Waiting: 8, Running: 9, KVUsage: 0.5}
	for _, c := range []struct {
		what    string
		spec    Spec
		signals []Signal
		cached  []int
		want    []float64 // how often
	}{
		{"all alike", &LeastLoaded{2, 2}, []Signal{idle, idle, idle}, nil, []float64{1. / 3, 1. / 3, 1. / 3}},
		{"no queue, so KV decides", &LeastLoaded{2, 2}, []Signal{full, idle, full}, nil, []float64{0, 1, 0}},
		// queue 1, 0.5, 0; KV 0.1, 0.5, 0.5
		{"queue and KV, equal weights", &LeastLoaded{1, 1}, []Signal{full, queued, longer}, nil, []float64{1, 0, 0}},
		{"queue and KV, KV first", &LeastLoaded{1, 2}, []Signal{full, queued, longer}, nil, []float64{0, 1, 0}},
		{"KV alone, a tie", &LeastLoaded{0, 1}, []Signal{full, queued, longer}, nil, []float64{0, 0.5, 0.5}},
		// prefix 2 x 0.9 beats KV 1 x 0.9 against 0.1
		{"cache against load", &LLMDPrecise{1, 1, 2}, []Signal{full, idle}, []int{900, 0}, []float64{1, 0}},
		{"cache against load and queue", &LLMDPrecise{1, 1, 2}, []Signal{longer, idle}, []int{300, 0}, []float64{0, 1}},
	} {
		policy, err := c.spec.Build(Env{Destinations: len(c.signals), Rand: rand.New(rand.NewPCG(1, 2))})
		if err != nil {
			t.Fatal(err)
		}
		v := NewView(len(c.signals), 0)
		v.Observe(report{c.signals, c.cached})
		t.Run(c.what, func(t *testing.T) {
			checkFrequencies(t, c.want, func() int { return policy.Route(r, v) })
		})
	}
}

// TestLLMDComesBack: a prompt returns to where its beginning went, past the
// blocks that count, until the load there outweighs it.
func TestLLMDComesBack(t *testing.T) {
	policy, err := newLLMD().Build(Env{Destinations: 2, Rand: rand.New(rand.NewPCG(1, 2))})
	if err != nil {
		t.Fatal(err)
	}
	f := report{signals: make([]Signal, 2)}
	v := NewView(2, 0)
	v.Observe(f)
	ask := func(context, turn uint64) int {
		r := &workload.Request{}
		r.Append(context, workload.Context, 8000)
		r.Append(turn, workload.Turn, 1000)
		return policy.Route(r, v)
	}
	home := ask(1, 2)
	f.signals[home] = Signal{Waiting: 3, KVUsage: 0.4} // 3 against 2 + 2 x 0.4
	for turn := range uint64(50) {
		if d := ask(1, 10+turn); d != home {
			t.Fatalf("turn %d went to %d, the first to %d", turn, d, home)
		}
	}
	f.signals[home].KVUsage = 0.6 // 3 against 2 + 2 x 0.6
	if d := ask(1, 3); d == home {
		t.Error("stayed with a busy destination")
	}
	f.signals[home] = Signal{}
	checkFrequencies(t, []float64{0.5, 0.5}, func() int { return ask(1, 4) }) // both remember it
}
