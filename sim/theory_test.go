package sim_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"cacheroute/engine"
	"cacheroute/policies"
	"cacheroute/results"
	"cacheroute/sim"
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// A destination with one place and answers of one token is a queueing server:
// the service time is the price of the prompt. Prompts are so long (1 ns a
// token, meanPrompt tokens) that whole tokens and the step's 1 ps do not show.
const (
	meanPrompt  = 100_000
	meanService = meanPrompt * clock.Nanosecond
)

func server() engine.Config {
	return engine.Config{BlockTokens: 1 << 12, Blocks: 1 << 16, MaxBatchedTokens: 1 << 24, MaxSeqs: 1, Cost: price(1, 0, 0, 1000, 0)}
}

func service(prompt int32) clock.Time { return 1 + clock.Time(prompt)*clock.Nanosecond }

// queue is n Poisson arrivals that bring rho times meanService of work each
// meanService, in prompts of exponential or constant length.
type queue struct {
	n, index         int
	at, gap          float64 // ps
	exponential      bool
	arrivals, length *rand.Rand
}

func newQueue(rho float64, exponential bool, n int, seed uint64) *queue {
	s := clock.Streams{Seed: seed}
	return &queue{
		n: n, gap: float64(meanService) / rho, exponential: exponential,
		arrivals: s.Rand("workload/arrivals"), length: s.Rand("workload/lengths"),
	}
}

func (q *queue) Next(r *workload.Request) bool {
	if q.index == q.n {
		return false
	}
	q.at += q.gap * q.arrivals.ExpFloat64()
	tokens := int32(meanPrompt)
	if q.exponential {
		tokens = 1 + int32(meanPrompt*q.length.ExpFloat64())
	}
	r.Reset()
	r.Index, r.At = int64(q.index), clock.Time(q.at)
	r.Append(0, workload.Turn, tokens)
	r.SetOutput(0, 1)
	q.index++
	return true
}

// batchMeans estimates the mean of a correlated sequence and its standard error
// from batches far longer than the correlation. A control, whose mean is known
// to be 0, takes out the part of a batch's error that comes from its realised
// load: about half of the variance.
type batchMeans struct {
	size, count int
	x, control  float64
	means       [][2]float64
}

func newBatchMeans(n int) *batchMeans { return &batchMeans{size: n / 40} }

func (b *batchMeans) add(x, control float64) {
	b.x += x
	b.control += control
	if b.count++; b.count == b.size {
		b.means = append(b.means, [2]float64{b.x / float64(b.size), b.control / float64(b.size)})
		b.count, b.x, b.control = 0, 0, 0
	}
}

func (b *batchMeans) estimate() (mean, stdErr float64) {
	k := float64(len(b.means))
	var mx, mc, xx, xc, cc float64
	for _, m := range b.means {
		mx, mc = mx+m[0]/k, mc+m[1]/k
	}
	for _, m := range b.means {
		x, c := m[0]-mx, m[1]-mc
		xx, xc, cc = xx+x*x, xc+x*c, cc+c*c
	}
	return mx - xc/cc*mc, math.Sqrt((xx - xc*xc/cc) / (k - 2) / k)
}

// within checks an estimate against theory, and that its own error is so small
// that the tolerance is more than three standard errors.
func within(t *testing.T, b *batchMeans, want, tolerance float64) {
	t.Helper()
	got, stdErr := b.estimate()
	t.Logf("%.4f, theory %.4f: off by %+.2f %%, standard error %.2f %%", got, want, 100*(got/want-1), 100*stdErr/want)
	if 3*stdErr > tolerance*want {
		t.Errorf("three standard errors exceed the tolerance of %.1f %%", 100*tolerance)
	}
	if math.Abs(got-want) > tolerance*want {
		t.Errorf("off by more than %.1f %%", 100*tolerance)
	}
}

// Mean waits of the single server, and Lindley's recursion request by request:
// the wait is what is left of the work of all before.
func TestSingleServerQueues(t *testing.T) {
	for _, c := range []struct {
		rho         float64
		exponential bool
		n           int
	}{
		{0.5, true, 600_000}, {0.8, true, 2_500_000}, {0.9, true, 7_000_000},
		{0.5, false, 350_000}, {0.8, false, 1_000_000}, {0.9, false, 4_000_000},
	} {
		// Pollaczek and Khinchine: rho/(1-rho) * (1+cv^2)/2 service times.
		name, want := "M/D/1", c.rho/(1-c.rho)/2
		if c.exponential {
			name, want = "M/M/1", c.rho/(1-c.rho)
		}
		t.Run(fmt.Sprintf("%s at %v", name, c.rho), func(t *testing.T) {
			const seed = 6
			t.Logf("seed %d, %d requests", seed, c.n)
			waits := newBatchMeans(c.n)
			var free, last clock.Time
			cfg := sim.Config{
				Destinations: 1, Engine: server(), Source: newQueue(c.rho, c.exponential, c.n, seed), Policy: byKey{},
				Collector: results.NewCollector(results.Window{}, 1, 1, 0), End: clock.Never,
			}
			cfg.Each = func(r *results.Record) {
				wait := max(0, free-r.Arrival)
				free = r.Arrival + wait + service(r.Prompt)
				if r.E2E != wait+service(r.Prompt) || r.TTFT != r.E2E {
					t.Fatalf("request %d is out after %v, should be after %v", r.Index, r.E2E, wait+service(r.Prompt))
				}
				work := service(r.Prompt) - clock.Time(c.rho*float64(r.Arrival-last))
				last = r.Arrival
				waits.add(float64(wait)/float64(meanService), float64(work)/float64(meanService))
			}
			if _, err := sim.Run(cfg); err != nil {
				t.Fatal(err)
			}
			within(t, waits, want, 0.02)
		})
	}
}

// Power of two choices on many destinations against its mean field, in service
// times: sum over i >= 1 of rho^(2^i-2) (Mitzenmacher 2001, for the fleet of
// infinite size). The same run shows Little's law: the requests in flight that
// arrivals see (Poisson arrivals see time averages) against rate by sojourn.
func TestPowerOfTwoChoicesAndLittle(t *testing.T) {
	for _, c := range []struct {
		rho float64
		n   int
	}{{0.7, 300_000}, {0.9, 800_000}} {
		t.Run(fmt.Sprintf("load %v", c.rho), func(t *testing.T) {
			const seed, destinations = 6, 200
			t.Logf("seed %d, %d requests", seed, c.n)
			policy, err := policies.Policies["flat-lb"]().Build(policies.Env{Destinations: destinations, Rand: clock.Streams{Seed: seed}.Rand("policy")})
			if err != nil {
				t.Fatal(err)
			}
			skip := int64(c.n / 10) // until the empty fleet has filled
			seen, measured, sojourn := 0.0, 0.0, 0.0
			var from, to clock.Time
			cfg := sim.Config{
				Destinations: destinations, Engine: server(), Source: newQueue(c.rho*destinations, true, c.n, seed),
				Collector: results.NewCollector(results.Window{}, 1, destinations, 0), End: clock.Never,
			}
			cfg.Policy = &nosy{route: func(r *workload.Request, v *policies.View) int {
				if r.Index == skip {
					from = v.Now
				}
				if r.Index >= skip {
					seen += float64(v.Total())
					measured++
					to = v.Now
				}
				return policy.Route(r, v)
			}}
			sojourns := newBatchMeans(c.n - int(skip))
			cfg.Each = func(r *results.Record) {
				if r.Index >= skip {
					sojourn += float64(r.E2E)
					sojourns.add(float64(r.E2E)/float64(meanService), float64(service(r.Prompt))/float64(meanService)-1)
				}
			}
			if _, err := sim.Run(cfg); err != nil {
				t.Fatal(err)
			}
			want := 0.0
			for i := 1; i < 10; i++ {
				want += math.Pow(c.rho, math.Exp2(float64(i))-2)
			}
			within(t, sojourns, want, 0.03)

			seen /= measured
			little := (measured - 1) / float64(to-from) * sojourn / measured
			t.Logf("in flight: %.2f seen by arrivals, %.2f by Little's law", seen, little)
			if off := seen/little - 1; math.Abs(off) > 0.001 {
				t.Errorf("Little's law is off by %.2f %%", 100*off)
			}
		})
	}
}
