package calib

import (
	"math"
	"strings"
	"testing"

	"cacheroute/results"
)

// TestKVBlocks compares the estimate, without a reserve, with sizes of KV
// caches in thousands of tokens: those computed for vLLM at 0.9 of cards that
// report 79.65 and 95 GiB within 1 %, and those that engines logged within 11 %,
// never far below.
func TestKVBlocks(t *testing.T) {
	llama70 := KVFacts{WeightsGB: 141.1, Layers: 80, KVHeads: 8, HeadDim: 128, KVBytes: 2, Utilisation: 0.9}
	fp8 := llama70
	fp8.WeightsGB, fp8.KVBytes = 72.65, 1 // embedding and head stay in bf16
	fp8KV16 := fp8
	fp8KV16.KVBytes = 2
	qwen, llama8 := llama70, llama70
	qwen.WeightsGB, qwen.Layers = 65.5, 64
	llama8.WeightsGB, llama8.Layers = 16.06, 32
	for _, c := range []struct {
		name             string
		facts            KVFacts
		gpus             int
		at80, at96, seen float64 // 0: not known
		seenMiB          float64
	}{
		{"70B fp8 TP2, KV fp8", fp8, 2, 496, 677, 641.1, 95},
		{"70B fp8 TP2, KV bf16", fp8KV16, 2, 248, 338, 0, 0},
		{"70B bf16 TP2", llama70, 2, 39, 130, 40, 79.65},
		{"70B bf16 TP4", llama70, 4, 509, 0, 461.376, 79.65},
		{"Qwen3-32B bf16 TP2", qwen, 2, 337, 451, 307.328, 79.65},
		{"8B bf16 TP1", llama8, 1, 465, 578, 0, 0},
	} {
		c.facts.GPUs = c.gpus
		for _, at := range []struct{ memory, want, below, above float64 }{
			{79.65, c.at80, 0.01, 0.01}, {95, c.at96, 0.01, 0.01}, {c.seenMiB, c.seen, 0.03, 0.11},
		} {
			if at.want == 0 {
				continue
			}
			c.facts.MemoryGiB = at.memory
			blocks, formula, err := c.facts.KVBlocks(16)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if off := float64(blocks)*16/(at.want*1000) - 1; !(off >= -at.below && off <= at.above) {
				t.Errorf("%s on %v GiB: %d blocks, %+.1f %% off %v thousand tokens", c.name, at.memory, blocks, 100*off, at.want)
			}
			if !strings.HasPrefix(formula, "estimated, the engine's own log number always wins: (0.9 x ") {
				t.Errorf("formula %s", formula)
			}
		}
	}
}

func TestKVBlocksRefuses(t *testing.T) {
	good := KVFacts{WeightsGB: 16.06, Layers: 32, KVHeads: 8, HeadDim: 128, KVBytes: 2, GPUs: 16, MemoryGiB: 79.65, Utilisation: 0.9}
	if blocks, _, err := good.KVBlocks(16); err != nil || blocks < 260_000 || blocks > 300_000 {
		t.Fatalf("8B on 16 GPUs, each with a whole head: %d blocks, %v", blocks, err)
	}
	for want, spoil := range map[string]func(*KVFacts){
		"kv_facts.weights_gb: ":           func(f *KVFacts) { f.WeightsGB = math.NaN() },
		"kv_facts.gpus: ":                 func(f *KVFacts) { f.GPUs = 0 },
		"kv_facts.utilisation: ":          func(f *KVFacts) { f.Utilisation = 1.1 },
		"kv_facts.reserve_gib: ":          func(f *KVFacts) { f.ReserveGiB = -1 },
		"no memory is left for a block, ": func(f *KVFacts) { f.WeightsGB = 2000 },
	} {
		bad := good
		spoil(&bad)
		if _, _, err := bad.KVBlocks(16); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, _, err := good.KVBlocks(0); err == nil {
		t.Error("blocks of no tokens are accepted")
	}
}

// A preset may give the facts instead of the number; the number wins.
func TestPresetOfFacts(t *testing.T) {
	data, err := presets.ReadFile("presets/llama-3.1-8b-bf16-h100-tp1.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const facts = `kv_facts:
  weights_gb: {value: 16.06, origin: measured, source: model card}
  layers: {value: 32, origin: measured, source: config.json}
  kv_heads: {value: 8, origin: measured, source: config.json}
  head_dim: {value: 128, origin: measured, source: config.json}
  kv_bytes: {value: 2, origin: assumed, source: bf16}
  gpus: {value: 1, origin: assumed, source: x}
  memory_gib: {value: 79.65, origin: measured, source: nvidia-smi}
  utilisation: {value: 0.9, origin: assumed, source: vLLM default}
  reserve_gib: {value: 2, origin: assumed, source: x}
`
	var number string
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "kv_blocks:") {
			number = line
		}
	}
	p, err := Parse([]byte(strings.Replace(string(data), number, facts, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if p.Blocks < 27_000 || p.Blocks > 29_000 || p.KVEstimate == "" {
		t.Errorf("%d blocks, %q", p.Blocks, p.KVEstimate)
	}
	for _, a := range p.Assumptions {
		if a.Parameter == "kv_blocks" && (a.Origin != results.Assumed || a.Source != p.KVEstimate) {
			t.Errorf("%+v", a)
		}
	}
	if given, err := Parse(append(data, facts...)); err != nil || given.KVEstimate != "" || given.Blocks == p.Blocks {
		t.Errorf("beside a number: %+v, %v", given, err)
	}
	incomplete := strings.Replace(facts, "  layers:", "  # layers:", 1)
	if _, err := Parse([]byte(strings.Replace(string(data), number, incomplete, 1))); err == nil || !strings.Contains(err.Error(), "kv_facts.layers: missing") {
		t.Errorf("error %v", err)
	}
	// Whole numbers of a cost model load from a preset as well.
	overlap := strings.NewReplacer("name: linear", "name: overlap", "  prefill_context_token_ms:", "  free_tokens: {value: 128, origin: assumed, source: x}\n  attention_ms:").Replace(string(data))
	if _, err := Parse([]byte(overlap)); err != nil {
		t.Errorf("overlap: %v", err)
	}
}
