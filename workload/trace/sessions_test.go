package trace

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Conversations of WEKA: ids are local to one, sub-agents are sessions of their
// own that share its ids, and times are from its drawn start.
func TestWEKA(t *testing.T) {
	rows, h := mustRead(t, examples["weka"], Options{SessionsPerS: 0.5, Seed: 3})
	if len(rows) != 4 || h.BlockTokens != 64 || h.Tail != "floor" || h.InSessions != 4 {
		t.Fatalf("%d rows, header %+v", len(rows), h)
	}
	a, b, agent, other := rows[0], rows[1], rows[2], rows[3]
	if a.Session != "c1" || b.Session != "c1" || !strings.HasPrefix(agent.Session, "c1/") || other.Session != "c2" {
		t.Errorf("sessions %q %q %q %q", a.Session, b.Session, agent.Session, other.Session)
	}
	if b.At-a.At != 9.5e6 || agent.At-a.At != 11e6 || b.Think != 7e6 || a.E2E != 2.5e6 || a.At == 0 {
		t.Errorf("times %+v %+v %+v", a, b, agent)
	}
	if !slices.Equal(a.Blocks, b.Blocks[:2]) || a.Blocks[0] == other.Blocks[0] || len(agent.Blocks) != 0 || !agent.Known {
		t.Errorf("blocks %v %v %v", a.Blocks, b.Blocks, other.Blocks)
	}
	again, _ := mustRead(t, examples["weka"], Options{SessionsPerS: 0.5, Seed: 3})
	seed, _ := mustRead(t, examples["weka"], Options{SessionsPerS: 0.5, Seed: 4})
	if again[3].At != other.At || seed[3].At == other.At {
		t.Error("the seed alone must decide when conversations start")
	}
	var many strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&many, `{"id": "%d", "requests": [{"t": 0, "in": 1, "out": 1, "hash_ids": []}]}`+"\n", i)
	}
	rows, _ = mustRead(t, many.String(), Options{SessionsPerS: 4})
	near(t, "mean time between starts", float64(rows[1999].At)/1e6/2000, 0.25, 0.02)
}

func TestLLMServingSim(t *testing.T) {
	rows, h := mustRead(t, examples["llmservingsim"], Options{})
	if len(rows) != 3 || h.BlockTokens != 16 || h.Unknown != 2 {
		t.Fatalf("%d rows, header %+v", len(rows), h)
	}
	if r := rows[0]; r.At != 1500 || !r.Known || len(r.Blocks) != 1 {
		t.Errorf("row %+v, wanted one whole block of its 20 token ids", r)
	}
	if a, b := rows[1], rows[2]; a.At != 2000000 || b.At != 2001000 || b.Think != 1000 || a.Think != Absent || a.Session != "s" || b.Turn != 1 || b.Input != 30 || b.Known {
		t.Errorf("session %+v, %+v", a, b)
	}
	// Equal token ids are equal blocks; one that differs changes its block and,
	// by the chain, all after it.
	line := func(ids string) string {
		return `{"arrival_time_ns": 1, "input_toks": 32, "output_toks": 3, "input_tok_ids": [` + ids + "]}\n"
	}
	one := strings.TrimSuffix(strings.Repeat("1,", 32), ",")
	rows, _ = mustRead(t, line(one)+line(one)+line("2"+one[1:]), Options{})
	if !slices.Equal(rows[0].Blocks, rows[1].Blocks) || rows[0].Blocks[0] == rows[2].Blocks[0] || rows[0].Blocks[1] != rows[2].Blocks[1] {
		t.Errorf("blocks %v, %v, %v", rows[0].Blocks, rows[1].Blocks, rows[2].Blocks)
	}
}

// Rows with new input only become whole prompts, once: turn 2 holds turn 1 and
// its answer, turn 3 both.
func TestMooncakeDelta(t *testing.T) {
	text := `{"session_id": "s", "timestamp": 0, "input_length": 1100, "output_length": 100, "hash_ids": [1, 2, 3]}
{"session_id": "other", "timestamp": 1, "input_length": 1100, "output_length": 100, "hash_ids": [1, 2, 3]}
{"session_id": "s", "timestamp": 9, "input_length": 300, "output_length": 50, "hash_ids": [4]}
{"session_id": "s", "timestamp": 19, "input_length": 500, "output_length": 0, "hash_ids": [5]}
{"timestamp": 20, "input_length": 5, "output_length": 5, "hash_ids": [9]}
`
	rows, h := mustRead(t, text, Options{Format: "mooncake-delta"})
	if h.InputKind != "delta (made full)" {
		t.Errorf("header %+v", h)
	}
	for i, want := range []struct {
		input  int32
		blocks int
	}{{1100, 3}, {1100, 3}, {1500, 3}, {2050, 5}, {5, 1}} {
		if r := rows[i]; r.Input != want.input || len(r.Blocks) != want.blocks {
			t.Errorf("row %d has %d tokens and blocks %v", i, r.Input, r.Blocks)
		}
	}
	if !slices.Equal(rows[2].Blocks[:2], []uint64{1, 2}) || rows[2].Blocks[2] == 3 || !slices.Equal(rows[3].Blocks[:3], rows[2].Blocks) {
		t.Errorf("blocks %v, then %v: wanted the whole blocks of the first turn, then the session's own", rows[2].Blocks, rows[3].Blocks)
	}
	whole, _ := mustRead(t, text, Options{})
	if whole[2].Input != 300 {
		t.Errorf("read as mooncake, turn 2 has %d tokens", whole[2].Input)
	}
}

// A parent that is not above its turn begins a session, which is said.
func TestBailianOrphans(t *testing.T) {
	text := `{"chat_id": 2, "parent_chat_id": 1, "timestamp": 1, "input_length": 16, "output_length": 1, "hash_ids": [7], "turn": 2}
{"chat_id": 3, "parent_chat_id": 2, "timestamp": 2, "input_length": 16, "output_length": 1, "hash_ids": [7], "turn": 3}
{"chat_id": 4, "parent_chat_id": 4, "timestamp": 3, "input_length": 16, "output_length": 1, "hash_ids": [7], "turn": 3}
`
	rows, h := mustRead(t, text, Options{})
	if rows[0].Session != "1" || rows[1].Session != "1" || rows[2].Session != "4" || len(h.Notes) != 1 {
		t.Errorf("sessions %q %q %q, notes %q", rows[0].Session, rows[1].Session, rows[2].Session, h.Notes)
	}
}

func TestRecentForgets(t *testing.T) {
	m := newRecent[int, int](10)
	for i := range 1000 {
		m.set(i, i)
		if v, ok := m.get(0); i < 900 && (!ok || v != 0) {
			t.Fatalf("an entry that is read is forgotten after %d", i)
		}
		if v, ok := m.get(max(0, i-3)); !ok || v != max(0, i-3) { // eight or so are used in between
			t.Fatalf("one of the last few is forgotten after %d", i)
		}
		if n := len(m.young) + len(m.old); n > 20 {
			t.Fatalf("%d entries", n)
		}
	}
	if _, ok := m.get(5); ok {
		t.Error("an old entry is still there")
	}
}

// Components of any length are cut into blocks: prompts share the blocks up to
// the first component that differs, and only there.
func TestRAGPulseWithLengths(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "week.jsonl")
	row := func(at, input int, passages, question string) string {
		return fmt.Sprintf(`{"timestamp": "%d", "input_length": %d, "output_length": 1, "hash_ids": {"sys_prompt": [0], "passages_ids": [%s], "user_input": [%s]}, "session_id": "u"}`+"\n", at, input, passages, question)
	}
	text := row(0, 20+40+30+5+7, "1, 2", "5") + row(1, 20+40+30+6, "1, 2", "") + row(2, 20+30+40, "2, 1", "")
	for file, text := range map[string]string{path: text, filepath.Join(dir, "week.lengths.csv"): "component,id,tokens\nsys_prompt,0,20\npassages_ids,1,40\npassages_ids,2,30\nuser_input,5,5\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rows, h, err := readFile(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if h.IDKind != "component" || h.BlockTokens != 16 || len(rows) != 3 {
		t.Fatalf("header %+v", h)
	}
	a, b, c := rows[0].Blocks, rows[1].Blocks, rows[2].Blocks
	if len(a) != 95/16 || len(b) != 90/16 || len(c) != 90/16 {
		t.Errorf("%d, %d and %d blocks", len(a), len(b), len(c))
	}
	if !slices.Equal(a[:5], b) || a[0] != c[0] || a[1] == c[1] || slices.Contains(a[1:], c[2]) {
		t.Errorf("blocks %v, %v, %v", a, b, c)
	}
	for want, line := range map[string]string{
		"week.jsonl:1: read components of 60 tokens for 50 input tokens": row(0, 50, "1", ""),
		"week.jsonl:1: \"passages_ids\": read id 9, which has no length": row(0, 50, "9", ""),
	} {
		if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := readFile(path, Options{})
		wantError(t, err, want)
	}
}
