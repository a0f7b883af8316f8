package sim_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cacheroute/engine"
	"cacheroute/policies"
	"cacheroute/results"
	"cacheroute/sim"
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// Without load a request costs its own steps and nothing else: TTFT is the
// price of the prefill's chunks beyond the cached prefix, then each token is a
// step.
func TestZeroLoadIsThePriceAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, most int) int64 { return int64(rapid.IntRange(0, most).Draw(t, name)) }
		base, sequence, context := 1+draw("base", 99), draw("sequence", 9), draw("context", 3)
		prefill, attention := draw("prefill", 9), 2*draw("attention", 2)
		block, budget := 1+draw("block", 20), 8+draw("budget", 100)
		overhead := clock.Time(draw("overhead", 500))
		shared := draw("shared prefix", 200)
		var requests []workload.Request
		for i := range 1 + draw("requests", 4) {
			r := workload.Request{At: clock.Time(i) * clock.Second}
			r.Append(1, workload.Template, int32(shared))
			r.Append(0, workload.Turn, int32(1+draw("turn", 200)))
			r.SetOutput(0, int32(1+draw("answer", 50)))
			requests = append(requests, r)
		}
		h := replay(t, sim.Config{
			Engine: engine.Config{BlockTokens: int(block), Blocks: 10000, MaxBatchedTokens: int(budget), MaxSeqs: 8,
				Cost: price(float64(base), float64(sequence), float64(context), float64(prefill), float64(attention))},
			Source: &script{requests: numbered(requests...)}, TTFTOverhead: overhead,
		})
		for i, r := range h.records {
			cached := int64(0)
			if i > 0 {
				cached = shared / block * block
			}
			want := int64(0)
			for left := int64(r.Prompt) - cached; left > 0; left -= budget {
				done, chunk := int64(r.Prompt)-left, min(left, budget)
				want += base + prefill*chunk + attention*chunk*(2*done+chunk)/2
			}
			if got := int64(r.TTFT - overhead); got != want || int64(r.Hit[workload.Template]) != cached {
				t.Fatalf("request %d: TTFT %d with %d cached, the prefill costs %d with %d", i, got, r.Hit[workload.Template], want, cached)
			}
			want = 0
			for step := range int64(r.Output - 1) {
				want += base + sequence + context*(int64(r.Prompt)+step)
			}
			if got := int64(r.E2E - r.TTFT); got != want {
				t.Fatalf("request %d: %d from first to last token, the steps cost %d", i, got, want)
			}
		}
	})
}

// Prompt 5 and 4 tokens on the lone destination: first token after 15 ps, then
// one each 10 ps, the last at 45 ps.
func TestDeadlineIsInclusive(t *testing.T) {
	for _, c := range []struct {
		deadline, overhead clock.Time
		want               results.Record
	}{
		{45, 0, results.Record{Status: results.Completed, TTFT: 15, E2E: 45, Emitted: 4}},
		{44, 0, results.Record{Status: results.TimedOut, TTFT: 15, E2E: 44, Emitted: 3}},
		{145, 100, results.Record{Status: results.Completed, TTFT: 115, E2E: 145, Emitted: 4}},
		{144, 100, results.Record{Status: results.TimedOut, TTFT: 115, E2E: 144, Emitted: 3}},
		{35, 0, results.Record{Status: results.TimedOut, TTFT: 15, E2E: 35, Emitted: 3}},
		{15, 0, results.Record{Status: results.TimedOut, TTFT: 15, E2E: 15, Emitted: 1}},
		{14, 0, results.Record{Status: results.TimedOut, E2E: 14}},
		{1, 0, results.Record{Status: results.TimedOut, E2E: 1}},
	} {
		c.want.Arrival, c.want.Prompt, c.want.Output, c.want.Admitted = 7, 5, 4, true
		h := replay(t, sim.Config{
			Engine: lone(10), Source: &script{requests: numbered(ask(7, 5, 4))},
			Deadline: c.deadline, TTFTOverhead: c.overhead,
		})
		if diff := cmp.Diff([]results.Record{c.want}, h.records); diff != "" {
			t.Errorf("deadline %d, overhead %d (-wanted):\n%s", c.deadline, c.overhead, diff)
		}
	}
}

// A client's overhead lengthens E2E alone: not the time of a token, not what
// the deadline ends, nor a request that it has ended.
func TestClientOverheadIsE2EAlone(t *testing.T) {
	collector := results.NewCollector(results.Window{To: clock.Never}, 1, 1, 2)
	h := replay(t, sim.Config{
		Engine: lone(10), Source: &script{requests: numbered(ask(0, 5, 4), ask(1000, 5, 9))}, Collector: collector,
		Deadline: 60, TTFTOverhead: 10, ClientOverhead: 1000,
	})
	want := []results.Record{
		{TTFT: 25, E2E: 1055, Handling: 1000, Prompt: 5, Output: 4, Emitted: 4, Admitted: true},
		{Index: 1, Arrival: 1000, TTFT: 25, E2E: 60, Prompt: 5, Output: 9, Emitted: 4, Admitted: true, Status: results.TimedOut},
	}
	if diff := cmp.Diff(want, h.records); diff != "" {
		t.Errorf("(-wanted):\n%s", diff)
	}
	if got := float64(collector.Cell(results.FleetTotals{End: 2000}).TPOTMean); got != 10e-12 {
		t.Errorf("TPOT %v s, want 10e-12", got)
	}
}

// The client of request 0, which holds nearly all blocks, gives up at 100 ps.
// It leaves at the end of the step under way, at 110 ps; request 1, which needs
// all blocks, starts there, and request 2 after it.
func TestAbortedWorkFreesItsBlocks(t *testing.T) {
	h := replay(t, sim.Config{
		Engine:   lone(10),
		Source:   &script{requests: numbered(ask(0, 30, 10), ask(75, 40, 1), ask(80, 4, 1))},
		Deadline: 100,
	})
	want := []results.Record{
		{Arrival: 0, TTFT: 40, E2E: 100, Prompt: 30, Output: 10, Emitted: 7, Admitted: true, Status: results.TimedOut},
		{Index: 1, Arrival: 75, TTFT: 85, E2E: 85, Prompt: 40, Output: 1, Emitted: 1, Admitted: true},
		{Index: 2, Arrival: 80, TTFT: 94, E2E: 94, Prompt: 4, Output: 1, Emitted: 1, Admitted: true},
	}
	if diff := cmp.Diff(want, h.records); diff != "" {
		t.Errorf("records (-wanted):\n%s", diff)
	}
}

// A run that is stopped reports what is still in the system, wherever it is,
// and forgets no request.
func TestLimitReportsTheUnfinished(t *testing.T) {
	requests := numbered(ask(0, 5, 3), ask(20, 5, 100), ask(400, 40, 1), ask(402, 4, 1), ask(404, 4, 1), ask(405, 4, 1))
	h := replay(t, sim.Config{Engine: lone(11), Source: &script{requests: requests}, Limit: 404, TTFTOverhead: 1000})
	var got []string
	for _, r := range h.records {
		got = append(got, fmt.Sprintf("%d %v admitted %v, TTFT %d, E2E %d", r.Index, r.Status, r.Admitted, r.TTFT, r.E2E))
	}
	want := []string{
		"0 completed admitted true, TTFT 1015, E2E 1040", // steps end at 15, 25 and, with the prefill of 1, 40
		"1 unfinished admitted true, TTFT 1020, E2E 1384",
		"2 unfinished admitted false, TTFT 0, E2E 1004",
		"3 unfinished admitted false, TTFT 0, E2E 1002",
		"4 unfinished admitted false, TTFT 0, E2E 1000", // arrives at the limit
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-wanted):\n%s", diff)
	}
	c := h.cell
	if c.Requests != 5 || c.Completed != 1 || c.Unfinished != 4 || h.totals.Requests != 5 || h.totals.End != 404 {
		t.Errorf("%d requests, %d completed, %d unfinished, %d in all, end at %d",
			c.Requests, c.Completed, c.Unfinished, h.totals.Requests, h.totals.End)
	}
}

// A stopped run conserves requests at every instant, and what had ended before
// had ended as in the whole run.
func TestLimitAtAnyInstant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requests := drawScript(t, 4)
		run := func(limit clock.Time) history {
			return replay(t, sim.Config{
				Destinations: 2,
				Engine:       engine.Config{BlockTokens: 4, Blocks: 60, MaxBatchedTokens: 24, MaxSeqs: 8, Cost: price(10, 1, 2, 3, 2)},
				Source:       &script{requests: requests}, Limit: limit, Deadline: 2000,
			})
		}
		whole := run(0)
		limit := clock.Time(rapid.Int64Range(1, int64(whole.totals.End)).Draw(t, "limit"))
		stopped := run(limit)
		at := 0
		for _, r := range whole.records {
			if r.Arrival > limit {
				continue
			}
			got := stopped.records[at]
			at++
			if r.Arrival+r.E2E <= limit {
				if got != r {
					t.Fatalf("stopped at %d: %+v, the whole run has %+v", limit, got, r)
				}
			} else if got.Index != r.Index || got.Status != results.Unfinished || got.E2E != limit-r.Arrival {
				t.Fatalf("stopped at %d: %+v, still open in the whole run: %+v", limit, got, r)
			}
		}
		if at != len(stopped.records) || int64(at) != stopped.totals.Requests {
			t.Fatalf("%d requests arrived by %d, %d are reported", at, limit, len(stopped.records))
		}
	})
}

// The ends of steps run before the arrival of the same instant, in order of
// destination, and the arrival before the deadlines.
func TestOrderOfSimultaneousEvents(t *testing.T) {
	var got []string
	note := func(what string) func(*workload.Request, int, clock.Time) {
		return func(r *workload.Request, d int, now clock.Time) {
			got = append(got, fmt.Sprintf("%d: %s %d at %d", now, what, r.Index, d))
		}
	}
	destinations := []int{2, 0, 1, 1, 0}
	arrived := note("arrival")
	// The prefills of 0 and 1 end at 50, their deadline and that of 2, when 3
	// and 4 arrive.
	requests := numbered(ask(0, 40, 1), ask(0, 40, 1), ask(0, 60, 2), ask(50, 1, 1), ask(50, 20, 1))
	replay(t, sim.Config{
		Destinations: 3, Engine: lone(100), Source: &script{requests: requests}, Deadline: 50,
		Policy: &nosy{
			route: func(r *workload.Request, v *policies.View) int {
				arrived(r, destinations[r.Index], v.Now)
				return destinations[r.Index]
			},
			first: note("first token"), done: note("end"),
		},
	})
	want := []string{
		"0: arrival 0 at 2", "0: arrival 1 at 0", "0: arrival 2 at 1",
		"50: first token 1 at 0", "50: end 1 at 0", "50: first token 0 at 2", "50: end 0 at 2",
		"50: arrival 3 at 1", "50: arrival 4 at 0",
		"50: end 2 at 1",
		"80: first token 4 at 0", "80: end 4 at 0", // its destination was free at 50
		"81: first token 3 at 1", "81: end 3 at 1", // its destination was not, until 70
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-wanted):\n%s", diff)
	}
}

// mirror counts requests in flight for itself and compares the view with what
// it remembers.
type mirror struct {
	nosy
	interval clock.Time
	live     []int
	seen     []int
	next     clock.Time // from here on the view is refreshed
}

func watchView(t *testing.T, inner policies.Policy, destinations int, interval clock.Time) *mirror {
	m := &mirror{interval: interval, live: make([]int, destinations), seen: make([]int, destinations)}
	scrape := func(now clock.Time) {
		if interval == 0 || now >= m.next {
			copy(m.seen, m.live)
		}
		if interval > 0 {
			m.next = (now/interval + 1) * interval
		}
	}
	m.route = func(r *workload.Request, v *policies.View) int {
		scrape(v.Now)
		total := 0
		for i, n := range m.seen {
			total += n
			if v.InFlight(i) != n {
				t.Fatalf("at %v the view says %d requests in flight on %d, should say %d", v.Now, v.InFlight(i), i, n)
			}
		}
		if v.Total() != total {
			t.Fatalf("at %v the view says %d in flight, should say %d", v.Now, v.Total(), total)
		}
		d := inner.Route(r, v)
		m.live[d]++
		return d
	}
	m.done = func(_ *workload.Request, d int, now clock.Time) {
		scrape(now)
		m.live[d]--
	}
	return m
}

// A refresh sees what was in flight before the events of its instant.
func TestSignalAtTheInstantOfItsRefresh(t *testing.T) {
	var requests []workload.Request
	for i := range 40 {
		requests = append(requests, ask(clock.Time(10*i), 20, 4))
	}
	m := watchView(t, byKey{}, 1, 30)
	replay(t, sim.Config{Engine: lone(100), Source: &script{requests: numbered(requests...)}, Policy: m, SignalInterval: 30})
	if m.seen[0] == 0 {
		t.Error("the view never rose")
	}
}

// The view says what the router's own count said at the last refresh: now, at
// an interval of 0, and for ever nothing, when the interval outlasts the run.
func TestSignalIsAsOldAsItsInterval(t *testing.T) {
	var fingerprints []uint64
	for _, interval := range []clock.Time{0, 1, 50 * clock.Millisecond, clock.Second, 1000 * clock.Second, clock.Never} {
		cfg := cell(t, "flat-lb", 5, clock.Streams{Seed: 16})
		cfg.SignalInterval = interval
		m := watchView(t, cfg.Policy, 5, interval)
		cfg.Policy = m
		h := replay(t, cfg)
		if interval >= 1000*clock.Second && !slices.Equal(m.seen, make([]int, 5)) {
			t.Errorf("with an interval of %v the view rose to %v", interval, m.seen)
		}
		if slices.Max(m.live) != 0 {
			t.Errorf("requests left in flight: %v", m.live)
		}
		fingerprints = append(fingerprints, h.fingerprint)
	}
	if f := fingerprints; f[0] == f[2] || f[2] == f[3] || f[3] == f[4] || f[4] != f[5] {
		t.Errorf("which runs are alike: %x", f)
	}
}

// A run that is stopped while a destination computes only for clients that have
// gone is whole, and what an unfinished request had got by then is counted.
func TestLimitWithOnlyAbortedWork(t *testing.T) {
	replay(t, sim.Config{Engine: lone(10), Source: &script{requests: numbered(ask(0, 30, 1))}, Deadline: 30, Limit: 35})
}

func TestLimitCountsWhatTheClientGot(t *testing.T) {
	h := replay(t, sim.Config{Engine: lone(10), Source: &script{requests: numbered(ask(0, 5, 20))}, Limit: 47})
	if e := h.records[0].Emitted; e != 4 {
		t.Errorf("%d tokens by 47 ps, wanted 4 (at 15, 25, 35 and 45)", e)
	}
	if h.totals.Steps != 5 || h.totals.Busy[0] != 47 {
		t.Errorf("busy %d ps in %d steps, wanted 47 in 5, the one under way included", h.totals.Busy[0], h.totals.Steps)
	}
}
