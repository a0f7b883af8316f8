package policies

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"cacheroute/workload"
)

// plainDualMap keeps whole prompts and lists instead of marks and a ledger.
type plainDualMap struct {
	s      *DualMap
	env    Env
	byKey  map[[2]int][]workload.Segment // last prompt by key and destination
	last   map[int][]workload.Segment    // last prompt by destination
	queued map[int64][2]int              // destination and uncached tokens of requests without first token
}

func (p *plainDualMap) uncached(r *workload.Request, d int) int {
	held := p.byKey[[2]int{int(r.Key), d}]
	if held == nil {
		held = p.last[d]
	}
	hit := 0
	for i := 0; i < len(held) && i < len(r.Prompt) && held[i].Chain == r.Prompt[i].Chain && held[i].Chain != 0; i++ {
		hit += int(min(held[i].Tokens, r.Prompt[i].Tokens))
	}
	return max(1, int(r.PromptTokens)-hit)
}

func (p *plainDualMap) ttft(r *workload.Request, d int) float64 {
	tokens := p.uncached(r, d)
	for _, q := range p.queued {
		if q[0] == d {
			tokens += q[1]
		}
	}
	return float64(tokens) * p.s.TimePerToken
}

// allowed is the rule word by word; several destinations where a coin decides.
func (p *plainDualMap) allowed(r *workload.Request, v *View) []int {
	var pair [2]int
	for i := range pair {
		seed := hashOf(p.env.HashSeed, uint64(i), 2)
		pair[i] = plainWalk(p.env, p.s.Vnodes, seed, r.Key)[0]
	}
	if pair[0] == pair[1] {
		pair[1] = (pair[0] + 1) % v.Destinations()
	}
	choose := func(warm, other int) int {
		if p.ttft(r, warm) > p.s.Theta && p.ttft(r, other) < p.ttft(r, warm) {
			return other
		}
		return warm
	}
	less := p.uncached(r, pair[0]) - p.uncached(r, pair[1])
	if less == 0 {
		less = v.InFlight(pair[0]) - v.InFlight(pair[1])
	}
	first, second := choose(pair[0], pair[1]), choose(pair[1], pair[0])
	switch {
	case less < 0:
		return []int{first}
	case less > 0:
		return []int{second}
	}
	return []int{first, second}
}

func (p *plainDualMap) chose(r *workload.Request, d int) {
	p.queued[r.Index] = [2]int{d, p.uncached(r, d)}
	p.byKey[[2]int{int(r.Key), d}] = slices.Clone(r.Prompt)
	p.last[d] = slices.Clone(r.Prompt)
}

// drawPrompt makes short prompts that share their start, differ in the length
// of a segment or hold a unique one.
func drawPrompt(t *rapid.T, r *workload.Request) {
	r.Append(1, workload.Template, int32(rapid.SampledFrom([]int{10, 10, 7}).Draw(t, "template")))
	r.Append(2+uint64(r.Key), workload.Context, 20)
	r.Append(uint64(rapid.SampledFrom([]int{0, 50, 51}).Draw(t, "block")), workload.Retrieved, 5)
	r.Append(uint64(rapid.SampledFrom([]int{0, 60}).Draw(t, "turn")), workload.Turn, int32(rapid.IntRange(0, 3).Draw(t, "tokens")))
}

func TestDualMapAgainstScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &DualMap{Theta: rapid.SampledFrom([]float64{0, 40, 1000}).Draw(t, "theta_s"), TimePerToken: 1, Vnodes: 3}
		n := rapid.IntRange(1, 5).Draw(t, "destinations")
		env := testEnv(n, 6, rapid.Uint64().Draw(t, "seed"))
		policy, _ := s.Build(env)
		p := policy.(*dualMap)
		plain := &plainDualMap{s: s, env: env, byKey: map[[2]int][]workload.Segment{}, last: map[int][]workload.Segment{}, queued: map[int64][2]int{}}
		v := NewView(n, 0)
		open := map[int64]int{}
		for i := range int64(60) {
			r := &workload.Request{Index: i, Key: int32(rapid.IntRange(0, 5).Draw(t, "key"))}
			drawPrompt(t, r)
			want := plain.allowed(r, v)
			d := p.Route(r, v)
			if !slices.Contains(want, d) {
				t.Fatalf("request %d went to %d, want one of %v", i, d, want)
			}
			plain.chose(r, d)
			v.Dispatched(d)
			open[i] = d
			// Requests get their first token and end in any order, some
			// without a first token.
			id := int64(rapid.IntRange(0, int(i)).Draw(t, "event"))
			if at, ok := open[id]; ok {
				delete(plain.queued, id)
				if rapid.Bool().Draw(t, "ends") {
					p.Done(&workload.Request{Index: id}, at, 0)
					v.Done(at)
					delete(open, id)
				} else {
					p.FirstToken(&workload.Request{Index: id}, at, 0)
				}
			}
		}
		for id, at := range open {
			p.Done(&workload.Request{Index: id}, at, 0)
		}
		if slices.Max(p.pending) != 0 || slices.Min(p.pending) != 0 || p.open.open != 0 {
			t.Fatalf("pending %v after the last request", p.pending)
		}
	})
}
