package scenarios

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"cacheroute/calib"
	"cacheroute/engine"
	"cacheroute/workload"
	"cacheroute/workload/trace"
)

// Entry is one thing that a study can name.
type Entry struct {
	Name     string
	About    string
	Defaults string // of its parameters, in YAML; empty if they are not listed
}

// Lists are the tables of what a study can name, by the name of the list.
var Lists = map[string]func() []Entry{
	"policies":  policyEntries,
	"presets":   presetEntries,
	"formats":   formatEntries,
	"arrivals":  func() []Entry { return entries(workload.ArrivalSpecs) },
	"keys":      func() []Entry { return entries(workload.KeySpecs) },
	"lengths":   func() []Entry { return entries(workload.Lengths) },
	"costs":     costEntries,
	"scenarios": scenarioEntries,
}

// abouter is anything that a table holds.
type abouter interface{ About() string }

func sortedNames[T any](table map[string]func() T) []string {
	return slices.Sorted(maps.Keys(table))
}

// entries lists a table by what its owner says of each.
func entries[T abouter](table map[string]func() T) []Entry {
	var all []Entry
	for _, name := range sortedNames(table) {
		all = append(all, Entry{Name: name, About: table[name]().About()})
	}
	return all
}

// formatEntries lists the traces that replay reads, then the benches that
// calibrate and validate read.
func formatEntries() []Entry {
	all := entries(trace.Formats)
	for i := range all {
		all[i].About = "trace: " + all[i].About
	}
	for _, name := range slices.Sorted(maps.Keys(calib.BenchFormats)) {
		all = append(all, Entry{Name: name, About: "bench: " + calib.BenchFormats[name].About})
	}
	return all
}

// parameters are those of a choice with their values, in YAML on one line.
func parameters(spec any) string {
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
		all = append(all, Entry{p.Name, p.Spec.About(), parameters(p.Spec)})
	}
	return all
}

// costEntries names the parameters only, as a preset gives all those of its
// cost.
func costEntries() []Entry {
	all := entries(engine.CostModels)
	for i := range all {
		names := yamlFields(reflect.TypeOf(engine.CostModels[all[i].Name]()).Elem())
		all[i].Defaults = "the preset's, if its cost is of that kind: " + list(names)
	}
	return all
}

func presetEntries() []Entry {
	var all []Entry
	for _, name := range calib.Names() {
		if p, err := calib.Load(name); err == nil {
			all = append(all, Entry{Name: name, About: p.Description})
		}
	}
	return all
}

func scenarioEntries() []Entry {
	var all []Entry
	for _, name := range Shipped() {
		if v, err := Expand(name, Options{}); err == nil {
			all = append(all, Entry{Name: name, About: v[0].Study.Description})
		}
	}
	return all
}
