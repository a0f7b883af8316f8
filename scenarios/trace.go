package scenarios

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"cacheroute/workload"
	"cacheroute/workload/trace"
)

// Trace names recorded requests and says how to read them.
type Trace struct {
	// File is the trace, plain or compressed with gzip or zstd. A relative path is
	// meant from the study's folder.
	File string `yaml:"file" jsonschema:"required,minLength=1"`
	// Format of the file; not given: told from the content.
	Format string `yaml:"format,omitempty"`
	// Key is the rule of the routing key: auto (the key that the file states, else
	// the best prefix, else the session), none, session, field, field:NAME, or
	// prefix:DEPTH, the first DEPTH blocks of a prompt.
	Key string `yaml:"key,omitempty"`
	// BlockTokens is the number of tokens of a recorded block; 0: as the file says,
	// or the usual number of the format.
	BlockTokens int `yaml:"block_tokens,omitempty" jsonschema:"minimum=0,maximum=67108864"`
	// Prompt says what prompts share where the file does not: an assumption, on
	// which all hits then rest. Not given: hits are unknown.
	Prompt *workload.PromptModel `yaml:"prompt,omitempty"`
	// Closed makes a turn of a session wait for the answer before it.
	Closed bool `yaml:"closed,omitempty"`
	// FromS is where the part that is replayed begins, after the first arrival.
	FromS float64 `yaml:"from_s,omitempty" jsonschema:"minimum=0,maximum=1e9"`
	// ToS is where the part that is replayed ends, after the first arrival; 0: with
	// the trace.
	ToS float64 `yaml:"to_s,omitempty" jsonschema:"minimum=0,maximum=1e9"`
	// Keep is the fraction of the keys that are replayed, each with all its
	// requests; 0: all.
	Keep float64 `yaml:"keep,omitempty" jsonschema:"minimum=0,maximum=1"`
	// SessionsPerS is the rate at which sessions start, where the file does not say
	// when they did.
	SessionsPerS float64 `yaml:"sessions_per_s,omitempty" jsonschema:"minimum=0,maximum=1e6"`
	// SpreadTies spreads equal time stamps over the resolution of the recording.
	SpreadTies bool `yaml:"spread_ties"`
	// SpreadSeed is the seed of what is drawn: places of equal time stamps, which
	// keys are kept, when sessions start.
	SpreadSeed uint64 `yaml:"spread_seed,omitempty" jsonschema:"minimum=0"`
	// Force accepts an implausible rate or span.
	Force bool `yaml:"force,omitempty"`
}

// Options says how the trace is read.
func (t *Trace) Options() trace.Options {
	return trace.Options{
		Format: t.Format, Key: t.Key, BlockTokens: t.BlockTokens, From: t.FromS, To: t.ToS, Keep: t.Keep,
		SessionsPerS: t.SessionsPerS, Seed: t.SpreadSeed, Force: t.Force,
	}
}

func (t *Trace) read() (*workload.Trace, error) {
	return workload.ReadTrace(t.File, workload.TraceOptions{Options: t.Options(), SpreadTies: t.SpreadTies, Closed: t.Closed, Prompt: t.Prompt})
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
