package scenarios

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Bounds of a study file: a study is written by hand.
const (
	maxStudyBytes = 1 << 20
	maxStudyLines = 10_000  // the decoder compares each key of a mapping with all before it
	maxStudyNodes = 200_000 // after aliases are written out
	// overrideLine and up are the line numbers given to values that come from
	// the command line, so that an error can name the argument.
	overrideLine = 1 << 24
)

// document is a study as a tree of YAML nodes that know where they come from.
type document struct {
	name      string // as errors show it
	root      *yaml.Node
	overrides []string // command-line arguments by line - overrideLine
}

// readFile reads a study file.
func readFile(path string) (*document, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, bad(err)
	}
	if info.IsDir() {
		return nil, Badf("%s: is a directory, wanted a study file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, bad(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxStudyBytes+1))
	if err != nil {
		return nil, bad(err)
	}
	return parse(path, data)
}

// parse reads a study from memory.
func parse(name string, data []byte) (*document, error) {
	if len(data) > maxStudyBytes {
		return nil, Badf("%s: more than %d bytes, wanted a study", name, maxStudyBytes)
	}
	if lines := bytes.Count(data, []byte("\n")); lines > maxStudyLines {
		return nil, Badf("%s: %d lines, wanted at most %d (long lists belong in a file of their own)", name, lines, maxStudyLines)
	}
	d := &document{name: name}
	var doc yaml.Node
	if err := yaml.Load(data, &doc); err != nil {
		return nil, d.explain(err)
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, Badf("%s:%d: no mapping of fields, wanted a study", name, max(1, doc.Line))
	}
	budget := maxStudyNodes
	d.root = expand(doc.Content[0], &budget)
	if budget < 0 {
		return nil, Badf("%s: more than %d values once aliases are written out", name, maxStudyNodes)
	}
	return d, d.lint()
}

// expand writes aliases out, so that every value can be changed on its own; what
// an alias stands for gets the alias's place.
// It stops when the budget of nodes is spent, as an alias can hold itself.
func expand(n *yaml.Node, budget *int) *yaml.Node {
	*budget--
	if *budget < 0 {
		return n
	}
	if n.Kind == yaml.AliasNode {
		c := expand(n.Alias, budget)
		if *budget >= 0 {
			relocate(c, n.Line, n.Column)
		}
		return c
	}
	c := *n
	c.Anchor = ""
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		c.Content[i] = expand(child, budget)
	}
	return &c
}

// at names the place of a line.
func (d *document) at(line int) string {
	if i := line - overrideLine; i >= 0 && i < len(d.overrides) {
		return d.overrides[i]
	}
	return fmt.Sprintf("%s:%d", d.name, max(1, line))
}

// walk calls visit for every node below n with its dotted path. key is the
// node that names it, n itself for list items.
func walk(n *yaml.Node, path string, visit func(path string, key, value *yaml.Node)) {
	step := func(part string, key, value *yaml.Node) {
		below := part
		if path != "" {
			below = path + "." + part
		}
		visit(below, key, value)
		walk(value, below, visit)
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			step(n.Content[i].Value, n.Content[i], n.Content[i+1])
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			step(strconv.Itoa(i), item, item)
		}
	}
}

// find returns the path and node at a position that the YAML library names.
func (d *document) find(mark yaml.Mark) (path string, node *yaml.Node) {
	if d.root == nil {
		return "", nil
	}
	walk(d.root, "", func(p string, key, value *yaml.Node) {
		for _, n := range []*yaml.Node{key, value} {
			if node == nil && n.Line == mark.Line && n.Column == mark.Column {
				path, node = p, n
			}
		}
	})
	return path, node
}

// dotted writes a[0].b as a.0.b.
func dotted(path string) string {
	return strings.NewReplacer("[", ".", "]", "").Replace(path)
}

// place names file and line of a path, or of the nearest thing above it.
func (d *document) place(path string) string {
	path = dotted(path)
	line := d.root.Line
	walk(d.root, "", func(p string, key, value *yaml.Node) {
		if p == path || strings.HasPrefix(path, p+".") {
			line = key.Line
			if value.Kind == yaml.ScalarNode {
				line = value.Line
			}
		}
	})
	return d.at(line)
}

// leadingZero is an integer that YAML 1.1 reads as octal.
var leadingZero = regexp.MustCompile(`^[-+]?0[0-9_]+$`)

// lint refuses what decodes without an error and is never meant: repeated
// fields, empty values, NaN and infinities, octal numbers, merge keys.
func (d *document) lint() error {
	var mistakes []string
	report := func(n *yaml.Node, format string, args ...any) {
		mistakes = append(mistakes, d.at(n.Line)+": "+fmt.Sprintf(format, args...))
	}
	seen := map[string]int{}
	walk(d.root, "", func(path string, key, value *yaml.Node) {
		if key != value {
			if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" {
				report(key, "%s: read a field named %s, wanted a name", path, quote(key.Value))
			}
			if line, twice := seen[path]; twice {
				report(key, "%s: repeated field, first given at %s", path, d.at(line))
			}
			seen[path] = key.Line
		}
		if value.Kind != yaml.ScalarNode {
			return
		}
		switch value.ShortTag() {
		case "!!null":
			report(value, "%s: no value", path)
		case "!!float":
			var f float64
			if value.Decode(&f) == nil && (math.IsNaN(f) || math.IsInf(f, 0)) {
				report(value, "%s: read %s, wanted a finite number", path, value.Value)
			}
		case "!!int":
			if leadingZero.MatchString(value.Value) {
				report(value, "%s: read %s, wanted a number without leading zeros", path, value.Value)
			}
		}
	})
	if mistakes == nil {
		return nil
	}
	return listMistakes(len(mistakes), func(i int) string { return mistakes[i] })
}

// field returns the value of a field of a mapping, nil if it has none.
func field(n *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

// without returns a shallow copy of a mapping that lacks some fields.
func without(n *yaml.Node, names ...string) *yaml.Node {
	c := *n
	c.Content = nil
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !slices.Contains(names, n.Content[i].Value) {
			c.Content = append(c.Content, n.Content[i], n.Content[i+1])
		}
	}
	return &c
}
