package scenarios

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"

	"cacheroute/engine"
	"cacheroute/policies"
	"cacheroute/workload"
)

// Choice is one entry of a package's table with its own parameters, in YAML
// {name: ..., <parameters>} or the name alone.
type Choice[T any] struct {
	Name string
	Spec T
}

// decode reads a choice strictly: the owner of the name decodes the rest. If
// the choice already is of that name, or none is given, the parameters that are
// not given keep their values.
func (c *Choice[T]) decode(n *yaml.Node, what string, table map[string]func() T, extra ...string) error {
	named := n
	if n.Kind == yaml.MappingNode {
		named = field(n, "name")
	}
	if named == nil && c.Name != "" {
		named = text(c.Name)
	}
	if named == nil || named.Kind != yaml.ScalarNode {
		return misread(n, "no name, wanted name: and a "+what+" ("+listed(table)+")")
	}
	build := table[named.Value]
	if build == nil {
		return misread(named, "unknown "+what+" "+quote(named.Value)+", wanted one of "+listed(table))
	}
	if c.Name != named.Value {
		c.Name, c.Spec = named.Value, build()
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	return without(n, append(extra, "name")...).Load(c.Spec, yaml.WithKnownFields())
}

// encode writes name and every parameter on one line.
func (c Choice[T]) encode(extra ...*yaml.Node) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	n.Content = append(n.Content, text("name"), text(c.Name))
	n.Content = append(n.Content, extra...)
	var spec yaml.Node
	if err := spec.Encode(c.Spec); err != nil {
		return nil, err
	}
	if spec.Kind == yaml.MappingNode {
		n.Content = append(n.Content, spec.Content...)
	}
	n.Style = yaml.FlowStyle
	return n, nil
}

// text is a string as a node.
func text(s string) *yaml.Node {
	var n yaml.Node
	n.SetString(s)
	return &n
}

// misread is an error at a node.
func misread(n *yaml.Node, message string) error {
	mark := yaml.Mark{Line: n.Line, Column: n.Column}
	return &yaml.LoadErrors{Errors: []*yaml.LoadError{yaml.NewLoadError(yaml.ConstructorStage, message, mark, nil)}}
}

func listed[T any](table map[string]func() T) string {
	return list(sortedNames(table))
}

// Keys chooses a population of keys.
type Keys struct{ Choice[workload.KeySpec] }

// UnmarshalYAML reads the choice.
func (k *Keys) UnmarshalYAML(n *yaml.Node) error {
	return k.decode(n, "key population", workload.KeySpecs)
}

// MarshalYAML writes the choice.
func (k Keys) MarshalYAML() (any, error) { return k.encode() }

// Arrivals chooses an arrival process.
type Arrivals struct{ Choice[workload.ArrivalSpec] }

// UnmarshalYAML reads the choice.
func (a *Arrivals) UnmarshalYAML(n *yaml.Node) error {
	return a.decode(n, "arrival process", workload.ArrivalSpecs)
}

// MarshalYAML writes the choice.
func (a Arrivals) MarshalYAML() (any, error) { return a.encode() }

// Cost chooses a cost model.
type Cost struct{ Choice[engine.CostSpec] }

// UnmarshalYAML reads the choice; a cost of the preset's kind changes only what
// it names.
func (c *Cost) UnmarshalYAML(n *yaml.Node) error {
	return c.decode(n, "cost model", engine.CostModels)
}

// MarshalYAML writes the choice.
func (c Cost) MarshalYAML() (any, error) { return c.encode() }

// Policy chooses a policy. Its label names it in results, so that one policy
// can run with two settings.
type Policy struct {
	Choice[policies.Spec]
	Label string
}

// UnmarshalYAML reads the choice.
func (p *Policy) UnmarshalYAML(n *yaml.Node) error {
	if err := p.decode(n, "policy", policies.Policies, "label"); err != nil {
		return err
	}
	p.Label = p.Name
	if l := field(n, "label"); l != nil {
		return l.Load(&p.Label)
	}
	return nil
}

// MarshalYAML writes the choice, its label if that says more than the name.
func (p Policy) MarshalYAML() (any, error) {
	if p.Label == p.Name {
		return p.encode()
	}
	return p.encode(text("label"), text(p.Label))
}

// fieldsOf lists the YAML fields of a Go type that a study can hold, by the
// name that the YAML library gives it.
func fieldsOf(typeName string) []string {
	for _, root := range studyTypes() {
		if known := fieldsBelow(root, typeName, map[reflect.Type]bool{}); known != nil {
			return known
		}
	}
	return nil
}

// studyTypes are the types that a study decodes into.
func studyTypes() []reflect.Type {
	types := []reflect.Type{reflect.TypeFor[Study](), reflect.TypeFor[plainFleet](), reflect.TypeFor[Synthetic](), reflect.TypeFor[traced](), reflect.TypeFor[Range]()}
	for _, build := range workload.KeySpecs {
		types = append(types, reflect.TypeOf(build()))
	}
	for _, build := range workload.ArrivalSpecs {
		types = append(types, reflect.TypeOf(build()))
	}
	for _, build := range policies.Policies {
		types = append(types, reflect.TypeOf(build()))
	}
	for _, build := range engine.CostModels {
		types = append(types, reflect.TypeOf(build()))
	}
	return types
}

// fieldsBelow searches t and what it holds for a type of that name.
func fieldsBelow(t reflect.Type, typeName string, seen map[reflect.Type]bool) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return nil
	}
	seen[t] = true
	if t.String() == typeName {
		return yamlFields(t)
	}
	for i := range t.NumField() {
		if below := fieldsBelow(t.Field(i).Type, typeName, seen); below != nil {
			return below
		}
	}
	return nil
}

// yamlFields are the names of a struct's fields in YAML.
func yamlFields(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}
