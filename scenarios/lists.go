package scenarios

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"cacheroute/calib"
	"cacheroute/engine"
	"cacheroute/workload"
)

// Entry is one thing that a study can name.
type Entry struct{ Name, About string }

// Lists are the tables of what a study can name, by the name of the list.
var Lists = map[string]func() []Entry{
	"policies":  policyEntries,
	"presets":   presetEntries,
	"formats":   func() []Entry { return entries(workload.TraceFormats) },
	"arrivals":  func() []Entry { return entries(workload.ArrivalSpecs) },
	"keys":      func() []Entry { return entries(workload.KeySpecs) },
	"lengths":   func() []Entry { return entries(workload.Lengths) },
	"costs":     func() []Entry { return entries(engine.CostModels) },
	"scenarios": scenarioEntries,
}

// entries lists a table: what its owner says of each, else its parameters with
// their defaults.
func entries[T any](table map[string]func() T) []Entry {
	var all []Entry
	for _, name := range slices.Sorted(maps.Keys(table)) {
		all = append(all, Entry{name, about(table[name]())})
	}
	return all
}

func about(spec any) string {
	if a, ok := spec.(interface{ About() string }); ok {
		return a.About()
	}
	var n yaml.Node
	if err := n.Encode(spec); err != nil {
		return ""
	}
	n.Style = yaml.FlowStyle
	text, err := yaml.Dump(&n, yaml.WithLineWidth(-1))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func policyEntries() []Entry {
	var all []Entry
	for _, p := range AllPolicies() {
		all = append(all, Entry{p.Name, about(p.Spec)})
	}
	return all
}

func presetEntries() []Entry {
	var all []Entry
	for _, name := range calib.Names() {
		if p, err := calib.Load(name); err == nil {
			all = append(all, Entry{name, p.Description})
		}
	}
	return all
}

func scenarioEntries() []Entry {
	var all []Entry
	for _, name := range Shipped() {
		if s, err := Load(name, Options{}); err == nil {
			all = append(all, Entry{name, s.Description})
		}
	}
	return all
}
