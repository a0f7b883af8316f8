package engine

import (
	"cmp"
	"fmt"
)

// Roofline is a step priced from what is known of a dense model and of its
// GPUs, for hardware that nobody measured:
//
//	step = overhead + max(W*w / B, 2*M*m / F) + sequence*n + K*(C + m) / B + 2*layers*heads*head_dim * sum P*(2X+P) / F + allreduce
//	allreduce = 2*layers * (allreduce_ms + 2(g-1)/g * 2*hidden*m / I), nothing on one GPU
//
// where n sequences decode with C tokens in the KV cache, each prefill chunk
// computes P tokens behind X others, and m = n + sum P; g GPUs together have
// F = g*peak*compute_efficiency and B = g*memory*memory_efficiency, a GPU
// sends at I. V = vocabulary*hidden is an embedding, W = parameters - V is read
// in each step at w bytes, M = parameters - 2V is multiplied with each token,
// and K = 2*layers*kv_heads*head_dim*kv_bytes is the KV cache of a token (on g
// GPUs at least a head each). So either the read of the weights or the
// computation sets the pace of the layers, the KV cache of decoding sequences
// is read at the memory's pace, and attention of prefill is computed.
//
// The defaults of efficiencies, overhead, sequence and allreduce are those
// that come near the linear fits of five configurations of H100 SXM, in which
// every coefficient is within 20 %. Expect more elsewhere.
type Roofline struct {
	// ParametersBillion is the number of weights in billions, as the model's
	// card says; of a model with tied embeddings, add vocabulary*hidden_size.
	ParametersBillion float64 `yaml:"parameters_billion" jsonschema:"minimum=0.001,maximum=10000"`
	// Layers is num_hidden_layers of the model's config.json.
	Layers int `yaml:"layers" jsonschema:"minimum=1,maximum=1000"`
	// HiddenSize is hidden_size of config.json.
	HiddenSize int `yaml:"hidden_size" jsonschema:"minimum=1,maximum=1000000"`
	// Vocabulary is vocab_size of config.json.
	Vocabulary int `yaml:"vocabulary" jsonschema:"minimum=1,maximum=10000000"`
	// AttentionHeads is num_attention_heads of config.json.
	AttentionHeads int `yaml:"attention_heads" jsonschema:"minimum=1,maximum=10000"`
	// KVHeads is num_key_value_heads of config.json.
	KVHeads int `yaml:"kv_heads" jsonschema:"minimum=1,maximum=10000"`
	// HeadDim is head_dim of config.json, or hidden_size/num_attention_heads.
	HeadDim int `yaml:"head_dim" jsonschema:"minimum=1,maximum=10000"`
	// WeightBytes is the size of a weight: 2 in bf16, 1 in fp8.
	WeightBytes float64 `yaml:"weight_bytes" jsonschema:"minimum=0.1,maximum=8"`
	// KVBytes is the size of an element of the KV cache: 2 in bf16, 1 in fp8.
	KVBytes float64 `yaml:"kv_bytes" jsonschema:"minimum=0.1,maximum=8"`
	// GPUs is the number of GPUs of a server, in tensor parallel.
	GPUs int `yaml:"gpus" jsonschema:"minimum=1,maximum=1024"`
	// PeakTFLOPS is the dense peak of a GPU at the precision of the weights,
	// half of what data sheets print "with sparsity": H100 and H200 SXM 989 in
	// bf16 and 1979 in fp8, A100 312 in bf16 (NVIDIA data sheets).
	PeakTFLOPS float64 `yaml:"peak_tflops" jsonschema:"minimum=0.1,maximum=100000"`
	// MemoryGBS is the memory bandwidth of a GPU: H100 SXM 3350, H200 4800, A100
	// SXM 80 GB 2039 (NVIDIA data sheets); H100 96 GB HBM2e about 2400.
	MemoryGBS float64 `yaml:"memory_gb_s" jsonschema:"minimum=1,maximum=1000000"`
	// InterconnectGBS is what a GPU sends to the others, half of what data sheets
	// give as NVLink's both directions: H100 and H200 SXM 450, A100 300.
	InterconnectGBS float64 `yaml:"interconnect_gb_s" jsonschema:"minimum=0.1,maximum=100000"`
	// ComputeEfficiency is the share of the peak that prefill reaches; 0.65 if
	// not given. On H100 the fits say 0.65 to 0.72 in bf16, and about 0.5 in fp8.
	ComputeEfficiency float64 `yaml:"compute_efficiency" jsonschema:"minimum=0.01,maximum=1"`
	// MemoryEfficiency is the share of the memory bandwidth that decode reaches;
	// 0.75 if not given.
	MemoryEfficiency float64 `yaml:"memory_efficiency" jsonschema:"minimum=0.01,maximum=1"`
	// OverheadMS is the fixed time of a step: scheduling and launches; 1 if not
	// given.
	OverheadMS float64 `yaml:"overhead_ms" jsonschema:"minimum=0,maximum=10000"`
	// SequenceMS is the time of each decoding sequence on top: its sampling and
	// bookkeeping; 0.04 if not given.
	SequenceMS float64 `yaml:"sequence_ms" jsonschema:"minimum=0,maximum=1000"`
	// AllreduceMS is the latency of an all-reduce, two a layer; 0.01 if not given.
	AllreduceMS float64 `yaml:"allreduce_ms" jsonschema:"minimum=0,maximum=100"`
}

func newRoofline() *Roofline {
	return &Roofline{ComputeEfficiency: 0.65, MemoryEfficiency: 0.75, OverheadMS: 1, SequenceMS: 0.04, AllreduceMS: 0.01}
}

// About implements CostSpec.
func (r *Roofline) About() string {
	return "an estimate from facts of a dense model and its GPUs, for hardware nobody measured"
}

// Check implements CostSpec.
func (r *Roofline) Check() error {
	if err := cmp.Or(
		between("parameters_billion", r.ParametersBillion, 1e-3, 1e4), between("layers", float64(r.Layers), 1, 1e3),
		between("hidden_size", float64(r.HiddenSize), 1, 1e6), between("vocabulary", float64(r.Vocabulary), 1, 1e7),
		between("attention_heads", float64(r.AttentionHeads), 1, 1e4), between("kv_heads", float64(r.KVHeads), 1, 1e4),
		between("head_dim", float64(r.HeadDim), 1, 1e4), between("weight_bytes", r.WeightBytes, 0.1, 8),
		between("kv_bytes", r.KVBytes, 0.1, 8), between("gpus", float64(r.GPUs), 1, 1024),
		between("peak_tflops", r.PeakTFLOPS, 0.1, 1e5), between("memory_gb_s", r.MemoryGBS, 1, 1e6),
		between("interconnect_gb_s", r.InterconnectGBS, 0.1, 1e5), between("compute_efficiency", r.ComputeEfficiency, 0.01, 1),
		between("memory_efficiency", r.MemoryEfficiency, 0.01, 1), between("overhead_ms", r.OverheadMS, 0, 1e4),
		between("sequence_ms", r.SequenceMS, 0, 1e3), between("allreduce_ms", r.AllreduceMS, 0, 100),
	); err != nil {
		return err
	}
	if r.KVHeads > r.AttentionHeads {
		return fmt.Errorf("kv_heads: must not exceed attention_heads = %d, got %d", r.AttentionHeads, r.KVHeads)
	}
	if r.ParametersBillion*1e9 <= 2*r.embedding() {
		return fmt.Errorf("parameters_billion: %v leave nothing beside two embeddings of vocabulary*hidden_size = %.3g", r.ParametersBillion, r.embedding())
	}
	return nil
}

// embedding is the number of weights of the input embedding, and of the head.
func (r *Roofline) embedding() float64 { return float64(r.Vocabulary * r.HiddenSize) }

// Build implements CostSpec.
func (r *Roofline) Build() CostModel {
	layers, gpus := float64(r.Layers), float64(r.GPUs)
	perMS := func(rate float64) float64 { return rate / 1e3 }
	flops := perMS(gpus * r.PeakTFLOPS * 1e12 * r.ComputeEfficiency)
	bytes := perMS(gpus * r.MemoryGBS * 1e9 * r.MemoryEfficiency)
	weights := float64(r.ParametersBillion*1e9) - r.embedding()
	kv := 2 * layers * float64(max(r.KVHeads, r.GPUs)) * float64(r.HeadDim) * r.KVBytes / bytes
	overhead, token := r.OverheadMS, kv
	if r.GPUs > 1 {
		overhead += float64(2 * layers * r.AllreduceMS)
		token += float64(2 * layers * 2 * (gpus - 1) / gpus * 2 * float64(r.HiddenSize) / perMS(r.InterconnectGBS*1e9))
	}
	return overlapped{
		base: picoseconds(overhead), read: max(1, picoseconds(weights*r.WeightBytes/bytes)),
		compute: picoseconds(2 * (weights - r.embedding()) / flops), token: picoseconds(token),
		sequence: picoseconds(r.SequenceMS), context: picoseconds(kv),
		attention: picoseconds(2 * layers * float64(r.AttentionHeads) * float64(r.HeadDim) / flops),
	}
}
