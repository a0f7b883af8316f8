package calib

import (
	"strings"
	"testing"
)

// TestPresets loads every shipped preset: each is complete, named as its file,
// carries an origin for every number, and its fastest prefill stays below the
// hardware's peak (Parse refuses the rest).
func TestPresets(t *testing.T) {
	if len(Names()) < 4 {
		t.Fatalf("presets: %v", Names())
	}
	for _, name := range Names() {
		p, err := Load(name)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if p.Name != name || p.Description == "" {
			t.Errorf("%s: calls itself %q, described as %q", name, p.Name, p.Description)
		}
		if want := 11; len(p.Assumptions) != want {
			t.Errorf("%s: %d numbers, want %d", name, len(p.Assumptions), want)
		}
	}
}

func TestMeasuredBlocks(t *testing.T) {
	p, err := Load("llama-3.3-70b-fp8-h100-tp2")
	if err != nil {
		t.Fatal(err)
	}
	if p.Blocks != 40071 {
		t.Errorf("KV blocks %d, the paper measured 40071 (section 4)", p.Blocks)
	}
	if got := PrefillSecondsPerToken(p.Cost.Build()); got < 75.5e-6 || got > 75.7e-6 {
		t.Errorf("prefill %v s a token, want 75.6e-6", got)
	}
}

func TestLoadUnknown(t *testing.T) {
	_, err := Load("gpt")
	if err == nil || !strings.Contains(err.Error(), "paper-70b-fp8") {
		t.Errorf("error %v, want a list of the presets", err)
	}
}

func TestParseRefuses(t *testing.T) {
	good, err := presets.ReadFile("presets/llama-3.3-70b-fp8-h100-tp2.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, from, to, want string }{
		{"beats the peak", "prefill_token_ms: {value: 0.0756", "prefill_token_ms: {value: 0.0140", "beats the hardware's peak"},
		{"unknown field", "kv_blocks:", "kv_blobs:", "kv_blobs"},
		{"no origin", "origin: measured, source: \"CacheRoute", "source: \"CacheRoute", "kv_blocks: origin"},
		{"no source", "source: setting of the InferenceMAX runs of 2025-10-29", "source: ''", "max_num_batched_tokens: no source"},
		{"NaN", "value: 16.66", "value: .nan", "cost.base_ms"},
		{"missing", "  sequence_ms:", "  #", "cost.sequence_ms: missing"},
		{"unknown model", "name: linear", "name: magic", "cost.name"},
		{"unknown coefficient", "  sequence_ms:", "  sequences_ms:", "sequences_ms"},
		{"no blocks", "value: 40071", "value: 0", "kv_blocks"},
	} {
		bad := strings.Replace(string(good), c.from, c.to, 1)
		if bad == string(good) {
			t.Fatalf("%s: the preset does not hold %q", c.name, c.from)
		}
		if _, err := Parse([]byte(bad)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}
