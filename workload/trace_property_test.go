package workload

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cacheroute/sim/clock"
	"cacheroute/workload/trace"
)

// drawTrace makes rows that share prefixes of blocks of 8 tokens.
func drawTrace(t *rapid.T) (text string, prompts [][]uint64) {
	var b strings.Builder
	n := rapid.IntRange(2, 25).Draw(t, "rows")
	for i := range n {
		var ids []uint64
		if i > 0 && rapid.Bool().Draw(t, "extends") {
			before := prompts[rapid.IntRange(0, i-1).Draw(t, "row")]
			ids = slices.Clone(before[:rapid.IntRange(0, len(before)).Draw(t, "keep")])
		}
		for range rapid.IntRange(0, 5).Draw(t, "more") {
			ids = append(ids, rapid.Uint64Range(0, 3).Draw(t, "id"))
		}
		if len(ids) == 0 {
			ids = append(ids, 0)
		}
		prompts = append(prompts, ids)
		last := rapid.SampledFrom([]int{8, 8, 8, 3}).Draw(t, "last")
		fmt.Fprintln(&b, moonLine(i*7, 8*len(ids)-8+last, 1, ids...))
	}
	return b.String(), prompts
}

// tokenNames is the dumb version of a prompt: a name for each token, which is
// the recorded blocks up to and with its own, and its place.
func tokenNames(ids []uint64, input, block int) (names []string) {
	for i := range input {
		b := i / block
		size := min(block, input-b*block)
		names = append(names, fmt.Sprint(ids[:b+1], size, i))
	}
	return names
}

func common(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// sharedTokens is the same by the rules of Segment.
func sharedTokens(a, b []Segment) (n int) {
	for i := range min(len(a), len(b)) {
		if a[i].ID != b[i].ID || a[i].ID == 0 {
			break
		}
		n += int(min(a[i].Tokens, b[i].Tokens))
		if a[i].Tokens != b[i].Tokens {
			break
		}
	}
	return n
}

func TestSegmentsShareWhatBlocksShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, prompts := drawTrace(t)
		trace, blocks, err := readTextTree(text, blocksOf(8))
		if err != nil {
			t.Fatal(err)
		}
		source, err := trace.Open(1, clock.Streams{})
		if err != nil {
			t.Fatal(err)
		}
		requests := take(source, len(prompts))
		var names [][]string
		cached, total := 0, 0
		for i, r := range requests {
			checkRequest(t, &r, trace.Keys())
			names = append(names, tokenNames(prompts[i], int(r.PromptTokens), 8))
			best := 0
			for j := range i {
				want := common(names[i], names[j])
				if got := sharedTokens(r.Prompt, requests[j].Prompt); got != want {
					t.Fatalf("rows %d and %d share %d tokens, wanted %d: %+v %+v", j, i, got, want, requests[j].Prompt, r.Prompt)
				}
				best = max(best, want)
			}
			cached += min(best/4*4, (int(r.PromptTokens)-1)/4*4)
			total += int(r.PromptTokens)
		}
		if c, p := blocks.idealHit(trace.rows, 4); int(c) != cached || int(p) != total {
			t.Fatalf("ideal hit %d of %d, wanted %d of %d", c, p, cached, total)
		}
	})
}

func BenchmarkReadTrace(b *testing.B) {
	var rows []string
	for i := range 2000 {
		ids := []uint64{0}
		for j := range 23 {
			ids = append(ids, uint64(1+i*23+j))
		}
		rows = append(rows, moonLine(i*300, 12000, 300, ids...))
	}
	text := strings.Join(rows, "\n")
	path := filepath.Join(b.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadTrace(path, TraceOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// What one pass in bounded memory says of a trace is what the tree of its blocks
// says: the ideal hit, the keys of each rule and the depth that auto takes.
func TestOnePassAgreesWithTheTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, _ := drawTrace(t)
		opt := blocksOf(8)
		opt.Key = rapid.SampledFrom([]string{"auto", "prefix:1", "prefix:3", "none", "session"}).Draw(t, "key")
		tree := mustRead(t, text, opt)
		path := filepath.Join(os.TempDir(), fmt.Sprintf("one-pass-%d.jsonl", os.Getpid()))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(path)
		info, err := readInfo(path, opt.Options)
		if err != nil {
			t.Fatal(err)
		}
		h := tree.Header()
		if info.KeyRule != h.KeyRule || int(info.Keys.Count) != tree.Keys() || math.Abs(info.Keys.Gini-h.Figures.Gini) > 1e-12 ||
			info.Keys.TopShare != h.Figures.TopShare || *info.IdealHit != h.IdealHit || info.MeanQPS != h.QPS {
			t.Fatalf("one pass: %s %+v, hit %v; the tree: %s %+v, hit %v", info.KeyRule, info.Keys, *info.IdealHit, h.KeyRule, h.Figures, h.IdealHit)
		}
	})
}

func readInfo(path string, opt trace.Options) (*trace.Info, error) {
	r, err := trace.Open(context.Background(), path, opt)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	s, err := r.Stats(context.Background())
	if err != nil {
		return nil, err
	}
	return s.Info(r.Header()), nil
}
