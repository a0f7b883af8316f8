package scenarios

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const steps = `decode_sequences,prefill_tokens,mean_context_tokens,step_ms
1,,0,7
256,,0,14
1,,4096,7.2
256,,4096,60
,16,0,7
,8192,0,170
`

// TestTableOfAFile runs a study whose step costs are a file beside it: the file
// is read once, hashed with the inputs, and its mistakes name its line.
func TestTableOfAFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("study.yaml", strings.Replace(small, "preset:", "cost: {name: table, file: steps.csv}, client_overhead_s: 2, ttft_overhead_s: 0, preset:", 1))
	write("steps.csv", steps)
	load := func() (*Runner, error) {
		s, err := Load(filepath.Join(dir, "study.yaml"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return Prepare(s, nil)
	}
	r, err := load()
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, "steps.csv"); len(r.inputs) != 1 || r.inputs[0].Name != want {
		t.Errorf("inputs %+v, want %s", r.inputs, want)
	}
	cell, _, err := r.Run(context.Background(), r.Cell(0), &Tally{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Five tokens of 7 ms each and 120 prompt tokens at 0.02 ms, then 2 s.
	if cell.Completed == 0 || !(cell.TPOTMean > 0.007 && cell.TPOTMean < 0.01) || !(cell.E2EMean > 2.035 && cell.E2EMean < 2.06) || !(cell.TTFTMean < 0.03) {
		t.Errorf("%d requests, TPOT %v, TTFT %v, E2E %v s", cell.Completed, cell.TPOTMean, cell.TTFTMean, cell.E2EMean)
	}
	for _, c := range []struct{ from, to, want string }{
		{"60", "sixty", `steps.csv:5: step_ms: read "sixty", wanted a number`},
		{",60", ",6", "steps.csv: the step of decode_sequences 256 at mean_context_tokens 4096 takes 6 ms, a smaller one 14 ms"},
	} {
		write("steps.csv", strings.Replace(steps, c.from, c.to, 1))
		if _, err := load(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	os.Remove(filepath.Join(dir, "steps.csv"))
	if _, err := load(); err == nil || !strings.Contains(err.Error(), "steps.csv: ") {
		t.Errorf("no file: %v", err)
	}
}
