package calib

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWritePreset writes a fit and loads it from a file: the same numbers, with
// their origins and the facts of the bench.
func TestWritePreset(t *testing.T) {
	for _, form := range FitForms() {
		f := exactFit(t, form)
		var text bytes.Buffer
		if err := f.WritePreset(&text); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "p.yaml")
		if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := Load(path)
		if err != nil {
			t.Fatalf("%v\n%s", err, &text)
		}
		if p.CostName != form || p.Blocks != f.KVBlocks || p.MaxBatchedTokens != 8192 || math.Abs(p.TTFTOverheadS-f.Overhead.Value) > 1e-6 || p.PeakPrefillMS == 0 {
			t.Errorf("loaded %+v from\n%s", p, &text)
		}
		if p.Bench.Facts != f.Facts || p.Bench.Setup != f.Setup {
			t.Errorf("bench %+v, want %+v of %+v", p.Bench, f.Facts, f.Setup)
		}
		for _, a := range p.Assumptions {
			if fitted := strings.HasPrefix(a.Parameter, "cost."); fitted && (a.Origin != "fitted" || !strings.Contains(a.Source, "runs of runs.csv: 99 % interval")) {
				t.Errorf("%s: origin %s, source %q", a.Parameter, a.Origin, a.Source)
			}
		}
	}
}

// TestLoadFile breaks a preset file and wants file and line named.
func TestLoadFile(t *testing.T) {
	good, err := presets.ReadFile("presets/llama-3.3-70b-fp8-h100-tp2.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, c := range []struct{ from, to, want string }{
		{"block_tokens: {value: 16", "block_tokens: {value: sixteen", "p.yaml:9: read !!str `sixteen`, wanted a preset"},
		{"max_num_seqs: {value: 256", "max_num_seqs: {value: 0", "p.yaml:"},
		{"  sequence_ms:", "  sequences_ms:", "sequences_ms"},
		{"cost:", "cost: [", "p.yaml:"},
	} {
		bad := strings.Replace(string(good), c.from, c.to, 1)
		if bad == string(good) {
			t.Fatalf("the preset does not hold %q", c.from)
		}
		path := filepath.Join(dir, "p.yaml")
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), path+":") {
			t.Errorf("%s: error %v, want %q", c.to, err, c.want)
		}
	}
	for path, want := range map[string]string{dir + "/": "is a directory", filepath.Join(dir, "none.yaml"): "none.yaml: no such file"} {
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", path, err, want)
		}
	}
}
