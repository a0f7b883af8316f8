package workload

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cacheroute/sim/clock"
)

const sessions = `arrival_s,session,input_tokens,output_tokens,think_us,e2e_us
0,a,100,10,,
10,a,200,10,2000000,
11,b,50,5,,3000000
20,a,300,10,,
20,b,150,5,,
21,,10,1,,
`

// answered runs a closed source with answers that take a fixed time, and
// returns when each row arrives, in seconds.
func answered(t *testing.T, source Source, takes clock.Time) map[string]float64 {
	t.Helper()
	c, ok := source.(Closed)
	if !ok {
		t.Fatal("not a closed source")
	}
	type flying struct {
		r   Request
		end clock.Time
	}
	var inFlight []flying
	arrivals := map[string]float64{}
	for n := int64(0); ; {
		at := c.NextAt()
		slices.SortFunc(inFlight, func(a, b flying) int { return int(a.end - b.end) })
		if len(inFlight) > 0 && inFlight[0].end <= at {
			f := inFlight[0]
			inFlight = inFlight[1:]
			c.Ended(&f.r, f.end)
			continue
		}
		if at == clock.Never {
			return arrivals
		}
		var r Request
		if !c.Next(&r) || r.At != at || r.Index != n {
			t.Fatalf("request %+v at %v, announced for %v", r, r.At, at)
		}
		n++
		arrivals[fmt.Sprint(r.PromptTokens)] = r.At.Seconds()
		inFlight = append(inFlight, flying{r, at + takes})
	}
}

func TestTurnsWaitForAnswers(t *testing.T) {
	trace := mustRead(t, sessions, TraceOptions{Closed: true})
	if notes := strings.Join(trace.Header().Notes, " "); !strings.Contains(notes, "3 turns wait for the answer before them; think times: 1 recorded, 1 from observed answers, 1 unknown") {
		t.Errorf("notes %q", notes)
	}
	for _, c := range []struct {
		speed float64
		takes clock.Time
		want  map[string]float64
	}{
		// The second turn of a thinks 2 s; the third is not before 20 s. The second
		// of b thinks what is left of 9 s after an answer of 3 s.
		{1, clock.Second, map[string]float64{"100": 0, "200": 3, "50": 11, "300": 20, "150": 18, "10": 21}},
		{1, 15 * clock.Second, map[string]float64{"100": 0, "200": 17, "50": 11, "300": 32, "150": 32, "10": 21}},
		{2, clock.Second, map[string]float64{"100": 0, "200": 2, "50": 5.5, "300": 10, "150": 9.5, "10": 10.5}},
	} {
		source, err := trace.Open(trace.QPS()*c.speed, clock.Streams{})
		if err != nil {
			t.Fatal(err)
		}
		got := answered(t, source, c.takes)
		for row, at := range c.want {
			near(t, fmt.Sprintf("speed %v, answers of %v: arrival of the prompt of %s tokens", c.speed, c.takes, row), got[row], at, 1e-9)
		}
		if len(got) != len(c.want) {
			t.Errorf("%d requests, wanted %d", len(got), len(c.want))
		}
	}
}

// With answers that take no time an open and a closed loop are the same, where
// think times are not known.
func TestInstantAnswersAreTheRecording(t *testing.T) {
	text := strings.NewReplacer("2000000", "", "3000000", "").Replace(sessions)
	trace := mustRead(t, text, TraceOptions{Closed: true})
	source, err := trace.Open(trace.QPS(), clock.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	got := answered(t, source, 0)
	for _, r := range take(mustOpen(t, mustRead(t, text, TraceOptions{})), 9) {
		near(t, "arrival", got[fmt.Sprint(r.PromptTokens)], r.At.Seconds(), 1e-9)
	}
}

func mustOpen(t *testing.T, trace *Trace) Source {
	t.Helper()
	source, err := trace.Open(trace.QPS(), clock.Streams{})
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func TestKeyCounts(t *testing.T) {
	trace := mustRead(t, sessions, keyed("session"))
	for _, c := range []struct {
		from, to float64
		want     []float64
	}{{0, 10, []float64{1, 0, 0}}, {0, 10.000001, []float64{2, 0, 0}}, {11, 21, []float64{1, 2, 0}}, {0, 1e9, []float64{3, 2, 1}}, {5, 5, []float64{0, 0, 0}}, {9, 2, []float64{0, 0, 0}}} {
		if got := trace.KeyCounts(c.from, c.to); !slices.Equal(got, c.want) {
			t.Errorf("from %v to %v: %v, wanted %v", c.from, c.to, got, c.want)
		}
	}
}

func TestPromptModel(t *testing.T) {
	plain := mustRead(t, sessions, keyed("session"))
	if plain.HitsKnown() {
		t.Error("hits of a trace without ids are known")
	}
	requests := take(mustOpen(t, plain), 9)
	for i := range requests {
		for j := range i {
			if n := sharedTokens(requests[i].Prompt, requests[j].Prompt); n != 0 {
				t.Errorf("requests %d and %d share %d tokens, wanted none", i, j, n)
			}
		}
	}
	opt := keyed("session")
	opt.Prompt = &PromptModel{TemplateTokens: 20, KeyTokens: 40, History: true}
	trace := mustRead(t, sessions, opt)
	requests = take(mustOpen(t, trace), 9)
	for i := range requests {
		checkRequest(t, &requests[i], trace.Keys())
	}
	// Prompts by arrival: a 100, a 200, b 50, a 300, b 150, 10 tokens of nobody.
	for _, c := range []struct{ i, j, want int }{
		{0, 1, 100}, {1, 3, 200}, {0, 3, 100}, // the history of a
		{2, 4, 50},             // of b
		{0, 2, 20}, {3, 4, 20}, // the template
		{0, 5, 0}, {5, 4, 0}, // a prompt that is shorter than a block
	} {
		if got := sharedTokens(requests[c.i].Prompt, requests[c.j].Prompt); got != c.want {
			t.Errorf("requests %d and %d share %d tokens, wanted %d", c.i, c.j, got, c.want)
		}
	}
	if !trace.HitsKnown() {
		t.Error("hits of a stated model are unknown")
	}
}

// A history that was cut begins anew after what all prompts of its key share.
func TestPromptModelOfACutHistory(t *testing.T) {
	opt := keyed("session")
	opt.Prompt = &PromptModel{KeyTokens: 32, History: true}
	trace := mustRead(t, "arrival_s,session,input_tokens,output_tokens\n0,a,100,10\n1,a,90,10\n2,a,101,5\n", opt)
	r := take(mustOpen(t, trace), 3)
	if n := sharedTokens(r[0].Prompt, r[1].Prompt); n != 32 {
		t.Errorf("a shorter prompt shares %d tokens, wanted the key's 32", n)
	}
	if n := sharedTokens(r[1].Prompt, r[2].Prompt); n != 90 {
		t.Errorf("a longer prompt shares %d tokens, wanted 90", n)
	}
}
