package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func infoOf(t *testing.T, text string, opt Options) *Info {
	t.Helper()
	r := mustOpen(t, text, opt)
	s, err := r.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.Info(r.Header())
}

// threeTurns share two blocks, one block and none.
const threeTurns = `arrival_s,input_tokens,output_tokens,block_tokens,block_ids,session,ttft_us,cached_tokens
10,48,1,16,1 2 3,a,100000,0
12,40,2,16,1 2 4,a,300000,24
16,40,0,16,1 5 6,b,,
17,40,0,16,9 2 3,b,,
`

func TestInfo(t *testing.T) {
	i := infoOf(t, threeTurns, Options{})
	near(t, "ideal hit", *i.IdealHit, (32.0+16)/168, 1e-12)
	near(t, "rate", i.MeanQPS, 3.0/7, 1e-12)
	near(t, "CV", *i.GapCV, math.Sqrt((4.0+16+1)/3/(7.0/3)/(7.0/3)-1), 1e-12)
	near(t, "observed cached share", *i.ObservedCached, 24.0/88, 1e-12)
	near(t, "observed TTFT", *i.ObservedTTFTS, 0.2, 1e-12)
	if i.Blocks != 12 || i.UniqueBlocks != 9 || i.Sessions != 2 || i.DistinctTimes != 4 || *i.SmallestGapS != 1 || i.Input.P50 != 40 || i.Input.P99 != 48 {
		t.Errorf("info %+v", i)
	}
	for d, want := range map[int]struct {
		keys  int64
		reuse float64
	}{1: {2, 1}, 2: {3, 2.0 / 3}, 3: {4, 0}, 16: {4, 0}} {
		if k := i.ByDepth[d-1]; k.Depth != d || k.Count != want.keys || math.Abs(*k.Reuse-want.reuse) > 1e-12 {
			t.Errorf("depth %d: %+v", d, k)
		}
	}
	var b bytes.Buffer
	if err := i.JSON(&b); err != nil || !json.Valid(b.Bytes()) {
		t.Errorf("%v: %s", err, &b)
	}
}

// TestProfile: a trace whose rate is constant has that rate in all bins, wherever
// in a bin it begins and ends, and whatever its clock can tell apart.
func TestProfile(t *testing.T) {
	for _, c := range []struct {
		first, gap, together, n int64
		bins                    int
		want                    float64
	}{
		{0, 10_000, 1, 687, 100, 100},
		{0, 10_000, 1, 687, 2, 100},
		{340_000, 10_000, 1, 687, 100, 100},
		{0, 1_000_000, 10, 70, 100, 10},
		{5_000_000, 1_000_000, 10, 70, 3, 10},
		{999_999, 1_000_000, 1, 5, 100, 1},
		{999_999, 0, 3, 3, 100, 3}, // without a gap, of a whole bin
	} {
		x := newTimes()
		for i := range c.n {
			x.add(c.first + i/c.together*c.gap)
		}
		x.finish()
		rates, _ := x.profile(c.bins)
		for i, got := range rates {
			near(t, fmt.Sprintf("%+v: bin %d of %d", c, i, len(rates)), got, c.want, 1e-6)
		}
	}
}

// What the trace does not tell is null in JSON and said in words, never 0.
func TestUnknownIsNotZero(t *testing.T) {
	i := infoOf(t, examples["vidur"], Options{})
	var b bytes.Buffer
	if err := i.JSON(&b); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"ideal_hit":null`, `"observed_cached_share":null`, `"keys_by_depth":null`} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("no %s in %s", part, &b)
		}
	}
	b.Reset()
	if err := i.Print(&b); err != nil || !strings.Contains(b.String(), "ideal hit: unknown") {
		t.Errorf("%v: %s", err, &b)
	}
}

// In any order of the rows the figures are the same, but for the count of those
// out of order.
func TestOrderOfRowsDoesNotMatter(t *testing.T) {
	const seed = 5
	rng := rand.New(rand.NewPCG(seed, 0))
	var rows []string
	for i := range 500 {
		rows = append(rows, fmt.Sprintf("%d.%03d,%d,%d,16,%d %d,s%d", i, rng.IntN(1000), 17+rng.IntN(15), rng.IntN(9), rng.IntN(3), rng.IntN(9), rng.IntN(40)))
	}
	original := slices.Clone(rows)
	text := func() string {
		return "arrival_s,input_tokens,output_tokens,block_tokens,block_ids,session\n" + strings.Join(rows, "\n")
	}
	for name, opt := range map[string]Options{"all": {}, "window": {From: 100, To: 300}, "half of the keys": {Keep: 0.5}, "a quarter of the sessions": {Keep: 0.25, Key: "session"}} {
		want := infoOf(t, text(), opt)
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		got := infoOf(t, text(), opt)
		if got.OutOfOrder == 0 || name == "all" && want.OutOfOrder != 0 {
			t.Errorf("%s: seed %d: %d and %d rows out of order", name, seed, want.OutOfOrder, got.OutOfOrder)
		}
		got.OutOfOrder, got.Header.SHA256 = want.OutOfOrder, want.Header.SHA256
		// Which of two prompts comes first in a file is no matter, but they need
		// not be as long: sums may differ in the last bit.
		near(t, "ideal hit", *got.IdealHit, *want.IdealHit, 1e-12)
		var a, b bytes.Buffer
		got.IdealHit = want.IdealHit
		for d := range got.ByDepth {
			near(t, "reuse", *got.ByDepth[d].Reuse, *want.ByDepth[d].Reuse, 1e-9)
			got.ByDepth[d].Reuse = want.ByDepth[d].Reuse
		}
		if err := got.JSON(&a); err != nil {
			t.Fatal(err)
		}
		if err := want.JSON(&b); err != nil {
			t.Fatal(err)
		}
		if a.String() != b.String() {
			t.Errorf("%s: seed %d:\n%s\n%s", name, seed, &a, &b)
		}
		copy(rows, original)
	}
}

// The ideal hit is that of the order of arrival; where rows come too late for
// that, its bounds are told.
func TestIdealHitIsInOrderOfArrival(t *testing.T) {
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	const size, late = 24, 50 // no multiple of HitBlock: what a prompt loses depends on its match
	rows := make([]Row, 2000)
	for i := range rows {
		r := &rows[i]
		r.reset()
		r.At, r.Input, r.Known = int64(i), int32(1+rng.IntN(4*size)), true
		for d := range (int(r.Input) + size - 1) / size {
			r.Blocks = append(r.Blocks, uint64(rng.IntN(max(1, 500-499*d))))
		}
	}
	read := func(most int) (*Info, int64) {
		h := &Header{BlockTokens: size, Tail: "ceil", Dropped: map[string]int{}}
		s := newStats(KeyRule{})
		s.prefix.order.prompts = most
		for i := range rows {
			h.keep(&rows[i])
			s.add(h, &rows[i])
		}
		s.finish(h)
		return s.Info(h), s.prefix.strays
	}
	want, _ := read(1)
	for from := 0; from < len(rows); from += late {
		rng.Shuffle(late, func(i, j int) { rows[from+i], rows[from+j] = rows[from+j], rows[from+i] })
	}
	got, strays := read(late)
	if strays != 0 || got.HitRange != nil || got.OutOfOrder == 0 || *got.IdealHit != *want.IdealHit || *got.ByDepth[1].Reuse != *want.ByDepth[1].Reuse {
		t.Errorf("%d strays of %d rows out of order, ideal hit %v, wanted %v", strays, got.OutOfOrder, *got.IdealHit, *want.IdealHit)
	}
	got, strays = read(1)
	if strays == 0 || got.HitRange == nil || *got.IdealHit == *want.IdealHit || got.HitRange[0] > *want.IdealHit || got.HitRange[1] < *want.IdealHit {
		t.Errorf("%d strays, ideal hit %v in %v, wanted %v", strays, *got.IdealHit, got.HitRange, *want.IdealHit)
	}
	var b bytes.Buffer
	if err := got.Print(&b); err != nil || !strings.Contains(b.String(), "rows come too late") {
		t.Errorf("%v: %s", err, &b)
	}
}

func TestKeepTakesWholeKeys(t *testing.T) {
	var text strings.Builder
	text.WriteString("arrival_s,input_tokens,output_tokens,key\n")
	for i := range 20000 {
		fmt.Fprintf(&text, "%d,5,5,k%d\n", i, i%1000)
	}
	count := func(opt Options) map[string]int {
		rows, h := mustRead(t, text.String(), opt)
		if h.RowsRead != 20000 || h.RowsKept+h.Dropped[thinnedOut] != 20000 {
			t.Errorf("header %+v", h)
		}
		keys := map[string]int{}
		for _, r := range rows {
			keys[r.Key]++
		}
		return keys
	}
	some := count(Options{Keep: 0.3, Seed: 1})
	if len(some) < 250 || len(some) > 350 {
		t.Errorf("%d of 1000 keys, wanted about 300", len(some))
	}
	for key, n := range some {
		if n != 20 {
			t.Errorf("key %s has %d of its 20 requests", key, n)
		}
	}
	again, other := count(Options{Keep: 0.3, Seed: 1, Key: "field"}), count(Options{Keep: 0.3, Seed: 2})
	same := 0
	for key := range some {
		if again[key] != 20 {
			t.Errorf("key %s is not kept again", key)
		}
		if other[key] > 0 {
			same++
		}
	}
	if same == len(some) {
		t.Error("the seed has no say")
	}
}

// What does not fit in memory is estimated from a part, near the truth.
func TestTallyOfAPart(t *testing.T) {
	const seed, values = 7, 200000
	rng := rand.New(rand.NewPCG(seed, 0))
	all, part := newTally(math.MaxInt), newTally(1<<12)
	const frequent = math.MaxUint64 // by its bits not of the part
	for range 500 {
		part.add(frequent)
	}
	for range 3 * values {
		h := Chain(0, 0, uint64(rng.IntN(values)))
		all.add(h)
		part.add(h)
	}
	if len(part.counts) > 1<<12 || part.halved == 0 {
		t.Fatalf("%d counted, halved %d times", len(part.counts), part.halved)
	}
	if n, stands := part.add(frequent); n != 501 || stands != 1 || len(part.heavy) != 1 {
		t.Errorf("a frequent value: %d times, for %v, %d frequent ones", n, stands, len(part.heavy))
	}
	near(t, "different values", float64(part.different())/float64(all.different()), 1, 0.06)
	for h, n := range part.counts {
		if all.counts[h] != n {
			t.Fatalf("seed %d: a value that is kept occurred %d times, counted %d", seed, all.counts[h], n)
		}
	}
}

func TestTimesAreThoseOfTheSortedRows(t *testing.T) {
	const seed = 9
	rng := rand.New(rand.NewPCG(seed, 0))
	at := make([]int64, 5000)
	for i := range at {
		at[i] = rng.Int64N(1e12)
	}
	x, sorted := newTimes(), newTimes()
	for _, v := range at {
		x.add(v)
	}
	slices.Sort(at)
	for _, v := range at {
		sorted.add(v)
	}
	x.finish()
	sorted.finish()
	if x.cv() != sorted.cv() || x.distinct != sorted.distinct || x.least != sorted.least || sorted.inversions != 0 || x.inversions == 0 {
		t.Errorf("seed %d: %+v, sorted %+v", seed, x.cv(), sorted.cv())
	}
	rates, width := x.profile(100)
	sum := 0.0
	start, last := float64(at[0]/x.width*x.width)/1e6, float64(at[len(at)-1])/1e6
	gap := (last - float64(at[0])/1e6) / float64(x.distinct-1)
	for i, r := range rates {
		from := start + float64(i)*width
		sum += r * (min(from+width, last+gap) - max(from, float64(at[0])/1e6))
	}
	if len(rates) > 100 || len(rates) < 40 {
		t.Errorf("%d bins", len(rates))
	}
	near(t, "requests in the profile", sum, 5000, 1e-6)
}

// Beyond the bounds of memory figures are estimates, near the truth, and said to
// be; gaps that are lost make their CV unknown.
func TestEstimates(t *testing.T) {
	const seed = 13
	rng := rand.New(rand.NewPCG(seed, 0))
	var text strings.Builder
	text.WriteString("arrival_s,input_tokens,output_tokens,block_tokens,block_ids\n")
	for i := range 4000 {
		fmt.Fprintf(&text, "%d,160,1,16,%d %d", i^3, rng.IntN(300), rng.IntN(4))
		for range 8 {
			fmt.Fprintf(&text, " %d", rng.IntN(2))
		}
		text.WriteString("\n")
	}
	read := func(shrink func(s *Stats)) *Info {
		r := mustOpen(t, text.String(), Options{})
		s := newStats(KeyRule{})
		shrink(s)
		rows, err := collect(r)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			s.add(r.Header(), &rows[i])
		}
		s.finish(r.Header())
		return s.Info(r.Header())
	}
	exact := read(func(*Stats) {})
	part := read(func(s *Stats) {
		s.prefix.blocks.most = 2000
		for d := 1; d <= MaxDepth; d++ {
			s.prefix.byDepth[d].most = 200
		}
		s.times.reorder = 2
	})
	if exact.Estimated || !part.Estimated || exact.GapCV == nil || part.GapCV != nil {
		t.Errorf("seed %d: exact %v, CV %v; part %v, CV %v", seed, exact.Estimated, exact.GapCV, part.Estimated, part.GapCV)
	}
	near(t, "ideal hit", *part.IdealHit, *exact.IdealHit, 0.03)
	near(t, "different blocks", float64(part.UniqueBlocks)/float64(exact.UniqueBlocks), 1, 0.1)
	for d := range 3 {
		near(t, "keys", float64(part.ByDepth[d].Count)/float64(exact.ByDepth[d].Count), 1, 0.25)
		near(t, "Gini", part.ByDepth[d].Gini, exact.ByDepth[d].Gini, 0.06)
	}
	var b bytes.Buffer
	if err := part.Print(&b); err != nil || !strings.Contains(b.String(), "estimates from a part") || !strings.Contains(b.String(), "gap CV unknown") {
		t.Errorf("%v: %s", err, &b)
	}
}

// The keys of each rule, and what auto takes where the file states keys, where
// it has sessions, and where it has nothing.
func TestKeysOfStats(t *testing.T) {
	const plain = "arrival_s,input_tokens,output_tokens\n0,1,1\n1,1,1\n2,2,1\n"
	for _, c := range []struct {
		text, key, rule string
		count           int64
		top             float64
	}{
		{plain, "", "none (auto)", 1, 1},
		{plain, "prefix:2", "prefix:2", 3, 1.0 / 3}, // nothing is known of the prompts: each has a key of its own
		{threeTurns, "", "prefix:3 (auto)", 4, 0.25},
		{threeTurns, "session", "session", 2, 0.5},
		{threeTurns, "field:session", "field:session", 2, 0.5},
		{threeTurns, "prefix:1", "prefix:1", 2, 0.75},
		{strings.Replace(threeTurns, "block_tokens,block_ids", "x,y", 1), "", "session (auto)", 2, 0.5},
		{examples["csv"], "", "field (auto)", 2, 0.75},
		{examples["csv"], "field:region", "field:region", 2, 0.5},
		{examples["jsonl"], "", "field (auto)", 2, 0.5}, // one row states none
		{examples["mooncake-dynamo"], "field:request_id", "field:request_id", 2, 0.5},
	} {
		i := infoOf(t, c.text, Options{Key: c.key})
		if i.KeyRule != c.rule || i.Keys.Count != c.count || math.Abs(i.Keys.TopShare-c.top) > 1e-12 {
			t.Errorf("%q of %.40q: %s, %+v", c.key, c.text, i.KeyRule, i.Keys)
		}
	}
}
