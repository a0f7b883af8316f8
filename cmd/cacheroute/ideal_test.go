package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cacheroute/results"
	"cacheroute/workload"
	"cacheroute/workload/trace"
)

// What one server serves from an unlimited cache is the ideal hit that the
// reader states, whatever says what prompts share: ids that cover all of a
// prompt or a part, components of conversations, or a model of the user.
func TestServedHitIsTheIdealHit(t *testing.T) {
	const seed = 21
	rng := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	var rows, turns, talks strings.Builder
	rows.WriteString("arrival_s,input_tokens,output_tokens,block_tokens,block_ids\n")
	turns.WriteString("arrival_s,session,input_tokens,output_tokens\n")
	length := map[int]int{}
	for i := range 150 {
		input := 20 + rng.IntN(200)
		var ids []string
		for range rng.IntN(input/16 + 1) {
			ids = append(ids, fmt.Sprint(rng.IntN(3)))
		}
		fmt.Fprintf(&rows, "%d,%d,%d,16,%s\n", 5*i, input, 1+rng.IntN(20), strings.Join(ids, " "))
		session := rng.IntN(20)
		length[session] += 30 + rng.IntN(100)
		if length[session] > 900 {
			length[session] = 50 // the history is cut
		}
		fmt.Fprintf(&turns, "%d,s%d,%d,%d\n", 5*i, session, length[session], 1+rng.IntN(20))
		blocks := strings.TrimSuffix(strings.Repeat("1, 2, ", 1+rng.IntN(3)), ", ")
		n := 64 * (1 + strings.Count(blocks, ","))
		fmt.Fprintf(&talks, `{"id": "c%d", "requests": [{"t": 0, "in": %d, "out": 2, "hash_ids": [%s]}, {"t": 30, "in": %d, "out": 2, "hash_ids": [%s, 9]}]}`+"\n", i, n+rng.IntN(64), blocks, n+64+rng.IntN(64), blocks)
	}
	dir := t.TempDir()
	for _, c := range []struct {
		name, text string
		opt        workload.TraceOptions
		flags      []string
	}{
		{"rows.csv", rows.String(), workload.TraceOptions{}, nil},
		{"turns.csv", turns.String(), workload.TraceOptions{Options: trace.Options{Key: "session"}, Prompt: &workload.PromptModel{TemplateTokens: 33, KeyTokens: 40, History: true}},
			[]string{"--key", "session", "--assume", "template=33,key=40,history"}},
		{"talks.jsonl", talks.String(), workload.TraceOptions{Options: trace.Options{SessionsPerS: 0.2}}, []string{"--sessions-per-s", "0.2"}},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		read, err := workload.ReadTrace(path, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		cell := replayHits(t, path, "flat-lb", c.flags...)
		if want := results.Float(read.Header().IdealHit); cell.KVHit != want || want < 0.05 {
			t.Errorf("%s: served hit %v, the ideal is %v", c.name, cell.KVHit, want)
		}
	}
}
