package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cacheroute/results"
)

// row is a line of a Mooncake trace, read here without the product's reader.
type row struct {
	Input int64    `json:"input_length"`
	IDs   []uint64 `json:"hash_ids"`
}

// countHits is what one server with an unlimited cache and blocks of 16 tokens
// can reuse: of each prompt the longest prefix that an earlier prompt shares
// (ids are chained, so an id that occurred names the whole prefix), in whole
// blocks, and never the last token.
func countHits(t *testing.T, path string) (hit, prompt int64) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	type block struct {
		id     uint64
		tokens int64
	}
	seen := map[block]bool{}
	for line := range strings.Lines(string(data)) {
		var r row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		shared, known := int64(0), true
		for i, id := range r.IDs {
			b := block{id, min(512, r.Input-512*int64(i))}
			if known = known && seen[b]; known {
				shared += b.tokens
			}
			seen[b] = true
		}
		hit += min(shared/16, (r.Input-1)/16) * 16
		prompt += r.Input
	}
	return hit, prompt
}

// replayHits replays the trace on one destination that never evicts.
func replayHits(t *testing.T, path, policy string, more ...string) results.Cell {
	var stdout, stderr bytes.Buffer
	code := run(context.Background(), append([]string{"replay", path, "--destinations", "1", "--set", "fleet.kv_blocks=40000000",
		"--policies", policy, "--seeds", "2", "--json", "--out", t.TempDir()}, more...), &stdout, &stderr)
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	var s results.Summary
	if err := json.Unmarshal(stdout.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	return s.Cells[0]
}

func checkHits(t *testing.T, path, policy string) {
	hit, prompt := countHits(t, path)
	cell := replayHits(t, path, policy)
	if want := results.Float(float64(hit) / float64(prompt)); cell.KVHit != want {
		t.Errorf("%s: served hit %v, an independent count gives %v (%d of %d tokens)", policy, cell.KVHit, want, hit, prompt)
	}
	t.Logf("%s: %d of %d prompt tokens, %.4f", filepath.Base(path), hit, prompt, float64(cell.KVHit))
}

// The served hit equals an independent count to the token: on random chains
// that branch, repeat and end on and off a border, and on the published traces.
func TestReplayHitsEqualCount(t *testing.T) {
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, 0))
	var text strings.Builder
	var prompts [][]uint64
	next := uint64(1)
	for i := range 400 {
		var ids []uint64
		if len(prompts) > 0 && rng.IntN(4) > 0 {
			p := prompts[rng.IntN(len(prompts))]
			ids = append(ids, p[:1+rng.IntN(len(p))]...)
		}
		for range 1 + rng.IntN(4) {
			ids = append(ids, next)
			next++
		}
		input := 512 * len(ids)
		if rng.IntN(3) > 0 {
			input -= rng.IntN(512) // a partial last block has an id of its own, as in the published files
		}
		list, _ := json.Marshal(ids)
		line := fmt.Sprintf(`{"timestamp": %d, "input_length": %d, "output_length": %d, "hash_ids": %s}`+"\n", 40*i, input, 1+rng.IntN(50), list)
		text.WriteString(line)
		if rng.IntN(8) == 0 {
			text.WriteString(line) // the same prompt again, at the same instant
		}
		if input%512 != 0 {
			ids = ids[:len(ids)-1]
		}
		if len(ids) > 0 {
			prompts = append(prompts, ids)
		}
	}
	path := filepath.Join(t.TempDir(), "random.jsonl")
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Logf("seed %d", seed)
	for _, policy := range []string{"flat-lb", "cacheroute"} {
		checkHits(t, path, policy)
	}
	for _, name := range []string{"conversation", "synthetic"} {
		path := filepath.Join("..", "..", "..", "shared", "data", "traces", "mooncake-fast25", name+"_trace.jsonl")
		if _, err := os.Stat(path); err != nil {
			t.Logf("the published %s trace is not here: skipped", name)
			continue
		}
		checkHits(t, path, "cacheroute")
	}
}
