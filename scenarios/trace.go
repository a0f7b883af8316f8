package scenarios

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"cacheroute/workload"
)

// Trace names recorded requests and says how to read them.
type Trace struct {
	// File is the trace, plain or compressed with gzip or zstd. A relative path is
	// meant from the study's folder.
	File string `yaml:"file" jsonschema:"required,minLength=1"`
	// Format of the file; not given: told from the content.
	Format string `yaml:"format,omitempty"`
	// Key is the rule of the routing key: auto (the format's own), none, or
	// prefix:DEPTH, the first DEPTH blocks of a prompt.
	Key string `yaml:"key,omitempty"`
	// BlockTokens is the number of tokens of a recorded block; 0: the usual
	// number of the format.
	BlockTokens int `yaml:"block_tokens,omitempty" jsonschema:"minimum=0,maximum=67108864"`
	// SpreadTies spreads equal time stamps over the resolution of the recording.
	SpreadTies bool `yaml:"spread_ties"`
	// SpreadSeed is the seed of the spreading.
	SpreadSeed uint64 `yaml:"spread_seed,omitempty" jsonschema:"minimum=0"`
	// Force accepts an implausible rate or span.
	Force bool `yaml:"force,omitempty"`
}

func (t *Trace) read() (*workload.Trace, error) {
	return workload.ReadTrace(t.File, workload.TraceOptions{
		Format: t.Format, Key: t.Key, BlockTokens: t.BlockTokens,
		SpreadTies: t.SpreadTies, Seed: t.SpreadSeed, Force: t.Force,
	})
}

// notName is what a study's name cannot hold.
var notName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// Replay makes the study of a trace: all policies on all its requests, measured
// from the first to the last, without a client deadline.
func Replay(t Trace, destinations int, preset string, o Options) (*Study, error) {
	name, _, _ := strings.Cut(filepath.Base(t.File), ".")
	name = strings.TrimLeft(notName.ReplaceAllString(name, "-"), "._-")
	if name == "" {
		name = "replay"
	}
	base, err := yaml.Dump(map[string]any{
		"name":     name[:min(len(name), 100)],
		"workload": traced{&t},
		"measure":  map[string]any{"duration_s": 0, "deadline_s": 0},
	})
	if err != nil {
		return nil, err
	}
	count := strconv.Itoa(destinations)
	o.Set = append([]Override{
		{Path: "fleet.destinations", Value: count, Source: "--destinations " + count},
		{Path: "fleet.preset", Value: preset, Source: "--preset " + preset},
	}, o.Set...)
	return Parse("replay", base, o)
}

// speeds returns the loads that replay the trace at the given speeds.
func speeds(t *workload.Trace, speeds []float64) ([]float64, error) {
	loads := make([]float64, len(speeds))
	seen := map[float64]bool{}
	for i, x := range speeds {
		if !(x >= 1e-3 && x <= 1e6) || seen[x] {
			return nil, fmt.Errorf("speed: read %v, wanted different numbers between 0.001 and 1e+06", x)
		}
		seen[x] = true
		loads[i] = x * t.QPS()
	}
	return loads, nil
}
