package residency

import (
	"container/list"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// lru is an exact cache of unit blocks.
type lru struct {
	room int
	line list.List // most recent first
	at   map[string]*list.Element
}

// use reports whether the block was there, and makes it the most recent.
func (c *lru) use(block string) bool {
	if e := c.at[block]; e != nil {
		c.line.MoveToFront(e)
		return true
	}
	c.at[block] = c.line.PushFront(block)
	if len(c.at) > c.room {
		last := c.line.Back()
		delete(c.at, last.Value.(string))
		c.line.Remove(last)
	}
	return false
}

// replay is the hit rate of n requests of the streams in random order, from an
// empty cache; those after the first skip.
func replay(c Cache, streams []Stream, n, skip int, rng *rand.Rand) float64 {
	return replayOrder(c, streams, n, skip, rng, atRandom(streams, rng))
}

// atRandom draws the stream of the next request.
func atRandom(streams []Stream, rng *rand.Rand) func() int {
	sum := 0.0
	for _, s := range streams {
		sum += s.Rate
	}
	cumulated, at := make([]float64, len(streams)), 0.0
	for i, s := range streams {
		at += s.Rate / sum
		cumulated[i] = at
	}
	return func() int {
		k, u := 0, rng.Float64()
		for k < len(streams)-1 && cumulated[k] < u {
			k++
		}
		return k
	}
}

// replayOrder is replay in another order.
func replayOrder(c Cache, streams []Stream, n, skip int, rng *rand.Rand, next func() int) float64 {
	cache := lru{room: int(c.Blocks - c.Template), at: map[string]*list.Element{}}
	variant := make([]int, len(streams))
	for i, s := range streams {
		variant[i] = rng.IntN(max(1, s.Variants))
	}
	hit, prompt := 0.0, 0.0
	for r := range n {
		k := next()
		s := &streams[k]
		if s.Variants > 1 && rng.Float64() >= s.Stay {
			variant[k] = (variant[k] + 1 + rng.IntN(s.Variants-1)) % s.Variants
		}
		found := c.Template
		// Deeper blocks are freed first, so they are used first.
		for i := range int(s.Unique) {
			cache.use(fmt.Sprint("u", r, i))
		}
		for i := range int(s.Retrieved) {
			if cache.use(fmt.Sprint("r", k, variant[k], int(s.Retrieved)-i)) {
				found++
			}
		}
		for i := range int(s.Context) {
			if cache.use(fmt.Sprint("c", k, int(s.Context)-i)) {
				found++
			}
		}
		if r >= skip {
			hit += found * float64(c.BlockTokens)
			prompt += s.PromptTokens
		}
	}
	return hit / prompt
}

// zipf is the streams of keys whose rates fall as 1/rank.
func zipf(keys int, s Stream) []Stream {
	streams, sum := make([]Stream, keys), 0.0
	for i := range streams {
		streams[i] = s
		streams[i].Rate = 1 / float64(i+1)
		sum += streams[i].Rate
	}
	for i := range streams {
		streams[i].Rate /= sum
	}
	return streams
}

// Where the theory holds, many independent keys that are small against the
// cache, the prediction is within a point of an exact LRU cache.
func TestAgainstExactLRU(t *testing.T) {
	const seed = 4
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, seed))
	for _, c := range []struct {
		name   string
		blocks float64
		stream Stream
	}{
		{"contexts", 300, Stream{PromptTokens: 16, Context: 1}},
		{"contexts and turns", 500, Stream{PromptTokens: 48, Context: 2, Unique: 1}},
		{"with a template", 800, Stream{PromptTokens: 80, Context: 2, Unique: 1}},
		{"retrieved that stay", 1500, Stream{PromptTokens: 80, Context: 2, Retrieved: 2, Variants: 6, Stay: 0.7, Unique: 1}},
		{"retrieved that change", 1500, Stream{PromptTokens: 80, Context: 2, Retrieved: 2, Variants: 4, Stay: 0.1, Unique: 1}},
		{"two that alternate", 900, Stream{PromptTokens: 64, Context: 2, Retrieved: 1, Variants: 2, Stay: 0, Unique: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cache := Cache{BlockTokens: 16, Blocks: c.blocks}
			if c.name == "with a template" {
				cache.Template = 2
			}
			streams := zipf(1000, c.stream)
			got := cache.Steady(streams, cache.Time(streams)).Rate()
			want := replay(cache, streams, 150_000, 30_000, rng)
			t.Logf("predicted %.4f, exact cache %.4f", got, want)
			if math.Abs(got-want) > 0.01 || want < 0.1 || want > 0.9 {
				t.Errorf("predicted %.4f, exact cache %.4f", got, want)
			}
		})
	}
}

// From an empty cache the hits of a window are those of the exact cache, where
// the steady ones are far off.
func TestFromEmptyCache(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	cache := Cache{BlockTokens: 16, Blocks: 1e5}
	streams := zipf(1000, Stream{PromptTokens: 48, Context: 2, Unique: 1})
	time := cache.Time(streams)
	want := 0.0
	for range 20 {
		want += replay(cache, streams, 2000, 500, rng) / 20
	}
	got := cache.Window(streams, time, 500, 2000).Rate() // one request a second in the mean
	steady := cache.Steady(streams, time).Rate()
	t.Logf("predicted %.4f, exact cache %.4f, steady %.4f", got, want, steady)
	if math.Abs(got-want) > 0.01 || math.Abs(steady-want) < 0.05 {
		t.Errorf("predicted %.4f, exact cache %.4f, steady %.4f", got, want, steady)
	}
	if long := cache.Window(streams, time, 1e8, 2e8).Rate(); math.Abs(long-steady) > 1e-6 {
		t.Errorf("a late window %.6f, steady %.6f", long, steady)
	}
}

// Keys in turn are not Poisson: the exact cache has always just lost what comes
// next, where the prediction sees a share of the keys that it holds.
func TestKeysInTurn(t *testing.T) {
	cache := Cache{BlockTokens: 16, Blocks: 60}
	streams := make([]Stream, 100)
	for i := range streams {
		streams[i] = Stream{Rate: 0.01, PromptTokens: 16, Context: 1}
	}
	got, at := cache.Steady(streams, cache.Time(streams)).Rate(), 0
	want := replayOrder(cache, streams, 4000, 400, rand.New(rand.NewPCG(6, 6)), func() int { at++; return at % len(streams) })
	if want != 0 || math.Abs(got-0.6) > 0.01 {
		t.Errorf("predicted %.3f, want 0.6; exact cache %.3f, want none", got, want)
	}
}

// Nothing is evicted, everything is, and a thinned walk is what thinning a walk
// comes to.
func TestEdges(t *testing.T) {
	streams := zipf(10, Stream{PromptTokens: 32, Context: 2})
	if time := (Cache{BlockTokens: 16, Blocks: 21}).Time(streams); !math.IsInf(time, 1) {
		t.Errorf("time %v for a cache that holds all", time)
	}
	small := Cache{BlockTokens: 16, Blocks: 5, Template: 5}
	if time := small.Time(streams); time != 0 {
		t.Errorf("time %v without room", time)
	}
	if got := (Cache{BlockTokens: 16, Blocks: 21}).Steady(streams, math.Inf(1)).Rate(); got != 1 {
		t.Errorf("hit %v of all that is held", got)
	}
	rng := rand.New(rand.NewPCG(7, 7))
	const stay, variants, share, n = 0.6, 5, 0.3, 400_000
	at, seen, same, looks := 0, 0, 0.0, 0.0
	for range n {
		if rng.Float64() >= stay {
			at = (at + 1 + rng.IntN(variants-1)) % variants
		}
		if rng.Float64() < share {
			if looks++; at == seen {
				same++
			}
			seen = at
		}
	}
	if got, want := Thinned(stay, variants, share), same/looks; math.Abs(got-want) > 0.006 {
		t.Errorf("thinned %.4f, a thinned walk stays with %.4f", got, want)
	}
}
