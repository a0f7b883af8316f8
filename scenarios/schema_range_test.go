package scenarios

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	generated "github.com/invopop/jsonschema"
)

// samples are choices with what their kind requires.
var samples = map[string]string{
	"keys.rates":         "{name: rates, file: r.csv}",
	"arrivals.bootstrap": "{name: bootstrap, file: g.txt}",
	"arrivals.stages":    "{name: stages, stages: [{qps: 1, duration_s: 1}]}",
	"length.lognormal":   "{name: lognormal, mean: 5, min: 3, max: 7}",
	"length.uniform":     "{name: uniform, min: 3, max: 7}",
	"length.empirical":   "{name: empirical, values: [3], weights: [1]}",
	"cost.roofline": "{name: roofline, parameters_billion: 8, layers: 32, hidden_size: 4096, vocabulary: 128256, attention_heads: 32, kv_heads: 8, " +
		"head_dim: 128, weight_bytes: 2, kv_bytes: 2, gpus: 1, peak_tflops: 989, memory_gb_s: 3350, interconnect_gb_s: 450}",
	"cost.table":        "{name: table, points: [{decode_sequences: 1, step_ms: 7}, {prefill_tokens: 512, step_ms: 20}]}",
	"policy.cacheroute": "{name: cacheroute, label: x}",
}

// places are where a study holds a choice of a kind.
var places = map[string]string{
	"keys": "workload.keys", "arrivals": "workload.arrivals", "length": "workload.prompt.turn_tokens", "policy": "policies.0", "cost": "fleet.cost",
}

// bound is a limit that the schema sets to a field.
type bound struct {
	study []Override // what the study must hold for the field to be there
	path  string
	value float64
	out   float64 // a value just beyond
	open  bool    // the bound itself is out
}

// bounds are all limits of numbers below a schema.
func bounds(path string, s *generated.Schema, study []Override) []bound {
	var all []bound
	integer := s.Type == "integer"
	add := func(n json.Number, beyond float64, open bool) {
		if n == "" {
			return
		}
		v, err := n.Float64()
		if err != nil {
			panic(err)
		}
		out := math.Nextafter(v, beyond*math.Inf(1))
		if integer {
			out = v + beyond
		}
		all = append(all, bound{study, path, v, out, open})
	}
	add(s.Minimum, -1, false)
	add(s.Maximum, 1, false)
	add(s.ExclusiveMinimum, -1, true)
	add(s.ExclusiveMaximum, 1, true)
	if s.Properties != nil {
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			all = append(all, bounds(strings.TrimPrefix(path+"."+p.Key, "."), p.Value, study)...)
		}
	}
	if s.Items != nil {
		all = append(all, bounds(path+".0", s.Items, study)...)
	}
	return all
}

// TestSchemaRanges: what is beyond a limit of the schema the loader refuses, and
// the limit itself it takes, unless another field forbids it.
func TestSchemaRanges(t *testing.T) {
	g := newGenerator(t)
	s := g.study()
	base := strings.NewReplacer("keys: {name: zipf, count: 8}", "keys: {name: zipf, count: 8}\n  whales: {count: 1, traffic_share: 0.1}\n  drift: {sigma: 0.3, interval_s: 1}",
		"turn_tokens: 20", "turn_tokens: 20, thread: {mean_requests: 2, max_history_tokens: 100}",
		"duration_s: 3", "duration_s: 3, slo_ttft_p99_s: [1], deadline_s: 0").Replace(small)
	all := bounds("", s, nil)
	all = append(all, bounds("workload", at(s, "workload").AnyOf[0], nil)...)
	for name, part := range g.parts {
		kind, short, _ := strings.Cut(name, ".")
		if short == "" {
			continue
		}
		value := samples[name]
		if value == "" {
			value = fmt.Sprintf("{name: %s}", short)
		}
		all = append(all, bounds(places[kind], part, []Override{{places[kind], value, "the sample"}})...)
	}
	all = append(all, bounds("workload.trace", at(s, "workload").AnyOf[1].Properties.Oldest().Value, []Override{{"workload", "{trace: {file: t.jsonl}}", "the sample"}})...)
	for _, b := range all {
		if err := b.set(base, b.out); err == nil {
			t.Errorf("%s: the schema refuses %v, the loader takes it", b.path, b.out)
		} else if !strings.Contains(err.Error(), last(b.path)) {
			t.Errorf("%s: %v is refused for another reason: %v", b.path, b.out, err)
		}
		err := b.set(base, b.value)
		if refused := err != nil && strings.Contains(err.Error(), strings.TrimSuffix(b.path, ".0")); refused != b.open && !excused[b.path] {
			t.Errorf("%s: limit %v, open %v: %v", b.path, b.value, b.open, err)
		}
	}
	if len(all) < 100 {
		t.Errorf("only %d limits", len(all))
	}
}

// excused are fields whose limit depends on another field.
var excused = map[string]bool{
	"measure.duration_s":                   true, // 0 with a trace only
	"workload.whales.times_target":         true, // either these or traffic_share
	"workload.whales.target_qps":           true,
	"workload.whales.traffic_share":        true,
	"workload.drift.interval_s":            true, // at most 1000 in a run
	"measure.warmup_qps":                   true, // not with a drift
	"measure.settle_s":                     true,
	"measure.edge_s":                       true, // not above half an interval
	"fleet.max_num_batched_tokens":         true, // not below max_num_seqs
	"fleet.max_num_seqs":                   true,
	"loads_qps.0":                          true, // not more than a billion requests
	"workload.prompt.turn_tokens.max":      true, // not below min
	"workload.prompt.turn_tokens.min":      true,
	"workload.keys.top":                    true, // not above count
	"fleet.cost.parameters_billion":        true, // more than two embeddings
	"fleet.cost.kv_heads":                  true, // not above attention_heads
	"fleet.cost.points.0.decode_sequences": true, // either it or prefill_tokens
}

// last is the last word of a path.
func last(path string) string {
	parts := strings.Split(strings.TrimSuffix(path, ".0"), ".")
	return parts[len(parts)-1]
}

// set loads the study with the field at a value.
func (b bound) set(base string, value float64) error {
	text := fmt.Sprintf("%v", value)
	if value == math.Trunc(value) && math.Abs(value) < 1e15 {
		text = fmt.Sprintf("%.0f", value)
	}
	_, err := Parse("small.yaml", []byte(base), Options{Set: append(b.study[:len(b.study):len(b.study)], Override{b.path, text, "--set"})})
	return err
}
