// Package calib holds what is known of real engines: presets of step costs, KV
// size and scheduler limits, each number with its origin.
package calib

import (
	"embed"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"cacheroute/engine"
	"cacheroute/results"
)

//go:embed presets/*.yaml
var presets embed.FS

// Preset describes one destination.
type Preset struct {
	Name             string
	Description      string
	BlockTokens      int
	Blocks           int
	MaxBatchedTokens int
	MaxSeqs          int
	TTFTOverheadS    float64
	CostName         string               // name in engine.CostModels
	Cost             engine.CostSpec      // owned by the caller of Load
	PeakPrefillMS    float64              // a prompt token at the hardware's peak rate
	KVEstimate       string               // the formula of Blocks, empty if a number was given
	Assumptions      []results.Assumption // every number above; parameters as a study names them below fleet
	Bench            PresetBench          // how the numbers were measured
}

// Names lists the presets in alphabetical order.
func Names() []string {
	entries, err := presets.ReadDir("presets")
	if err != nil {
		panic(fmt.Sprintf("calib: embedded presets: %v", err))
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".yaml")
	}
	slices.Sort(names)
	return names
}

// Load returns a preset by name, or from the file at that path.
func Load(name string) (*Preset, error) {
	if IsFile(name) {
		return loadFile(name)
	}
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("no preset %q, wanted one of %s", name, strings.Join(Names(), ", "))
	}
	data, err := presets.ReadFile(path.Join("presets", name+".yaml"))
	if err != nil {
		return nil, err
	}
	p, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("preset %s: %w", name, err)
	}
	return p, nil
}

// Engine is the preset as the engine wants it.
func (p *Preset) Engine() engine.Config {
	return engine.Config{
		BlockTokens: p.BlockTokens, Blocks: p.Blocks, MaxBatchedTokens: p.MaxBatchedTokens, MaxSeqs: p.MaxSeqs,
		Cost: p.Cost.Build(),
	}
}

// Count tells how many numbers of the preset bear each origin.
func (p *Preset) Count() map[results.Origin]int {
	n := map[results.Origin]int{}
	for _, a := range p.Assumptions {
		n[a.Origin]++
	}
	return n
}

// number is a parameter in a preset file.
type number struct {
	Value  float64        `yaml:"value"`
	Origin results.Origin `yaml:"origin"`
	Source string         `yaml:"source"`
}

// presetFile is the layout of a preset file.
type presetFile struct {
	Name             string               `yaml:"name"`
	Description      string               `yaml:"description"`
	BlockTokens      number               `yaml:"block_tokens"`
	Blocks           number               `yaml:"kv_blocks"` // it or the facts
	KVFacts          map[string]yaml.Node `yaml:"kv_facts"`
	MaxBatchedTokens number               `yaml:"max_num_batched_tokens"`
	MaxSeqs          number               `yaml:"max_num_seqs"`
	TTFTOverheadS    number               `yaml:"ttft_overhead_s"`
	Cost             map[string]yaml.Node `yaml:"cost"`
	PeakPrefillMS    number               `yaml:"peak_prefill_token_ms"`
	Bench            benchSection         `yaml:"bench"`
}

// Parse reads a preset file: every field must be there, with an origin and a
// source, and no price of prefill may beat the hardware's peak.
func Parse(data []byte) (*Preset, error) {
	var f presetFile
	if err := yaml.Load(data, &f, yaml.WithKnownFields()); err != nil {
		return nil, err
	}
	p := &Preset{Name: f.Name, Description: f.Description}
	if err := p.estimateBlocks(&f); err != nil {
		return nil, err
	}
	for _, n := range []struct {
		name string
		number
		set func(float64)
	}{
		{"block_tokens", f.BlockTokens, func(v float64) { p.BlockTokens = int(v) }},
		{"kv_blocks", f.Blocks, func(v float64) { p.Blocks = int(v) }},
		{"max_num_batched_tokens", f.MaxBatchedTokens, func(v float64) { p.MaxBatchedTokens = int(v) }},
		{"max_num_seqs", f.MaxSeqs, func(v float64) { p.MaxSeqs = int(v) }},
		{"ttft_overhead_s", f.TTFTOverheadS, func(v float64) { p.TTFTOverheadS = v }},
		{"peak_prefill_token_ms", f.PeakPrefillMS, func(v float64) { p.PeakPrefillMS = v }},
	} {
		if err := p.assume(n.name, n.number); err != nil {
			return nil, err
		}
		n.set(n.Value)
	}
	if err := p.parseCost(f.Cost); err != nil {
		return nil, err
	}
	var err error
	if p.Bench, err = f.Bench.parse(); err != nil {
		return nil, err
	}
	return p, p.check()
}

// parseCost builds the cost model from its name and its numbers.
func (p *Preset) parseCost(fields map[string]yaml.Node) error {
	name := fields["name"]
	build := engine.CostModels[name.Value]
	if build == nil {
		return fmt.Errorf("cost.name: unknown cost model %q", name.Value)
	}
	delete(fields, "name")
	p.CostName, p.Cost = name.Value, build()
	return p.load("cost", fields, p.Cost)
}

// estimateBlocks fills in the number of KV blocks from the facts, if it is not
// given.
func (p *Preset) estimateBlocks(f *presetFile) error {
	if f.Blocks != (number{}) || f.KVFacts == nil {
		return nil
	}
	var facts KVFacts
	if err := p.load("kv_facts", f.KVFacts, &facts); err != nil {
		return err
	}
	blocks, formula, err := facts.KVBlocks(int(f.BlockTokens.Value))
	p.KVEstimate = formula
	f.Blocks = number{float64(blocks), results.Assumed, formula}
	return err
}

// load fills a struct with numbers, of which none may be missing.
func (p *Preset) load(parent string, fields map[string]yaml.Node, into any) error {
	plain := yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		var n number
		node := fields[field]
		if err := node.Load(&n, yaml.WithKnownFields()); err != nil {
			return fmt.Errorf("%s.%s: %w", parent, field, err)
		}
		if err := p.assume(parent+"."+field, n); err != nil {
			return err
		}
		var key, value yaml.Node
		key.SetString(field)
		if err := value.Encode(n.Value); err != nil {
			return err
		}
		plain.Content = append(plain.Content, &key, &value)
	}
	if err := plain.Load(into, yaml.WithKnownFields()); err != nil {
		return fmt.Errorf("%s: %w", parent, err)
	}
	var all yaml.Node
	if err := all.Encode(into); err != nil {
		return err
	}
	for i := 0; i < len(all.Content); i += 2 {
		if _, ok := fields[all.Content[i].Value]; !ok {
			return fmt.Errorf("%s.%s: missing", parent, all.Content[i].Value)
		}
	}
	return nil
}

// assume notes a number and refuses one without a known origin and a source.
func (p *Preset) assume(name string, n number) error {
	if err := checkNumber(name, n); err != nil {
		return err
	}
	p.Assumptions = append(p.Assumptions, results.Assumption{Parameter: name, Value: n.Value, Origin: n.Origin, Source: n.Source})
	return nil
}

func (p *Preset) check() error {
	if err := p.Cost.Check(); err != nil {
		return fmt.Errorf("cost.%w", err)
	}
	c := p.Engine()
	if err := c.Check(); err != nil {
		return err
	}
	if got := PrefillSecondsPerToken(c.Cost) * 1e3; got < p.PeakPrefillMS {
		return fmt.Errorf("cost: %.3g ms a prompt token beats the hardware's peak of %.3g ms", got, p.PeakPrefillMS)
	}
	return nil
}

// PrefillSecondsPerToken is the marginal price of a prompt token in an
// otherwise idle step, without attention to earlier tokens.
func PrefillSecondsPerToken(m engine.CostModel) float64 {
	// A difference over many tokens, as a single one may be free: models whose
	// prefill rides on the weight read of a step charge only beyond a bound.
	const from, to = 1024, 2048
	span := m.StepTime(engine.Batch{Prefill: to}) - m.StepTime(engine.Batch{Prefill: from})
	return span.Seconds() / (to - from)
}
