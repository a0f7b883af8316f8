package workload

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// Figures of the published Mooncake traces (FAST'25), as the folder of the data
// states them.
func TestPublishedMooncakeTraces(t *testing.T) {
	folder := filepath.Join("..", "..", "shared", "data", "traces", "mooncake-fast25")
	if _, err := os.Stat(folder); err != nil {
		t.Skip("no folder ../shared/data/traces beside the project: the published traces are not read")
	}
	for _, c := range []struct {
		file                                       string
		rows, keys1, keys2, distinct, resolutionMS int
		rate, cv, gini, top, input, output         float64
		whole, partial                             float64 // ideal hit of 512-token blocks; of 16-token blocks
		auto                                       string
	}{
		{"conversation_trace.jsonl", 12031, 1, 7373, 1180, 2998, 3.4012, 3.034, 0.315, 0.0036, 12035.1, 342.6, 0.3734, 0.3736, "prefix:2 (auto)"},
		{"synthetic_trace.jsonl", 3993, 2211, 0, 3982, 1, 3.9060, 1.011, 0.396, 0.006, 15325.5, 149.1, 0.6504, 0.6512, "prefix:1 (auto)"},
	} {
		path := filepath.Join(folder, c.file)
		trace, blocks, err := readTree(path, TraceOptions{})
		if err != nil {
			t.Fatal(err)
		}
		h := trace.Header()
		if h.RowsRead != c.rows || h.RowsKept != c.rows || h.Failed != 0 || h.Inversions != 0 || h.DistinctTimes != c.distinct || h.KeyRule != c.auto {
			t.Errorf("%s: header %+v", c.file, h)
		}
		if ms := int(h.ResolutionUS / 1000); ms != c.resolutionMS {
			t.Errorf("%s: resolution %d ms", c.file, ms)
		}
		near(t, "rate", h.QPS, c.rate, 5e-5)
		near(t, "CV", h.Figures.GapCV, c.cv, 5e-4)
		near(t, "Gini", h.Figures.Gini, c.gini, 5e-4)
		near(t, "top key", h.Figures.TopShare, c.top, 1e-4)
		near(t, "input", h.Figures.PromptTokens, c.input, 0.05)
		near(t, "output", h.Figures.OutputTokens, c.output, 0.05)
		near(t, "ideal hit, blocks of 16", h.IdealHit, c.partial, 1e-4)
		cached, prompt := blocks.idealHit(trace.rows, 512)
		near(t, "ideal hit, blocks of 512", float64(cached)/float64(prompt), c.whole, 5e-5)
		if want := countHits(t, path, 16); h.IdealHit != want {
			t.Errorf("%s: ideal hit %v, counted over the file %v", c.file, h.IdealHit, want)
		}
		for depth, keys := range map[string]int{"prefix:1": c.keys1, "prefix:2": c.keys2} {
			again, err := ReadTrace(path, spreadKeys(depth))
			if err != nil {
				t.Fatal(err)
			}
			if keys != 0 && again.Keys() != keys {
				t.Errorf("%s: %s gives %d keys, wanted %d", c.file, depth, again.Keys(), keys)
			}
			if cv := again.Header().Figures.GapCV; math.Abs(cv-1) > 0.05 {
				t.Errorf("%s: CV %v after spreading, wanted about 1", c.file, cv)
			}
		}
	}
}

// countHits counts over the file itself: the recorded ids name chained blocks,
// so the first id that is new ends the common prefix.
func countHits(t *testing.T, path string, block int) float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen := map[uint64]bool{}
	var cached, total int
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var row struct {
			Input int      `json:"input_length"`
			IDs   []uint64 `json:"hash_ids"`
		}
		if err := json.Unmarshal(in.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		hit := 0
		for hit < len(row.IDs) && seen[row.IDs[hit]] {
			hit++
		}
		for _, id := range row.IDs {
			seen[id] = true
		}
		tokens := min(hit*512, row.Input)
		cached += min(tokens/block*block, (row.Input-1)/block*block)
		total += row.Input
	}
	return float64(cached) / float64(total)
}
