package engine

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cacheroute/sim/clock"
)

// The table gives back what is bilinear, inside its grids and beyond their last
// values, and stays level before the first.
func TestTableFormula(t *testing.T) {
	// decode = 5 + 0.1 n + 2e-4 n L, prefill = 4 + 0.05 P + 1e-6 P(2X+P) at a
	// few P only: linear between them.
	var points []TablePoint
	for _, n := range []int{1, 7, 64} {
		for _, l := range []int{100, 333, 5000} {
			points = append(points, TablePoint{n, 0, l, 5 + 0.1*float64(n) + 2e-4*float64(n)*float64(l)})
		}
	}
	prefill := func(p, x float64) float64 { return 4 + 0.05*p + 1e-6*p*(2*x+p) }
	chunks := []int{16, 512, 2048, 8192}
	for _, p := range chunks {
		for _, x := range []int{0, 1000, 30000} {
			points = append(points, TablePoint{0, p, x, prefill(float64(p), float64(x))})
		}
	}
	spec := &Table{Points: points}
	if err := spec.Check(); err != nil {
		t.Fatal(err)
	}
	m := spec.Build()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "n")
		context := rapid.Int64Range(0, int64(n)*9000).Draw(t, "context")
		l := math.Max(100, float64(context)/float64(n))
		decode := 5 + 0.1*float64(n) + 2e-4*float64(n)*l
		near(t, "decode", m.StepTime(Batch{Decodes: n, DecodeContext: context}), decode, l)

		p := float64(rapid.SampledFrom(chunks[1:]).Draw(t, "tokens"))
		parts := rapid.Int64Range(1, 4).Draw(t, "chunks") // of equal length, P together
		x := rapid.Int64Range(0, 50000).Draw(t, "before")
		each := int64(p) / parts
		b := Batch{Prefill: int64(p), PrefillWork: parts*each*(2*x+each) + (int64(p)-parts*each)*(2*x+1)}
		work := float64(b.PrefillWork)
		near(t, "prefill", m.StepTime(b), 4+0.05*p+1e-6*work, 10)
		b.Decodes, b.DecodeContext = n, context
		smallest := prefill(16, 0)
		near(t, "mixed", m.StepTime(b), 4+0.05*p+1e-6*work+decode-smallest, l)

		between := rapid.Float64Range(0, 1).Draw(t, "place")
		q := 512 + math.Round(between*(2048-512))
		part := (q - 512) / (2048 - 512)
		near(t, "between chunks", m.StepTime(Batch{Prefill: int64(q), PrefillWork: int64(q * (2*1000 + q))}),
			prefill(512, 1000)*(1-part)+prefill(2048, 1000)*part, 10)
		near(t, "below the first chunk", m.StepTime(Batch{Prefill: 3, PrefillWork: 9}), smallest, 0)
	})
}

const pointsCSV = `# A100, 2024
step_ms, decode_sequences, prefill_tokens, mean_context_tokens, note
5,1,,100,x
6,8,0,100,
9.5,,512,0,
`

func TestTableReadsCSV(t *testing.T) {
	path := filepath.Join(t.TempDir(), "steps.csv")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("\ufeff" + strings.TrimPrefix(pointsCSV, "# A100, 2024\n"))
	spec := &Table{File: path}
	if err := spec.Check(); err != nil {
		t.Fatal(err)
	}
	spec.Build() // before Read: a caller may still ask for one
	if err := spec.Read(); err != nil {
		t.Fatal(err)
	}
	want := (&Table{Points: []TablePoint{{1, 0, 100, 5}, {8, 0, 100, 6}, {0, 512, 0, 9.5}}}).Build()
	if got := spec.Build(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, c := range []struct{ from, to, want string }{
		{"step_ms,", "ms,", "steps.csv:1: no column step_ms"},
		{"6,8", "6,eight", `steps.csv:4: decode_sequences: read "eight"`},
		{"6,8", "1e3s,8", `steps.csv:4: step_ms: read "1e3s"`},
		{"6,8", "NaN,8", "steps.csv:4: step_ms: must be"},
		{"6,8,0", "6,8,1", "steps.csv:4: decode_sequences: give either"},
		{"6,8", "4,8", "steps.csv: the step of decode_sequences 8"},
		{"6,8,0", "6,8", "line 4"},
		{"9.5,,512,0,\n", "", "steps.csv: no step with prefill_tokens"},
		{"6,8,0,100", "6,8,0,200", "steps.csv: no step of decode_sequences 1 at mean_context_tokens 200"},
		{"6,8", "6,1", "steps.csv: two steps of decode_sequences 1"},
		{pointsCSV, "", "no header"},
	} {
		bad := strings.Replace(pointsCSV, c.from, c.to, 1)
		if bad == pointsCSV {
			t.Fatalf("no %q", c.from)
		}
		write(bad)
		if err := spec.Read(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.to, err, c.want)
		}
	}
}

// Noise is levelled: a larger step is not faster.
func TestTableLevelsNoise(t *testing.T) {
	spec := &Table{Points: []TablePoint{{1, 0, 0, 5}, {4, 0, 0, 4.9}, {0, 1, 0, 6}}}
	if err := spec.Check(); err != nil {
		t.Fatal(err)
	}
	if got := spec.Build().StepTime(Batch{Decodes: 4}); got != 5*clock.Millisecond {
		t.Errorf("4 sequences take %v, want what one takes", got)
	}
}
