package trace

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// published is the folder of published traces, beside the project where it
// exists.
var published = filepath.Join("..", "..", "..", "shared", "data", "traces")

// Figures of published traces, as the folder of the data states them.
func TestPublishedTraces(t *testing.T) {
	if _, err := os.Stat(published); err != nil {
		t.Skip("no folder ../shared/data/traces beside the project: the published traces are not read")
	}
	for _, c := range []struct {
		file                 string
		rows                 int
		rate, cv, in, out    float64
		hit                  float64 // NaN: unknown
		blocks, unique, keys int64
	}{
		{"mooncake-fast25/conversation_trace.jsonl", 12031, 3.4012, 3.034, 12035.1, 342.6, 0.3736, 288500, 182790, 7373},
		{"mooncake-fast25/synthetic_trace.jsonl", 3993, 3.9060, 1.011, 15325.5, 149.1, 0.6512, 121877, 43924, 2211},
		{"azure-llm-2023/AzureLLMInferenceTrace_code.csv", 8819, 2.5664, 13.151, 2047.8, 27.9, math.NaN(), 0, 0, 1},
	} {
		r, err := Open(context.Background(), filepath.Join(published, c.file), Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := r.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		i := s.Info(r.Header())
		if i.Header.RowsKept != c.rows || i.Blocks != c.blocks || i.UniqueBlocks != c.unique || i.Keys.Count != c.keys || i.Estimated {
			t.Errorf("%s: %d rows, %d blocks, %d different, %d keys", c.file, i.Header.RowsKept, i.Blocks, i.UniqueBlocks, i.Keys.Count)
		}
		near(t, "rate", i.MeanQPS, c.rate, 5e-5)
		near(t, "CV", *i.GapCV, c.cv, 5e-4)
		near(t, "input", i.Input.Mean, c.in, 0.05)
		near(t, "output", i.Output.Mean, c.out, 0.05)
		if math.IsNaN(c.hit) != (i.IdealHit == nil) {
			t.Errorf("%s: ideal hit %v", c.file, i.IdealHit)
		} else if i.IdealHit != nil {
			near(t, "ideal hit", *i.IdealHit, c.hit, 5e-5)
		}
	}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %v, wanted %v +- %v", what, got, want, tolerance)
	}
}

// The rows that BurstGPT's documents quote, in both layouts.
func TestPublishedBurstGPTRows(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(published, "burstgpt-excerpt", "burstgpt_published_rows.txt"))
	if err != nil {
		t.Skip("no excerpt of BurstGPT beside the project")
	}
	var parts []string
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, "#"):
			parts = append(parts, "")
		case len(parts) > 0:
			parts[len(parts)-1] += line
		}
	}
	for i, want := range []struct {
		rows, sessions int
		input          int32
	}{{3, 0, 472}, {4, 4, 906}} {
		rows, h := mustRead(t, parts[i], Options{})
		if len(rows) != want.rows || h.InSessions != want.sessions || rows[0].Input != want.input || h.Format != "burstgpt" {
			t.Errorf("part %d: %+v", i, h)
		}
	}
}
