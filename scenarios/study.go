// Package scenarios turns a study, written in strict YAML, into runs: cells of
// policy x load x seed, repeated by parallel workers, stored one by one and
// summed up.
package scenarios

import (
	"strings"

	"cacheroute/calib"
	"cacheroute/engine"
	"cacheroute/results"
	"cacheroute/workload"

	"go.yaml.in/yaml/v4"
)

// Study is what to simulate.
type Study struct {
	Name        string    `yaml:"name"` // also the default name of the folder of results
	Description string    `yaml:"description,omitempty"`
	Fleet       Fleet     `yaml:"fleet"`
	Workload    Workload  `yaml:"workload"`
	Policies    []Policy  `yaml:"policies"`
	LoadsQPS    []float64 `yaml:"loads_qps,flow,omitempty"` // offered loads; none with a trace: as recorded
	Seeds       []uint64  `yaml:"seeds,flow"`
	Measure     Measure   `yaml:"measure,flow"`
}

// Fleet is the destinations. What a study leaves out comes from the preset.
type Fleet struct {
	Destinations     int     `yaml:"destinations"`
	Preset           string  `yaml:"preset"`
	BlockTokens      int     `yaml:"block_tokens"`
	KVBlocks         int     `yaml:"kv_blocks"`
	MaxBatchedTokens int     `yaml:"max_num_batched_tokens"`
	MaxSeqs          int     `yaml:"max_num_seqs"`
	TTFTOverheadS    float64 `yaml:"ttft_overhead_s"`   // client and network, added to TTFT and E2E
	SignalIntervalS  float64 `yaml:"signal_interval_s"` // age of the load signal that policies see; 0: fresh
	Cost             Cost    `yaml:"cost"`
}

// Workload is what arrives: generated requests, or those of a trace.
type Workload struct {
	Synthetic Synthetic
	Trace     *Trace // nil: Synthetic
}

// Synthetic describes generated requests.
type Synthetic struct {
	Keys     Keys                `yaml:"keys"`
	Whales   *workload.WhaleSpec `yaml:"whales,omitempty"`
	Arrivals Arrivals            `yaml:"arrivals"`
	Prompt   workload.PromptSpec `yaml:"prompt"`
	Output   workload.Length     `yaml:"output_tokens"`
}

// Measure says what of a run counts and when a load passes.
type Measure struct {
	WarmupS        float64   `yaml:"warmup_s"`   // arrivals before are simulated, not measured
	DurationS      float64   `yaml:"duration_s"` // length of the measured window; 0 with a trace: to its end
	DeadlineS      float64   `yaml:"deadline_s"` // the client gives up then; 0: never
	SLOs           []float64 `yaml:"slo_ttft_p99_s,flow"`
	MaxFailureRate float64   `yaml:"max_failure_rate"`
}

// traced is the YAML of a workload that is a trace.
type traced struct {
	Trace *Trace `yaml:"trace"`
}

// plainFleet is a Fleet that decodes field by field.
type plainFleet Fleet

// defaults is a study before its file is read.
func defaults() Study {
	none := workload.Tokens(0)
	return Study{
		Workload: Workload{Synthetic: Synthetic{
			Prompt:   workload.PromptSpec{ContextTokens: none, RetrievedTokens: none, TurnTokens: none},
			Output:   none,
			Arrivals: Arrivals{Choice[workload.ArrivalSpec]{"poisson", workload.ArrivalSpecs["poisson"]()}},
		}},
		Policies: AllPolicies(),
		Seeds:    []uint64{2, 3, 4, 5, 6},
		Measure:  Measure{DurationS: 60, DeadlineS: 60, SLOs: []float64{3.5}, MaxFailureRate: 0.05},
	}
}

// UnmarshalYAML fills the fleet from its preset, then from the study.
func (f *Fleet) UnmarshalYAML(n *yaml.Node) error {
	name := field(n, "preset")
	if name == nil {
		return misread(n, "no preset, wanted preset: one of "+list(calib.Names()))
	}
	p, err := calib.Load(name.Value)
	if err != nil {
		return misread(name, err.Error())
	}
	*f = Fleet{
		Preset: p.Name, BlockTokens: p.BlockTokens, KVBlocks: p.Blocks,
		MaxBatchedTokens: p.MaxBatchedTokens, MaxSeqs: p.MaxSeqs, TTFTOverheadS: p.TTFTOverheadS,
		Cost: Cost{Choice[engine.CostSpec]{p.CostName, p.Cost}},
	}
	return n.Load((*plainFleet)(f), yaml.WithKnownFields())
}

// UnmarshalYAML reads either kind of workload.
func (w *Workload) UnmarshalYAML(n *yaml.Node) error {
	if field(n, "trace") == nil {
		return n.Load(&w.Synthetic, yaml.WithKnownFields())
	}
	w.Synthetic = Synthetic{}
	w.Trace = &Trace{}
	return n.Load(&traced{w.Trace}, yaml.WithKnownFields())
}

// MarshalYAML writes the kind that it is.
func (w Workload) MarshalYAML() (any, error) {
	if w.Trace != nil {
		return traced{w.Trace}, nil
	}
	return w.Synthetic, nil
}

// spec is the synthetic workload as its package wants it.
func (s Synthetic) spec() workload.Spec {
	return workload.Spec{Keys: s.Keys.Spec, Whales: s.Whales, Arrivals: s.Arrivals.Spec, Prompt: s.Prompt, Output: s.Output}
}

// files are the places of the study that name input files.
func (s *Study) files() []*string {
	if s.Workload.Trace != nil {
		return []*string{&s.Workload.Trace.File}
	}
	return s.Workload.Synthetic.spec().Files()
}

// Engine is the fleet's destination. The study has passed Check.
func (f *Fleet) Engine() engine.Config {
	return engine.Config{
		BlockTokens: f.BlockTokens, Blocks: f.KVBlocks, MaxBatchedTokens: f.MaxBatchedTokens, MaxSeqs: f.MaxSeqs,
		Cost: f.Cost.Spec.Build(),
	}
}

// YAML writes the study with every default. It loads back to an equal study.
func (s *Study) YAML() ([]byte, error) {
	return dump(s)
}

// dump writes YAML with small mappings on one line.
func dump(v any) ([]byte, error) {
	return yaml.Dump(v, yaml.WithLineWidth(-1), yaml.WithFlowSimpleCollections())
}

// Assumptions lists every number of the fleet with its origin: the preset's,
// unless the study says another.
func (s *Study) Assumptions() ([]results.Assumption, error) {
	p, err := calib.Load(s.Fleet.Preset)
	if err != nil {
		return nil, err
	}
	var fleet yaml.Node
	if err := fleet.Encode(s.Fleet); err != nil {
		return nil, err
	}
	var all []results.Assumption
	walk(&fleet, "", func(path string, _, value *yaml.Node) {
		var x float64
		if value.Kind != yaml.ScalarNode || value.Decode(&x) != nil {
			return
		}
		own := results.Assumption{Parameter: "fleet." + path, Value: x, Origin: results.Assumed, Source: "the study"}
		for _, a := range p.Assumptions {
			if a.Parameter == path && a.Value == x && (s.Fleet.Cost.Name == p.CostName || !strings.HasPrefix(path, "cost.")) {
				own.Origin, own.Source = a.Origin, a.Source
			}
		}
		all = append(all, own)
	})
	return all, nil
}
