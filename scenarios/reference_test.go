package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
)

// reference writes docs/study.md from the schema.
type reference struct {
	strings.Builder
	g *generator
}

const referenceHead = "# The study file: every field\n\n" +
	"A study is a YAML file that says what to simulate: every policy at every load with every seed. " +
	"Start from one that runs:\n\n```sh\ncacheroute init --kind compare-policies --out -\n```\n\n" +
	"`cacheroute explain STUDY` says in words what a study does, how long it takes and how much memory it needs; " +
	"`cacheroute run STUDY` runs it. Unknown or repeated fields and impossible values are refused with file and line.\n\n" +
	"Editors complete and check studies with the JSON Schema that `cacheroute schema` prints. With the YAML extension of VS Code or any " +
	"editor that runs yaml-language-server, write it beside your studies (`cacheroute schema > study.schema.json`) and begin each with\n\n" +
	"```yaml\n# yaml-language-server: $schema=study.schema.json\n```\n\n" +
	"*Required* fields have no default. A choice is a name alone (`poisson`), which takes the defaults of its parameters, or " +
	"the name with parameters (`{name: gamma, cv: 2.5}`). A length is a whole number of tokens or a choice of section *Lengths*. " +
	"`--set path=value` changes any field from the command line, as in `--set fleet.destinations=12`.\n\n" +
	"This page and the schema are made from the code: `go test ./scenarios -run 'TestSchema|TestReference' -update`.\n"

const sweepText = "\n## `sweep`: axes\n\n" +
	"A study with axes stands for one study for each combination of their values. The name of an axis is the dotted path of a field, as in `--set`; " +
	"its values are a list, each as the field takes it, or a range. Axes under `paired` advance together:\n\n" +
	"```yaml\nsweep:\n  fleet.destinations: [10, 20, 30]\n  fleet.kv_blocks: {from: 1000, to: 8000, steps: 4, scale: log}  # 1000, 2000, 4000, 8000\n" +
	"  paired:                                     # 4 with 2 and 8 with 4: two combinations, not four\n    policies.cacheroute.slots: [4, 8]\n    workload.prompt.variants: [2, 4]\n```\n\n" +
	"These are 3 x 4 x 2 = 24 variants. Each is named by its values (`destinations=10,kv_blocks=1000,slots=4,variants=2`) and is a study as any other; " +
	"seeds and loads are the same, so that variants can be compared. `cacheroute explain` names and counts them, " +
	"`cacheroute run` runs each into a folder of its name and writes `sweep.json` and `sweep.csv` beside them ([files.md](files.md)). " +
	"`--set sweep.fleet.destinations=[10,20]` adds an axis to any study; setting the path of an axis itself, as in `--set fleet.destinations=12`, takes its place, " +
	"and so do `--loads`, `--seeds` and `--policies` for axes of those fields. A required field that an axis gives can be left out, though editors ask for it. Other commands take one study: they want a value for each axis. " +
	"Refused are an unknown path, an empty list, a value that is listed twice, two variants that are one and the same study, more than 10,000 variants and more than a million cells. " +
	"A range:\n\n"

func (r *reference) section(title, path string, s *jsonschema.Schema) {
	fmt.Fprintf(r, "\n## %s\n\n", title)
	r.table(path, s)
}

// table lists the properties of an object and of the objects in it.
func (r *reference) table(path string, s *jsonschema.Schema) {
	r.WriteString("| field | type | unit | default | range | meaning |\n|---|---|---|---|---|---|\n")
	r.rows(path, s)
}

func (r *reference) rows(path string, s *jsonschema.Schema) {
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		if p.Key == "name" && p.Value.Const != nil || p.Key == "label" {
			continue // said once for all choices
		}
		name, v := path+p.Key, p.Value
		preset := path == "fleet." && v.Default == nil
		fmt.Fprintf(r, "| `%s` | %s | %s | %s | %s | %s |\n", name, kindName(v), unitOf(p.Key),
			defaultText(v, slices.Contains(s.Required, p.Key), preset), rangeText(v), meaning(v))
		if v.Properties != nil {
			r.rows(name+".", v)
		}
		if v.Items != nil && v.Items.Properties != nil {
			r.rows(name+"[].", v.Items)
		}
	}
}

// choices writes a subsection for each part of a kind.
func (r *reference) choices(title, text string, names []string) {
	fmt.Fprintf(r, "\n## %s\n\n%s\n", title, text)
	for _, name := range names {
		part := r.g.parts[name]
		_, short, _ := strings.Cut(name, ".")
		fmt.Fprintf(r, "\n### `%s`\n\n%s\n\n", short, escaped(part.Description))
		var empty reference
		empty.rows("", part)
		if empty.Len() == 0 {
			r.WriteString("No parameters.\n")
			continue
		}
		r.table("", part)
	}
}

func kindName(s *jsonschema.Schema) string {
	switch {
	case s.Ref == "#/$defs/length":
		return "length"
	case s.AnyOf != nil && s.Properties == nil:
		return "choice"
	case s.Type == "array":
		return "list of " + plurals[kindName(s.Items)]
	case s.Type == "object":
		return "fields below"
	}
	return map[string]string{"integer": "whole number", "number": "number", "string": "text", "boolean": "true or false"}[s.Type]
}

var plurals = map[string]string{
	"choice": "choices", "whole number": "whole numbers", "number": "numbers", "fields below": "fields below", "text": "text",
}

func defaultText(s *jsonschema.Schema, required, preset bool) string {
	switch {
	case required:
		return "*required*"
	case preset:
		return "the preset's"
	case s.Default == nil || s.Default == "":
		return ""
	}
	if all, ok := s.Default.([]string); ok {
		return "`[" + strings.Join(all, ", ") + "]`"
	}
	return "`" + strings.ReplaceAll(fmt.Sprint(s.Default), " ", ", ") + "`"
}

// rangeText says which values a property, or an item of it, can hold.
func rangeText(s *jsonschema.Schema) string {
	if s.Type == "array" && s.Items.Properties == nil {
		s = s.Items
	}
	var names []string
	for _, value := range s.Enum {
		names = append(names, fmt.Sprintf("`%v`", value))
	}
	for _, value := range s.OneOf {
		if value.Const == nil {
			names = append(names, value.Description)
			continue
		}
		names = append(names, fmt.Sprintf("`%v`", value.Const))
	}
	if names != nil {
		return strings.Join(names, ", ")
	}
	var parts []string
	for _, bound := range []struct{ sign, value string }{
		{"≥", string(s.Minimum)}, {">", string(s.ExclusiveMinimum)}, {"≤", string(s.Maximum)}, {"<", string(s.ExclusiveMaximum)},
	} {
		if bound.value != "" {
			parts = append(parts, bound.sign+" "+bound.value)
		}
	}
	if s.Not != nil {
		parts = append(parts, fmt.Sprintf("not %v", s.Not.Const))
	}
	return strings.Join(parts, ", ")
}

// meaning is the description without the unit, which has a column.
func meaning(s *jsonschema.Schema) string {
	text, _, _ := strings.Cut(s.Description, " Unit: ")
	return escaped(text)
}

func escaped(text string) string {
	return strings.NewReplacer("|", "\\|", "*", "\\*", "<", "&lt;").Replace(text)
}

func (r *reference) write(s *jsonschema.Schema) string {
	r.WriteString(referenceHead)
	top := *s
	top.Properties = jsonschema.NewProperties()
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		one := *p.Value
		one.Properties, one.AnyOf = nil, nil
		if p.Key == "policies" {
			one.Items = p.Value.Items
		}
		top.Properties.Set(p.Key, &one)
	}
	for _, name := range []string{"fleet", "workload", "measure"} {
		at(&top, name).Type = "object"
	}
	r.section("The study", "", &top)
	r.section("`fleet`: the servers", "fleet.", at(s, "fleet"))
	r.section("`workload`: generated requests", "workload.", at(s, "workload").AnyOf[0])
	r.section("`workload`: a recorded trace", "workload.", at(s, "workload").AnyOf[1])
	r.section("`measure`: what counts", "measure.", at(s, "measure"))
	r.WriteString(sweepText)
	r.table("", r.g.parts["axis"].AnyOf[1])
	var order []string
	for _, p := range AllPolicies() {
		order = append(order, "policy."+p.Name)
	}
	r.choices("Policies", "Entries of `policies`. Every policy also takes `label`, what results call it, so that one policy can run with two settings.", order)
	r.choices("Keys", "Choices of `workload.keys`.", r.g.named("keys"))
	r.choices("Arrivals", "Choices of `workload.arrivals`. The mean rate is the offered load, whatever the process.", r.g.named("arrivals"))
	r.choices("Lengths", "Choices of every length.", r.g.named("length"))
	r.choices("Cost models", "Choices of `fleet.cost`. What is not given is the preset's, if its cost is of that kind.", r.g.named("cost"))
	return r.String()
}

// TestReferenceIsCurrent: docs/study.md says what the code says.
func TestReferenceIsCurrent(t *testing.T) {
	g := newGenerator(t)
	r := &reference{g: g}
	current(t, "../docs/study.md", []byte(r.write(g.study())))
}
