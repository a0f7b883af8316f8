package calib

import (
	"cmp"
	"fmt"
	"strings"
)

// dense is what is public of a dense model. Layers are the weights in billions
// that a prompt token meets, without embedding and output head.
type dense struct {
	layersBillion, allBillion float64
	layers, kvHeads, headDim  int
}

// denseModels are the models known by name, from their config.json. A name
// counts if it is part of the bench's; the longest wins.
var denseModels = map[string]dense{
	"llama-3-8b": {6.98, 8.03, 32, 8, 128}, "llama-3.1-8b": {6.98, 8.03, 32, 8, 128},
	"llama-3-70b": {68.5, 70.6, 80, 8, 128}, "llama-3.1-70b": {68.5, 70.6, 80, 8, 128}, "llama-3.3-70b": {68.5, 70.6, 80, 8, 128},
	"llama-3.1-405b": {401.6, 405.9, 126, 8, 128},
	"qwen3-8b":       {6.95, 8.19, 36, 8, 128}, "qwen3-14b": {13.2, 14.8, 40, 8, 128}, "qwen3-32b": {31.2, 32.8, 64, 8, 128},
	"qwen2.5-7b": {6.53, 7.62, 28, 4, 128}, "qwen2.5-32b": {31.2, 32.8, 64, 8, 128}, "qwen2.5-72b": {70.2, 72.7, 80, 8, 128},
	"mistral-7b": {6.98, 7.25, 32, 8, 128},
}

// gpu is a GPU's dense peaks in TFLOP/s, its memory's bandwidth in GB/s and size
// in GiB, from data sheets. Of a family with one name the fastest card counts:
// peaks are bounds.
type gpu struct{ bf16, fp8, bandwidth, memory float64 }

var gpus = map[string]gpu{
	"h100": {989, 1979, 3350, 79.65}, "h200": {989, 1979, 4800, 139.8}, "a100": {312, 312, 2039, 79.25}, "l40s": {362, 733, 864, 44.5},
	"b200": {2250, 4500, 8000, 178}, "mi300x": {1307, 2615, 5300, 191.7},
}

// lookup finds the longest name of a table inside a text.
func lookup[T any](table map[string]T, text string) (value T, name string) {
	text = strings.ToLower(text)
	for n, v := range table {
		if strings.Contains(text, n) && cmp.Or(cmp.Compare(len(n), len(name)), cmp.Compare(name, n)) > 0 {
			value, name = v, n
		}
	}
	return value, name
}

// weightBytes is the size of a weight; 0 if the precision is none of those known.
func (s Setup) weightBytes() float64 {
	switch p := strings.ToLower(s.Precision); {
	case strings.Contains(p, "bf16") || strings.Contains(p, "fp16"):
		return 2
	case strings.Contains(p, "fp8"):
		return 1
	}
	return 0
}

// peak is what no server of a setup can beat.
type peak struct {
	prefillMS float64 // a prompt token
	stepMS    float64 // the read of the weights; 0: not known
	source    string
}

// peakOf derives the peak; false if model, GPU or their number is not known. Of
// a precision that is not known the fastest is taken.
func peakOf(s Setup) (peak, bool) {
	m, model := lookup(denseModels, s.Model)
	g, name := lookup(gpus, s.GPU)
	if model == "" || name == "" || s.TensorParallel == 0 {
		return peak{}, false
	}
	flops, kind := g.fp8, "fp8"
	if s.weightBytes() == 2 {
		flops, kind = g.bf16, "bf16"
	}
	n := float64(s.TensorParallel)
	return peak{
		prefillMS: 2 * m.layersBillion / (n * flops),
		stepMS:    s.weightBytes() * m.layersBillion / (n * g.bandwidth) * 1e3,
		source:    fmt.Sprintf("2 x %ve9 parameters over %d x %v dense %s TFLOP/s of %s", m.layersBillion, s.TensorParallel, flops, kind, name),
	}, true
}

// kvFactsOf is what the size of the KV cache follows from, as far as names tell:
// a bf16 cache, 90 % of the memory, 4 GiB of it for activations and graphs.
func kvFactsOf(s Setup) (KVFacts, bool) {
	m, model := lookup(denseModels, s.Model)
	g, name := lookup(gpus, s.GPU)
	if model == "" || name == "" || s.TensorParallel == 0 || s.weightBytes() == 0 {
		return KVFacts{}, false
	}
	return KVFacts{
		WeightsGB: m.allBillion * s.weightBytes(), Layers: m.layers, KVHeads: m.kvHeads, HeadDim: m.headDim, KVBytes: 2,
		GPUs: s.TensorParallel, MemoryGiB: g.memory, Utilisation: 0.9, ReserveGiB: 4,
	}, true
}
