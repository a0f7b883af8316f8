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
	// Name of the study, also the default name of the folder of results.
	Name string `yaml:"name" jsonschema:"required"`
	// Description is one line for a list.
	Description string `yaml:"description,omitempty"`
	// Fleet is the servers that serve the requests.
	Fleet Fleet `yaml:"fleet" jsonschema:"required"`
	// Workload is what arrives: generated requests, or those of a trace.
	Workload Workload `yaml:"workload" jsonschema:"required"`
	// Policies lists what is compared: names, or a name with its own parameters.
	Policies []Policy `yaml:"policies" jsonschema:"minItems=1"`
	// LoadsQPS are the offered loads, the rungs of the ladder; required unless
	// there is a trace, which is then replayed as recorded, or by_stage, which then
	// takes every stage. A trace reaches a load by being replayed faster.
	LoadsQPS []float64 `yaml:"loads_qps,flow,omitempty" jsonschema:"minimum=1e-6,maximum=1e9,uniqueItems=true"`
	// Seeds are the replications: each runs every policy at every load, and all
	// policies meet the same requests.
	Seeds []uint64 `yaml:"seeds,flow" jsonschema:"minItems=1,minimum=0,uniqueItems=true"`
	// Measure says what of a run counts and when a load passes.
	Measure Measure `yaml:"measure,flow"`
}

// Fleet is the destinations. What a study leaves out comes from the preset.
type Fleet struct {
	// Destinations is the number of servers, all alike.
	Destinations int `yaml:"destinations" jsonschema:"required,minimum=1,maximum=100000"`
	// Preset describes a server, by the name of a shipped preset or the path of a
	// preset file: every field of the fleet that is not given is the preset's.
	Preset string `yaml:"preset" jsonschema:"required"`
	// BlockTokens is the size of a KV block, the unit of prefix caching.
	BlockTokens int `yaml:"block_tokens" jsonschema:"minimum=1,maximum=4096"`
	// KVBlocks is the number of KV blocks of a server: what its engine logs at the
	// start, in vLLM as num_gpu_blocks ("GPU KV cache size" is the same in tokens);
	// cacheroute calibrate takes it from there or from the runs of a bench.
	KVBlocks int `yaml:"kv_blocks" jsonschema:"minimum=1,maximum=1073741824"`
	// MaxBatchedTokens is the most tokens of a step, as in vLLM; not below
	// max_num_seqs.
	MaxBatchedTokens int `yaml:"max_num_batched_tokens" jsonschema:"minimum=1,maximum=16777216"`
	// MaxSeqs is the most sequences that a server runs at a time, as in vLLM.
	MaxSeqs int `yaml:"max_num_seqs" jsonschema:"minimum=1,maximum=1048576"`
	// TTFTOverheadS is the time of client and network, added to TTFT and E2E.
	TTFTOverheadS float64 `yaml:"ttft_overhead_s" jsonschema:"minimum=0,maximum=1000"`
	// ClientOverheadS is the time a client needs after the last token, such as
	// for reading the answer; added to E2E alone.
	ClientOverheadS float64 `yaml:"client_overhead_s,omitempty" jsonschema:"minimum=0,maximum=1000"`
	// SignalIntervalS is how old the load signal that policies see can be; 0:
	// fresh.
	SignalIntervalS float64 `yaml:"signal_interval_s" jsonschema:"minimum=0,maximum=1e6"`
	// HashSeed fixes the rings and other hashes by which policies place keys; 0:
	// they are drawn anew with each seed, so that the interval over the seeds has
	// the luck of a ring in it. The hash function of a real router does not change
	// between two measurements.
	HashSeed uint64 `yaml:"hash_seed,omitempty" jsonschema:"minimum=0"`
	// Cost is the price of a step. A cost of the preset's kind changes only the
	// parameters that it names.
	Cost Cost `yaml:"cost"`
}

// Workload is what arrives: generated requests, or those of a trace.
type Workload struct {
	Synthetic Synthetic
	Trace     *Trace // nil: Synthetic
}

// Synthetic describes generated requests.
type Synthetic struct {
	// Keys is the population of routing keys (tenants, prompts, agents) and how
	// the traffic is spread over them.
	Keys Keys `yaml:"keys" jsonschema:"required"`
	// Whales are injected keys that are far more frequent than the others.
	Whales *workload.WhaleSpec `yaml:"whales,omitempty"`
	// Drift lets the rates of the keys move while a run goes on. Each of its
	// intervals is then also measured by itself, see measure.edge_s and the policy
	// cacheroute, replan.
	Drift *workload.DriftSpec `yaml:"drift,omitempty"`
	// Arrivals is the process by which requests arrive.
	Arrivals Arrivals `yaml:"arrivals"`
	// Prompt says what prompts consist of, from the first token on.
	Prompt workload.PromptSpec `yaml:"prompt" jsonschema:"required"`
	// Output is the length of an answer.
	Output workload.Length `yaml:"output_tokens" jsonschema:"required"`
}

// Measure says what of a run counts and when a load passes.
type Measure struct {
	// WarmupS is the time before the measured window: what arrives in it is
	// simulated, not measured. With by_stage, the stages that begin in it are not.
	WarmupS float64 `yaml:"warmup_s" jsonschema:"minimum=0,maximum=1e6"`
	// WarmupQPS is the rate of the warm-up in requests per second; 0: that of the
	// load. With one rate for all loads every point begins with the same caches.
	WarmupQPS float64 `yaml:"warmup_qps,omitempty" jsonschema:"minimum=0,maximum=1e9"`
	// SettleS is how long nothing arrives between warm-up and measured window, so
	// that the queues of the one do not burden the other.
	SettleS float64 `yaml:"settle_s,omitempty" jsonschema:"minimum=0,maximum=1e6"`
	// HitsOf says which requests the KV hit of a point is of: arrived, those that
	// arrive in the measured window; served, those whose first token falls into it,
	// as counters of engines have it that are read at its two ends. They differ
	// where a queue grows. Hits of single intervals of drift are of arrivals.
	HitsOf string `yaml:"hits_of,omitempty" jsonschema:"enum=arrived,enum=served,default=arrived"`
	// DurationS is the length of the measured window; 0, with a trace or by_stage
	// only: to its end.
	DurationS float64 `yaml:"duration_s" jsonschema:"minimum=0,maximum=1e6"`
	// ByStage measures each stage of the arrivals as a load of its own: the rate of
	// the stage is the load, and what the stages before left behind, in queues and
	// in caches, is there when it begins. Each cell runs the whole course.
	// Throughput and output rate are over the time until the last request of the
	// stage has ended.
	ByStage bool `yaml:"by_stage"`
	// EdgeS is the span at the start and at the end of an interval of drift whose
	// KV hit is measured by itself: a table that was installed at the start shows
	// as a dip while caches warm to it. 0: a tenth of the interval.
	EdgeS float64 `yaml:"edge_s,omitempty" jsonschema:"minimum=0,maximum=1e6"`
	// DeadlineS is when the client gives up, from sending the request on; 0:
	// never. Above ttft_overhead_s.
	DeadlineS float64 `yaml:"deadline_s" jsonschema:"minimum=0,maximum=1e6"`
	// SLOs are the objectives for the p99 of the time to first token; each gives
	// every policy a capacity.
	SLOs []float64 `yaml:"slo_ttft_p99_s,flow" jsonschema:"minItems=1,exclusiveMinimum=0,maximum=1e6,uniqueItems=true"`
	// MaxFailureRate is the fraction of requests that may fail at a load that
	// passes.
	MaxFailureRate float64 `yaml:"max_failure_rate" jsonschema:"minimum=0,maximum=1"`
}

// Values of Measure.HitsOf.
const (
	hitsArrived = "arrived" // the default
	hitsServed  = "served"
)

// traced is the YAML of a workload that is a trace.
type traced struct {
	// Trace names recorded requests and says how to read them.
	Trace *Trace `yaml:"trace" jsonschema:"required"`
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
		return misread(n, "no preset, wanted preset: a file or one of "+list(calib.Names()))
	}
	p, err := calib.Load(name.Value)
	if err != nil {
		return misread(name, err.Error())
	}
	*f = Fleet{
		Preset: name.Value, BlockTokens: p.BlockTokens, KVBlocks: p.Blocks,
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
	return workload.Spec{Keys: s.Keys.Spec, Whales: s.Whales, Drift: s.Drift, Arrivals: s.Arrivals.Spec, Prompt: s.Prompt, Output: s.Output}
}

// files are the places of the study that name input files.
func (s *Study) files() []*string {
	var files []*string
	if s.Workload.Trace != nil {
		files = append(files, &s.Workload.Trace.File)
	} else {
		files = s.Workload.Synthetic.spec().Files()
	}
	if c, ok := s.Fleet.Cost.Spec.(engine.CostFiles); ok {
		files = append(files, c.Files()...)
	}
	return files
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
		own := results.Assumption{Parameter: "fleet." + path, Value: x, Origin: results.Given, Source: "the study"}
		if path == "signal_interval_s" && x == 0 {
			own.Origin, own.Source = results.Assumed, "the default"
		}
		for _, a := range p.Assumptions {
			if a.Parameter == path && a.Value == x && (s.Fleet.Cost.Name == p.CostName || !strings.HasPrefix(path, "cost.")) {
				own.Origin, own.Source = a.Origin, a.Source
			}
		}
		all = append(all, own)
	})
	return all, nil
}
