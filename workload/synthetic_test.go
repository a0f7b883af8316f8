package workload

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"cacheroute/sim/clock"
	"cacheroute/workload/share"
)

func lognormalLen(mean, sigma float64) Length {
	return Length{&LognormalLength{Name: "lognormal", Mean: mean, Sigma: sigma}}
}

// table1 is the workload of the paper's flagship study.
func table1() Spec {
	return Spec{
		Keys:     &LognormalKeys{Sigma: 1.65, Count: 128824, Top: 128, Seed: 1},
		Arrivals: &PoissonArrivals{},
		Prompt: PromptSpec{TemplateTokens: 1800, ContextTokens: Tokens(1500), RetrievedTokens: Tokens(700),
			Variants: 8, StayProbability: 0.33, TurnTokens: lognormalLen(190, 0.75)},
		Output: lognormalLen(150, 0.6),
	}
}

// small is a workload with every feature on few keys.
func small() Spec {
	s := table1()
	s.Keys = &ZipfKeys{Exponent: 1, Count: 20, Seed: 1}
	s.Prompt.ContextTokens = lognormalLen(1000, 0.5)
	s.Prompt.RetrievedTokens = Length{&UniformLength{Min: 100, Max: 900}}
	s.Prompt.Thread = &ThreadSpec{MeanRequests: 2.64, MaxHistoryTokens: 4000}
	s.Whales = &WhaleSpec{Count: 2, TrafficShare: 0.3}
	return s
}

func open(t testing.TB, s Spec, qps float64, seed uint64) (*Synthetic, Source) {
	t.Helper()
	w, err := NewSynthetic(s)
	if err != nil {
		t.Fatal(err)
	}
	source, err := w.Open(qps, clock.Streams{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return w, source
}

// take copies n requests.
func take(source Source, n int) []Request {
	out := make([]Request, n)
	var r Request
	for i := range out {
		if !source.Next(&r) {
			return out[:i]
		}
		out[i] = r
		out[i].Prompt = slices.Clone(r.Prompt)
	}
	return out
}

func segment(r *Request, kind SegmentKind) (Segment, bool) {
	i := slices.IndexFunc(r.Prompt, func(s Segment) bool { return s.Kind == kind })
	if i < 0 {
		return Segment{}, false
	}
	return r.Prompt[i], true
}

// checkRequest checks what every request promises.
func checkRequest(t interface{ Fatalf(string, ...any) }, r *Request, keys int) {
	var again Request
	for i, s := range r.Prompt {
		if s.Tokens < 1 || i > 0 && s.Kind < r.Prompt[i-1].Kind {
			t.Fatalf("request %d: segment %d is %+v after %v", r.Index, i, s, r.Prompt[:i])
		}
		again.Append(s.ID, s.Kind, s.Tokens)
	}
	again.SetOutput(r.Output.ID, r.OutputTokens)
	if !slices.Equal(again.Prompt, r.Prompt) || again.PromptTokens != r.PromptTokens || again.Output != r.Output {
		t.Fatalf("request %d: chains or sums are not those of its segments: %+v", r.Index, r)
	}
	if len(r.Prompt) == 0 || r.OutputTokens < 1 || r.Key < 0 || int(r.Key) >= keys {
		t.Fatalf("request %d: %+v", r.Index, r)
	}
}

func TestPromptParts(t *testing.T) {
	w, source := open(t, small(), 100, 2)
	kinds := map[uint64]SegmentKind{} // of each identity
	context := map[int32]Segment{}
	retrieved := map[uint64]int32{}
	last := map[int32]uint64{}
	var pairs, breaks float64
	for _, r := range take(source, 50000) {
		checkRequest(t, &r, w.Keys())
		for _, s := range append(r.Prompt, r.Output) {
			if s.Kind == History && s.ID != r.Output.ID {
				s.Kind = kinds[s.ID] // an earlier turn or answer
			}
			if k, ok := kinds[s.ID]; ok && k != s.Kind {
				t.Fatalf("one identity for %v and %v", k, s.Kind)
			}
			kinds[s.ID] = s.Kind
		}
		c, _ := segment(&r, Context)
		if before, ok := context[r.Key]; ok && before != c {
			t.Fatalf("the context of key %d changes from %+v to %+v", r.Key, before, c)
		}
		context[r.Key] = c
		v, _ := segment(&r, Retrieved)
		if n, ok := retrieved[v.ID]; ok && n != v.Tokens {
			t.Fatalf("a retrieved block changes from %d to %d tokens", n, v.Tokens)
		}
		retrieved[v.ID] = v.Tokens
		if id, ok := last[r.Key]; ok {
			pairs++
			if id != v.ID {
				breaks++
			}
		}
		last[r.Key] = v.ID
	}
	if len(retrieved) != 8*w.Keys() {
		t.Errorf("%d retrieved blocks for %d keys of 8", len(retrieved), w.Keys())
	}
	// Table 6 of the paper: 67 % of consecutive pairs break.
	near(t, "broken pairs", breaks/pairs, 0.67, 4*math.Sqrt(0.67*0.33/pairs))
}

func TestThreadsExtendTheLastPrompt(t *testing.T) {
	s := small()
	w, source := open(t, s, 100, 2)
	last := map[int32]Request{}
	seen := map[uint64]bool{}
	var requests, threads float64
	for _, r := range take(source, 50000) {
		var history []Segment
		var tokens int32
		for _, h := range r.Prompt {
			if h.Kind == History {
				history = append(history, h)
				tokens += h.Tokens
			}
		}
		if int(tokens) > s.Prompt.Thread.MaxHistoryTokens {
			t.Fatalf("%d tokens of history", tokens)
		}
		requests++
		if before, ok := last[r.Key]; !ok || len(history) == 0 {
			threads++
		} else {
			// The last prompt's history, its turn and its answer.
			var want []uint64
			for _, h := range before.Prompt {
				if h.Kind == History || h.Kind == Turn {
					want = append(want, h.ID)
				}
			}
			want = append(want, before.Output.ID)
			var got []uint64
			for _, h := range history {
				got = append(got, h.ID)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("request %d of key %d has history %v, wanted %v", r.Index, r.Key, got, want)
			}
			a, _ := segment(&before, Retrieved)
			b, _ := segment(&r, Retrieved)
			if same := history[len(history)-1].Chain == before.Output.Chain; same != (a.ID == b.ID) {
				t.Fatalf("the chain of the answer is kept: %v, the retrieved block: %v", same, a.ID == b.ID)
			}
		}
		turn, _ := segment(&r, Turn)
		if seen[turn.ID] || seen[r.Output.ID] || turn.ID == 0 || r.Output.ID == 0 {
			t.Fatalf("request %d repeats a turn or an answer", r.Index)
		}
		seen[turn.ID], seen[r.Output.ID] = true, true
		last[r.Key] = r
	}
	// The maximum cuts a few threads short: their mean is then below 2.64.
	near(t, "requests per thread", requests/threads, 2.5, 0.15)
	if f := w.Asked(100); !math.IsNaN(f.PromptTokens) {
		t.Errorf("asked prompt %v with threads", f.PromptTokens)
	}
}

func TestWithoutThreadsTurnsAreUnique(t *testing.T) {
	_, source := open(t, table1(), 100, 2)
	for _, r := range take(source, 100) {
		if s, _ := segment(&r, Turn); s.ID != 0 || r.Output.ID != 0 || len(r.Prompt) != 4 {
			t.Fatalf("%+v", r)
		}
	}
}

func TestPromptOfContextAndTurnAlone(t *testing.T) {
	s := table1()
	s.Keys = &ZipfKeys{Exponent: 0.5, Count: 128}
	s.Prompt = PromptSpec{ContextTokens: Tokens(8000), TurnTokens: Tokens(500)}
	s.Output = Tokens(200)
	_, source := open(t, s, 100, 2)
	for _, r := range take(source, 100) {
		if len(r.Prompt) != 2 || r.Prompt[0].Tokens != 8000 || r.Prompt[1].Tokens != 500 || r.OutputTokens != 200 {
			t.Fatalf("%+v", r)
		}
	}
}

func TestRealisedFiguresAreThoseAsked(t *testing.T) {
	s := table1()
	s.Keys = &ZipfKeys{Exponent: 1, Count: 50}
	s.Whales = &WhaleSpec{Count: 3, TimesTarget: 2, TargetQPS: 5}
	w, source := open(t, s, 80, 2)
	asked := w.Asked(80)
	rates, err := w.Rates(80)
	if err != nil {
		t.Fatal(err)
	}
	const n = 300000
	counts := make([]float64, w.Keys())
	var prompt, output float64
	requests := take(source, n)
	for _, r := range requests {
		counts[r.Key]++
		prompt += float64(r.PromptTokens) / n
		output += float64(r.OutputTokens) / n
	}
	seconds := requests[n-1].At.Seconds()
	near(t, "rate", n/seconds, asked.QPS, 0.5)
	near(t, "rate of a whale", rates[52], 10, 1e-9)
	for key, rate := range rates {
		near(t, fmt.Sprint("rate of key ", key), counts[key]/seconds, rate, 5*math.Sqrt(rate/seconds))
	}
	near(t, "Gini", share.Gini(counts), asked.Gini, 0.005)
	near(t, "top key", share.Top(counts, 0), asked.TopShare, 0.003)
	near(t, "prompt", prompt, asked.PromptTokens, 2)
	near(t, "output", output, asked.OutputTokens, 1)
}

// Any valid spec yields sound requests, the same ones for the same streams.
func TestAnySpecIsSoundAndDeterministic(t *testing.T) {
	length := rapid.Custom(func(t *rapid.T) Length {
		mean := rapid.IntRange(1, 500).Draw(t, "mean")
		return rapid.SampledFrom([]Length{Tokens(mean), lognormalLen(float64(mean), 1.2),
			{&UniformLength{Min: 1, Max: mean}}, {&EmpiricalLength{Values: []int{mean, 2}}}}).Draw(t, "length")
	})
	rapid.Check(t, func(t *rapid.T) {
		s := Spec{
			Keys:     &LognormalKeys{Sigma: rapid.Float64Range(0, 4).Draw(t, "sigma"), Count: rapid.IntRange(1, 40).Draw(t, "count"), Seed: 3},
			Arrivals: &GammaArrivals{CV: rapid.Float64Range(0.1, 5).Draw(t, "cv")},
			Prompt: PromptSpec{TemplateTokens: rapid.IntRange(0, 50).Draw(t, "template"), ContextTokens: length.Draw(t, "context"),
				Variants: rapid.IntRange(0, 4).Draw(t, "variants"), StayProbability: rapid.Float64Range(0, 1).Draw(t, "stay"), TurnTokens: length.Draw(t, "turn")},
			Output: length.Draw(t, "output"),
		}
		if rapid.Bool().Draw(t, "retrieves") {
			s.Prompt.RetrievedTokens = length.Draw(t, "retrieved")
		}
		if rapid.Bool().Draw(t, "threads") {
			s.Prompt.Thread = &ThreadSpec{MeanRequests: rapid.Float64Range(1, 9).Draw(t, "requests"), MaxHistoryTokens: 3000}
		}
		w, err := NewSynthetic(s)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := w.Open(50, clock.Streams{Seed: 9})
		b, _ := w.Open(50, clock.Streams{Seed: 9})
		requests := take(a, 200)
		if d := cmp.Diff(requests, take(b, 200)); d != "" {
			t.Fatal(d)
		}
		for i := range requests {
			checkRequest(t, &requests[i], w.Keys())
			if requests[i].Index != int64(i) || i > 0 && requests[i].At < requests[i-1].At {
				t.Fatalf("request %d at %v after %v", requests[i].Index, requests[i].At, requests[i-1].At)
			}
		}
	})
}

// What one part draws does not shift another: seeds stay paired when a study
// changes one parameter.
func TestPartsDrawFromTheirOwnStreams(t *testing.T) {
	_, a := open(t, table1(), 100, 2)
	s := table1()
	s.Output = Tokens(9)
	s.Prompt.Variants = 1
	s.Prompt.Thread = &ThreadSpec{MeanRequests: 3, MaxHistoryTokens: 1000}
	_, b := open(t, s, 100, 2)
	was := take(a, 1000)
	for i, r := range take(b, 1000) {
		x, _ := segment(&was[i], Turn)
		y, _ := segment(&r, Turn)
		if r.At != was[i].At || r.Key != was[i].Key || x.Tokens != y.Tokens {
			t.Fatalf("request %d: %+v, was %+v", i, r, was[i])
		}
	}
}

func TestCellsShareTheWorkload(t *testing.T) {
	w, source := open(t, small(), 100, 2)
	want := take(source, 2000)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			s, err := w.Open(100, clock.Streams{Seed: 2})
			if err != nil {
				t.Error(err)
				return
			}
			if d := cmp.Diff(want, take(s, 2000)); d != "" {
				t.Error(d)
			}
		})
	}
	group.Wait()
}

func TestNextDoesNotAllocate(t *testing.T) {
	for _, s := range []Spec{table1(), small()} {
		_, source := open(t, s, 100, 2)
		var r Request
		for range 50000 {
			source.Next(&r)
		}
		if n := testing.AllocsPerRun(20000, func() { source.Next(&r) }); n > 0 {
			t.Errorf("%v allocations a request", n)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	all := table1()
	all.Keys = KeySpecs["lognormal"]()
	for name, s := range map[string]Spec{"table-1": table1(), "all-keys": all, "threads": small()} {
		b.Run(name, func(b *testing.B) {
			_, source := open(b, s, 100, 2)
			var r Request
			b.ReportAllocs()
			for b.Loop() {
				source.Next(&r)
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	w, _ := open(b, table1(), 100, 2)
	b.ReportAllocs()
	for b.Loop() {
		w.Open(100, clock.Streams{Seed: 2})
	}
}

// What belongs to a key depends on the key and the population's seed alone.
func TestContextsBelongToKeys(t *testing.T) {
	s := table1()
	s.Keys = &LognormalKeys{Sigma: 1.65, Count: 20000, Seed: 1}
	s.Prompt.ContextTokens = Length{&UniformLength{Min: 1, Max: 1000}}
	all, err := NewSynthetic(s)
	if err != nil {
		t.Fatal(err)
	}
	s.Keys = &LognormalKeys{Sigma: 1.65, Count: 20000, Top: 128, Seed: 1}
	s.Prompt.TemplateTokens = 0
	top, err := NewSynthetic(s)
	if err != nil {
		t.Fatal(err)
	}
	var sum, product float64
	for i, c := range all.contexts {
		if i < len(top.contexts) && (top.contexts[i].ID != c.ID || top.contexts[i].Tokens != c.Tokens) {
			t.Fatalf("key %d has context %+v, in a selection %+v", i, c, top.contexts[i])
		}
		sum += float64(c.Tokens) - 500.5
		if i > 0 {
			product += (float64(c.Tokens) - 500.5) * (float64(all.contexts[i-1].Tokens) - 500.5)
		}
	}
	const n, variance = 20000.0, 1e6 / 12
	near(t, "mean context", sum/n, 0, 4*math.Sqrt(variance/n))
	near(t, "correlation of neighbours", product/n/variance, 0, 4/math.Sqrt(n))
}
