package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Override changes a study before it is decoded.
type Override struct {
	Path   string // dotted; a list item by its index, a policy also by its name
	Value  string // in YAML
	Source string // as errors show it, such as "--set seeds=[1]"
}

// ParseSet reads path=value as --set takes it.
func ParseSet(arg string) (Override, error) {
	path, value, ok := strings.Cut(arg, "=")
	if !ok || path == "" {
		return Override{}, Badf("--set %s: no path, wanted path=value", arg)
	}
	return Override{Path: path, Value: value, Source: "--set " + arg}, nil
}

// apply changes the tree by one override.
func (d *document) apply(o Override) error {
	var doc yaml.Node
	if err := yaml.Load([]byte(o.Value), &doc); err != nil || len(doc.Content) != 1 {
		return Badf("%s: %s is no YAML value", o.Source, quote(o.Value))
	}
	budget := maxStudyNodes
	value := expand(doc.Content[0], &budget)
	if budget < 0 {
		return Badf("%s: too many values", o.Source)
	}
	line := overrideLine + len(d.overrides)
	d.overrides = append(d.overrides, o.Source)
	relocate(value, line, 0)
	return d.put(o.Path, value, line, o.Source)
}

// put gives a path a value, and a line to what it makes on the way; errors begin
// with the source.
func (d *document) put(path string, value *yaml.Node, line int, source string) error {
	parts := pathParts(path)
	at := d.root
	for i, part := range parts {
		slot, err := descend(at, part, line)
		if err != nil {
			return Badf("%s: %s: %v", source, strings.Join(parts[:i+1], "."), err)
		}
		if i == len(parts)-1 {
			*slot = value
		}
		at = *slot
	}
	return nil
}

// pathParts splits a dotted path. An axis has a dotted name of its own.
func pathParts(path string) []string {
	path = dotted(path)
	for _, head := range [][]string{{sweepField, pairedField}, {sweepField}} {
		if name, ok := strings.CutPrefix(path, strings.Join(head, ".")+"."); ok {
			return append(slices.Clone(head), name)
		}
	}
	return strings.Split(path, ".")
}

// relocate gives a node and all below it one place; a column of 0 leaves theirs.
func relocate(n *yaml.Node, line, column int) {
	n.Line = line
	if column > 0 {
		n.Column = column
	}
	for _, c := range n.Content {
		relocate(c, line, column)
	}
}

// descend returns the place of a part below n, a new mapping if n is a mapping
// without it.
func descend(n *yaml.Node, part string, line int) (**yaml.Node, error) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == part {
				return &n.Content[i+1], nil
			}
		}
		var key yaml.Node
		key.SetString(part)
		key.Line = line
		n.Content = append(n.Content, &key, &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: line})
		return &n.Content[len(n.Content)-1], nil
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(part); err == nil {
			if i < 0 || i >= len(n.Content) {
				return nil, fmt.Errorf("no such item in a list of %d", len(n.Content))
			}
			return &n.Content[i], nil
		}
		for i, item := range n.Content {
			if slices.Contains(names(item), part) {
				n.Content[i] = named(item, line)
				return &n.Content[i], nil
			}
		}
		return nil, fmt.Errorf("no item of that name in the list, wanted one or an index")
	}
	return nil, fmt.Errorf("what is above it holds a plain value, wanted a mapping or a list")
}

// names are the names that a list item answers to.
func names(item *yaml.Node) []string {
	if item.Kind == yaml.ScalarNode {
		return []string{item.Value}
	}
	var all []string
	for _, f := range []string{"name", "label"} {
		if v := field(item, f); v != nil {
			all = append(all, v.Value)
		}
	}
	return all
}

// named writes the short form of a choice, its name alone, as a mapping.
func named(item *yaml.Node, line int) *yaml.Node {
	if item.Kind != yaml.ScalarNode {
		return item
	}
	var key yaml.Node
	key.SetString("name")
	key.Line = line
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: line, Content: []*yaml.Node{&key, item}}
}

// pickPolicies replaces the list of policies by those of the given names: with
// the study's own parameters where the study has them, else with defaults.
func (d *document) pickPolicies(picked []string, source string) {
	line := overrideLine + len(d.overrides)
	d.overrides = append(d.overrides, source)
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: line}
	old := field(d.root, "policies")
	for _, name := range picked {
		found := false
		for i := 0; old != nil && i < len(old.Content); i++ {
			if slices.Contains(names(old.Content[i]), name) {
				list.Content = append(list.Content, old.Content[i])
				found = true
			}
		}
		if !found {
			item := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name, Line: line, Column: len(list.Content)}
			list.Content = append(list.Content, item)
		}
	}
	slot, err := descend(d.root, "policies", line)
	if err != nil {
		panic("scenarios: a study's root is no mapping")
	}
	*slot = list
}
