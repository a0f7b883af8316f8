package paper

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"cacheroute/calib"
)

// model is another model on the cards of the paper's fleet. Its step is priced
// by one rule for all of them: the price that the base scenario has for the 70B
// fp8 model, times what measured engines of both models have to each other.
type model struct {
	of, over     string // presets whose prices are divided, at equal tensor parallelism where both exist
	gpus         int    // of a destination
	weightsGB    float64
	kvTokenBytes float64 // of a token on all GPUs: 2 x layers x KV heads x head size x bytes
}

const measured70B = "llama-3.3-70b-fp8-h100-tp2"

// flagship is the model of the base scenario. Its KV cache is in fp8, as the
// paper's 641K tokens fit no other way.
var flagship = model{gpus: 2, weightsGB: 70.6, kvTokenBytes: 2 * 80 * 8 * 128}

// models are the other models of the paper, in its precisions.
var models = map[string]model{
	"8B":       {of: "llama-3.1-8b-bf16-h100-tp1", over: measured70B, gpus: 1, weightsGB: 16.1, kvTokenBytes: 2 * 32 * 8 * 128 * 2},
	"70B fp16": {of: "llama-3.1-70b-bf16-h100-tp4", over: "llama-3.3-70b-fp8-h100-tp4", gpus: 2, weightsGB: 141.1, kvTokenBytes: 2 * 80 * 8 * 128 * 2},
	"32B":      {of: "qwen3-32b-bf16-h100-tp2", over: measured70B, gpus: 2, weightsGB: 65.5, kvTokenBytes: 2 * 64 * 8 * 128 * 2},
}

// about says what is assumed of a model.
func (m model) about() string {
	return fmt.Sprintf("step prices of the base scenario times those of preset %s over %s; KV blocks by the memory that the paper's cards leave", m.of, m.over)
}

// model changes prices and KV blocks to those of another model. Everything else
// of the fleet, the overhead of the client among it, stays.
func (k *kit) model(m model) error {
	s, err := k.study()
	if err != nil {
		return err
	}
	base, err := prices(s.Fleet.Cost.Spec)
	if err != nil {
		return err
	}
	of, err := presetPrices(m.of)
	if err != nil {
		return err
	}
	over, err := presetPrices(m.over)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(base)) {
		if strings.HasSuffix(name, "_ms") && over[name] > 0 {
			k.change("fleet.cost."+name, fmt.Sprintf("%.4g", base[name]*of[name]/over[name]))
		}
	}
	k.change("fleet.kv_blocks", m.blocks(s.Fleet.KVBlocks, s.Fleet.BlockTokens))
	return nil
}

// blocks is the number of KV blocks of the model on cards that hold the
// flagship with so many: weights and KV cache of a GPU together take the same
// memory.
func (m model) blocks(flagshipBlocks, blockTokens int) int {
	memory := float64(flagshipBlocks*blockTokens)*flagship.kvTokenBytes/float64(flagship.gpus) + flagship.weightsGB*1e9/float64(flagship.gpus)
	free := memory - m.weightsGB*1e9/float64(m.gpus)
	return int(free * float64(m.gpus) / m.kvTokenBytes / float64(blockTokens))
}

// prices are the parameters of a cost model by name.
func prices(cost any) (map[string]float64, error) {
	var n yaml.Node
	if err := n.Encode(cost); err != nil {
		return nil, err
	}
	all := map[string]float64{}
	return all, n.Decode(&all)
}

// presetPrices are those of a preset, with the price of attention also by the
// name that the overlap model has for half of it, so that either model scales.
func presetPrices(name string) (map[string]float64, error) {
	p, err := calib.Load(name)
	if err != nil {
		return nil, err
	}
	all, err := prices(p.Cost)
	if x, ok := all["prefill_context_token_ms"]; ok {
		all["attention_ms"] = x / 2
	}
	return all, err
}
