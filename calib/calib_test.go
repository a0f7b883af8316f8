package calib

import (
	"strings"
	"testing"
)

// TestPresets loads every shipped preset: each is complete, named as its file,
// carries an origin for every number, and its fastest prefill stays below the
// hardware's peak (Parse refuses the rest).
func TestPresets(t *testing.T) {
	if len(Names()) < 7 {
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
		if p.Bench.Setup.Model == "" && name != "paper-70b-fp8" {
			t.Errorf("%s: does not say of which model it is", name)
		}
	}
}

func TestMeasuredBlocks(t *testing.T) {
	for name, want := range map[string]int{"llama-3.3-70b-fp8-h100-96gb-tp2": 40071, "llama-3.1-70b-bf16-h100-tp4": 461376 / 16} {
		p, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Blocks != want {
			t.Errorf("%s: KV blocks %d, measured were %d", name, p.Blocks, want)
		}
	}
}

// TestScaledPreset: the costs of 96 GB cards are those of 80 GB cards, 1.4 times
// as long where the memory bounds them.
func TestScaledPreset(t *testing.T) {
	numbers := func(name string) map[string]float64 {
		p, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]float64{}
		for _, a := range p.Assumptions {
			all[a.Parameter] = a.Value.(float64)
		}
		return all
	}
	of, scaled := numbers("llama-3.3-70b-fp8-h100-tp2"), numbers("llama-3.3-70b-fp8-h100-96gb-tp2")
	for name, want := range of {
		switch name {
		case "kv_blocks":
			continue // of the paper
		case "cost.base_ms", "cost.context_token_ms":
			want = digits(1.4 * want)
		}
		if scaled[name] != want {
			t.Errorf("%s: %v, want %v", name, scaled[name], want)
		}
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
		{"beats the peak", "prefill_token_ms: {value: 0.070841", "prefill_token_ms: {value: 0.0140", "beats the hardware's peak"},
		{"unknown field", "kv_blocks:", "kv_blobs:", "kv_blobs"},
		{"no origin", "origin: fitted, source: \"simulation", "source: \"simulation", "kv_blocks: origin"},
		{"no source", `source: "setting of the InferenceMAX runs of 2025-10-29"`, "source: ''", "max_num_batched_tokens: no source"},
		{"NaN", "value: 16.655", "value: .nan", "cost.base_ms"},
		{"missing", "  sequence_ms:", "  #", "cost.sequence_ms: missing"},
		{"unknown model", "name: linear", "name: magic", "cost.name"},
		{"unknown coefficient", "  sequence_ms:", "  sequences_ms:", "sequences_ms"},
		{"no blocks", "value: 14460", "value: 0", "kv_blocks"},
		{"unknown setup", `engine: "vllm"`, `motor: "vllm"`, "bench.setup: unknown field \"motor\""},
		{"setup", `tensor_parallel: "2"`, `tensor_parallel: "0"`, "bench.setup.tensor_parallel: read \"0\""},
		{"bench", "length_ratio: {value: 0.8", "length_ratio: {value: 8", "bench.length_ratio: must lie"},
		{"bench source", "length_ratio: {value: 0.8, origin: measured", "length_ratio: {value: 0.8, origin: ''", "bench.length_ratio: origin"},
		{"yes or no", "no_prefix_caching: {value: 1", "no_prefix_caching: {value: 2", "bench.no_prefix_caching: must be 0 or 1"},
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
