package results

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// same is equality under which undefined equals undefined.
func same(a, b Float) bool {
	return a == b || math.IsNaN(float64(a)) && math.IsNaN(float64(b))
}

// ended is a completed request that found half of its prompt in the cache.
func ended(at, ttft, e2e clock.Time, destination int32) Record {
	r := Record{Arrival: at, TTFT: ttft, E2E: e2e, Destination: destination, Prompt: 100, Output: 11, Emitted: 11, Admitted: true}
	r.Hit[workload.Template], r.Hit[workload.Context] = 30, 20
	return r
}

func tell(c *Collector, key int32, rec Record) {
	c.Arrived(&workload.Request{At: rec.Arrival, Key: key, PromptTokens: rec.Prompt, OutputTokens: rec.Output})
	c.Add(&rec)
}

func TestCellByHand(t *testing.T) {
	const s = clock.Second
	c := NewCollector(Window{10 * s, 20 * s}, 4, 2, 0)
	tell(c, 0, ended(5*s, 1*s, 2*s, 0))  // warm-up
	tell(c, 0, ended(10*s, 1*s, 3*s, 0)) // TPOT 0.2 s
	tell(c, 0, ended(12*s, 2*s, 7*s, 0)) // TPOT 0.5 s
	tell(c, 1, ended(14*s, 3*s, 3*s, 1)) // TPOT 0
	tell(c, 0, Record{Arrival: 16 * s, Destination: 0, Prompt: 700, Output: 5, Status: RefusedPrompt})
	late := ended(18*s, 1*s, 9*s, 0) // had its first token when the client gave up
	late.Status, late.Emitted, late.Preemptions, late.Hit[workload.Context] = TimedOut, 4, 2, 40
	tell(c, 2, late)
	one := ended(19*s, 4*s, 4*s, 1)
	one.Output, one.Emitted = 1, 1
	tell(c, 0, one)
	tell(c, 3, ended(20*s, 1*s, 1*s, 0)) // after the window
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	cell := c.Cell(FleetTotals{End: 40 * s, Busy: []clock.Time{10 * s, 30 * s}, Requests: 8, Preemptions: 5})
	for _, f := range []struct {
		name      string
		got, want Float
	}{
		{"window", cell.WindowS, 10},
		{"ttft p50", cell.TTFTP50, 3}, // of 1 2 3 4 inf inf
		{"ttft p90", cell.TTFTP90, infinite},
		{"ttft p99 completed", cell.TTFTP99Completed, 4},
		{"ttft mean", cell.TTFTMean, 2.5},
		{"e2e p50", cell.E2EP50, 4}, // of 3 3 4 7 inf inf
		{"tpot p50", cell.TPOTP50, 0.2},
		{"tpot p99", cell.TPOTP99, 0.5},
		{"kv hit", cell.KVHit, 270. / 500},
		{"kv hit, template", cell.KVHitTemplate, 150. / 500},
		{"kv hit, context", cell.KVHitContext, 120. / 500},
		{"kv hit, turn", cell.KVHitTurn, 0},
		{"imbalance", cell.Imbalance, 4. / 3},
		{"failure rate", cell.FailureRate, 2. / 6},
		{"throughput", cell.ThroughputQPS, 0.4},
		{"tokens", cell.OutputTokensPer, 3.4},
		{"rate", cell.RealisedQPS, 0.6},
		{"prompt", cell.RealisedPromptTokens, 1200. / 6},
		{"output", cell.RealisedOutputTokens, 50. / 6},
		{"gini", cell.RealisedGini, 0.5}, // of 0 1 1 4: (-3*0 - 1*1 + 1*1 + 3*4) / (4*6)
		{"utilisation", cell.RunUtilisation, 0.5},
	} {
		if !same(f.got, f.want) {
			t.Errorf("%s = %v, want %v", f.name, f.got, f.want)
		}
	}
	counts := fmt.Sprint(cell.Requests, cell.Completed, cell.RefusedPrompt, cell.RefusedGrowth, cell.TimedOut,
		cell.Unfinished, cell.Preemptions, cell.RunPreemptions, cell.RunRequests)
	if want := "6 4 1 0 1 0 2 5 8"; counts != want {
		t.Errorf("counts = %s, want %s", counts, want)
	}
	if want := []string{"fewer than 100 requests: p99 is the maximum"}; !slices.Equal(cell.Warnings, want) {
		t.Errorf("warnings = %q, want %q", cell.Warnings, want)
	}
}

// A queue of a second between arrival and first token moves the window of what
// is served by that second.
func TestHitsServed(t *testing.T) {
	const s = clock.Second
	for served, want := range map[bool]Float{false: 150. / 400, true: 90. / 200} {
		c := NewCollector(Window{10 * s, 20 * s}, 1, 2, 0)
		c.ByDestination()
		if served {
			c.HitsServed()
		}
		before, within, at, after := ended(9*s, 1*s, 2*s, 0), ended(12*s, 1*s, 2*s, 1), ended(19*s, 1*s, 2*s, 1), ended(19*s, 3*s, 4*s, 0)
		before.Hit[workload.Context] = 10 // 40 of 100 tokens; the others 50
		at.Hit[workload.Context], after.Hit[workload.Template] = 0, 0
		silent := ended(15*s, 0, 9*s, 0) // the client gave up before its first token
		silent.Status, silent.Emitted = TimedOut, 0
		for _, rec := range []Record{before, within, at, after, silent} {
			tell(c, 0, rec)
		}
		if got := c.Cell(FleetTotals{End: 30 * s, Busy: []clock.Time{s, s}}).KVHit; !same(got, want) {
			t.Errorf("served %v: kv hit %v, want %v", served, got, want)
		}
	}
}

func TestEmptyWindow(t *testing.T) {
	cell := NewCollector(Window{0, clock.Second}, 3, 2, 5).Cell(FleetTotals{})
	for i, f := range []Float{cell.TTFTP99, cell.TTFTMean, cell.TPOTP50, cell.KVHit, cell.Imbalance, cell.FailureRate,
		cell.RealisedGapCV, cell.RealisedGini, cell.RunUtilisation} {
		if !math.IsNaN(float64(f)) {
			t.Errorf("figure %d of no request = %v, want undefined", i, f)
		}
	}
	if want := []string{"no request in the measured window"}; !slices.Equal(cell.Warnings, want) {
		t.Errorf("warnings = %q, want %q", cell.Warnings, want)
	}
	if cell.Passes(100, 1) {
		t.Error("a window without requests passes")
	}
}

func TestOpenWindowEndsWithItsLastArrival(t *testing.T) {
	c := NewCollector(Window{clock.Second, clock.Never}, 1, 1, 5)
	for i := range 5 {
		tell(c, 0, ended(clock.Time(i)*2*clock.Second, 1, 2, 0))
	}
	if cell := c.Cell(FleetTotals{}); cell.WindowS != 7 || cell.ThroughputQPS != 4./7 {
		t.Errorf("window %v s, throughput %v", cell.WindowS, cell.ThroughputQPS)
	}
}

// Rates until drained count the time in which the window's requests were served,
// those that arrived before or after it aside.
func TestRatesUntilDrained(t *testing.T) {
	const s = clock.Second
	c := NewCollector(Window{10 * s, 20 * s}, 1, 1, 5)
	c.UntilDrained()
	for _, at := range []clock.Time{5, 10, 19, 20} {
		tell(c, 0, ended(at*s, s, 2*s, 0))
	}
	cell := c.Cell(FleetTotals{})
	if cell.WindowS != 10 || cell.RealisedQPS != 0.2 {
		t.Errorf("window %v s with %v requests/s, wanted the window's own", cell.WindowS, cell.RealisedQPS)
	}
	if cell.ThroughputQPS != 2./11 || cell.OutputTokensPer != 22./11 {
		t.Errorf("%v requests/s and %v tokens/s, wanted 2 of 11 tokens until the second ended", cell.ThroughputQPS, cell.OutputTokensPer)
	}
}

func TestCheckFindsLostAndTwiceCounted(t *testing.T) {
	w := Window{0, 10}
	for name, c := range map[string]struct {
		want string
		tell func(*Collector)
	}{
		"lost in warm-up": {"1 requests arrived, 0 ended", func(c *Collector) { c.Arrived(&workload.Request{At: 20}) }},
		"counted in another's place": {"arrived in the measured window", func(c *Collector) {
			c.Arrived(&workload.Request{At: 20})
			rec := ended(5, 1, 2, 0)
			c.Add(&rec)
		}},
		"complete without its tokens": {"contradict", func(c *Collector) {
			rec := ended(5, 1, 2, 0)
			rec.Emitted--
			tell(c, 0, rec)
		}},
		"more hits than prompt": {"contradict", func(c *Collector) {
			rec := ended(5, 1, 2, 0)
			rec.Hit[workload.Turn] = 51
			tell(c, 0, rec)
		}},
	} {
		collector := NewCollector(w, 1, 1, 1)
		c.tell(collector)
		if err := collector.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestGapsOfKnownProcesses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name    string
		gap     func() float64
		cv, tol float64
	}{
		{"equal", func() float64 { return 0.01 }, 0, 0},
		{"poisson", rng.ExpFloat64, 1, 0.01},
		{"uniform", rng.Float64, 1 / math.Sqrt(3), 0.01},
	} {
		var g gaps
		at := clock.Time(0)
		for range 100_000 {
			at += clock.FromSeconds(c.gap())
			g.add(at)
		}
		if got := float64(g.cv()); !(math.Abs(got-c.cv) <= c.tol) {
			t.Errorf("%s: CV = %v, want %v", c.name, got, c.cv)
		}
	}
}

func TestGiniAgainstPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	counts := make([]uint32, 60)
	var sum, pairs float64
	for i := range counts {
		counts[i] = uint32(rng.ExpFloat64() * 5)
		sum += float64(counts[i])
	}
	for _, a := range counts {
		for _, b := range counts {
			pairs += math.Abs(float64(a) - float64(b))
		}
	}
	want := pairs / (2 * float64(len(counts)) * sum) // mean difference over twice the mean
	if got := float64(gini(counts)); math.Abs(got-want) > 1e-12 {
		t.Errorf("gini = %v, want %v", got, want)
	}
}

// A steady state allocates nothing.
func TestCollectorDoesNotAllocate(t *testing.T) {
	c := NewCollector(Window{0, clock.Never}, 1, 1, 2000)
	rec := ended(5, 1, 2, 0)
	if n := testing.AllocsPerRun(1000, func() { tell(c, 0, rec) }); n != 0 {
		t.Errorf("%v allocations a request", n)
	}
}

func benchmarkCollector(b *testing.B, n int) {
	rng := rand.New(rand.NewPCG(5, 6))
	requests, records := make([]workload.Request, n), make([]Record, n)
	at := clock.Time(0)
	for i := range records {
		at += clock.FromSeconds(rng.ExpFloat64() / 100)
		ttft := clock.FromSeconds(0.2 * math.Exp(rng.NormFloat64()))
		records[i] = ended(at, ttft, ttft+clock.FromSeconds(2*rng.Float64()), int32(rng.IntN(30)))
		requests[i] = workload.Request{At: at, Key: int32(rng.IntN(128)), PromptTokens: 100, OutputTokens: 11}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		c := NewCollector(Window{0, at}, 128, 30, n)
		for i := range records {
			c.Arrived(&requests[i])
			c.Add(&records[i])
		}
		if cell := c.Cell(FleetTotals{}); cell.Completed == 0 {
			b.Fatal("nothing completed")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/request")
}

func BenchmarkCollector10k(b *testing.B) { benchmarkCollector(b, 10_000) }
func BenchmarkCollector1M(b *testing.B)  { benchmarkCollector(b, 1_000_000) }
