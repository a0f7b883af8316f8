package calib

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"cacheroute/results"
)

// PresetBench is how the runs were made from which a preset is fitted, for
// those who repeat them. A study does not use it.
type PresetBench struct {
	Setup Setup
	Facts Facts
	// Sources of the facts, by the names that they have in a preset file.
	Sources []results.Assumption
}

// benchSection is the part of a preset file called bench. All of it may be
// missing.
type benchSection struct {
	Setup           map[string]string `yaml:"setup"`
	LengthRatio     *number           `yaml:"length_ratio"`
	Requests        *number           `yaml:"requests_per_client"`
	Waiting         *number           `yaml:"waiting_clients"`
	OnePrompt       *number           `yaml:"one_prompt_a_step"` // 1: yes
	NoPrefixCaching *number           `yaml:"no_prefix_caching"` // 1: yes
}

// parse checks the section and names what is wrong with it.
func (s benchSection) parse() (PresetBench, error) {
	b := PresetBench{Facts: NoFacts}
	for _, column := range slices.Sorted(maps.Keys(s.Setup)) {
		if !slices.Contains(setupColumns, column) {
			return b, fmt.Errorf("bench.setup: unknown field %q", column)
		}
		if err := b.Setup.set(column, s.Setup[column]); err != nil {
			return b, fmt.Errorf("bench.setup.%w", err)
		}
	}
	var notes Preset // gathers the origins
	for _, f := range []struct {
		name string
		*number
		set func(v float64)
	}{
		{"length_ratio", s.LengthRatio, func(v float64) { b.Facts.LengthRatio = v }},
		{"requests_per_client", s.Requests, func(v float64) { b.Facts.RequestsPerClient = int(v) }},
		{"waiting_clients", s.Waiting, func(v float64) { b.Facts.Waiting = int(v) }},
		{"one_prompt_a_step", s.OnePrompt, func(v float64) { b.Facts.OnePrompt = v == 1 }},
		{"no_prefix_caching", s.NoPrefixCaching, func(v float64) { b.Facts.NoPrefixCaching = v == 1 }},
	} {
		if f.number == nil {
			continue
		}
		if err := notes.assume("bench."+f.name, *f.number); err != nil {
			return b, err
		}
		if yesNo := strings.HasPrefix(f.name, "one_") || strings.HasPrefix(f.name, "no_"); yesNo && f.Value != 0 && f.Value != 1 {
			return b, fmt.Errorf("bench.%s: must be 0 or 1, got %v", f.name, f.Value)
		}
		f.set(f.Value)
	}
	b.Sources = notes.Assumptions
	if err := b.Facts.Check(); err != nil {
		return b, fmt.Errorf("bench.%w", err)
	}
	return b, nil
}
