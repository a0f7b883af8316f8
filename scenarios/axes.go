package scenarios

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// The section of a study that holds its axes, and the axes in it that advance
// together.
const (
	sweepField  = "sweep"
	pairedField = "paired"
)

// maxSteps is the most values of an axis.
const maxSteps = 10_000

// Range is an axis in short: its ends and how many values it has.
type Range struct {
	// From is the first value.
	From float64 `yaml:"from" jsonschema:"required"`
	// To is the last value, above the first. If both are whole numbers, so are the
	// values between them; write 1.0 where fractions are meant.
	To float64 `yaml:"to" jsonschema:"required"`
	// Steps is the number of values, with both ends.
	Steps int `yaml:"steps" jsonschema:"required,minimum=2,maximum=10000"`
	// Scale says whether neighbours have one difference (linear) or one ratio
	// (log). Values between the ends are rounded to four digits.
	Scale string `yaml:"scale" jsonschema:"enum=linear,enum=log,default=linear"`
}

// axis is a field of the study and the values that it takes.
type axis struct {
	path   string // dotted
	key    *yaml.Node
	values []*yaml.Node
}

// axes reads the axes of a study in groups: the axes of a group advance together.
func (d *document) axes() (groups [][]axis, err error) {
	section := field(d.root, sweepField)
	if section == nil {
		return nil, nil
	}
	single, err := d.axesOf(section, sweepField)
	for _, a := range single {
		groups = append(groups, []axis{a})
	}
	if err != nil {
		return nil, err
	}
	if section := field(section, pairedField); section != nil {
		paired, err := d.axesOf(section, sweepField+"."+pairedField)
		if err != nil {
			return nil, err
		}
		for _, a := range paired[1:] {
			if n, first := len(a.values), paired[0]; n != len(first.values) {
				return nil, Badf("%s: %s.%s.%s: %s, wanted %d as %s has", d.at(a.key.Line), sweepField, pairedField, a.path, count(n, "value"), len(first.values), first.path)
			}
		}
		groups = append(groups, paired)
	}
	return groups, d.distinctPaths(groups)
}

// axesOf reads the axes of a mapping, but for the paired ones in it.
func (d *document) axesOf(n *yaml.Node, path string) (all []axis, err error) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return nil, Badf("%s: %s: wanted axes, such as fleet.destinations: [10, 20]", d.at(n.Line), path)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Value == pairedField && path == sweepField {
			continue
		}
		a := axis{path: dotted(key.Value), key: key}
		if a.values, err = d.axisValues(value, path+"."+key.Value); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// distinctPaths refuses an axis that is given twice or lies within another.
func (d *document) distinctPaths(groups [][]axis) error {
	var all []axis
	for _, g := range groups {
		all = append(all, g...)
	}
	for i, a := range all {
		for j, b := range all {
			if i != j && (a.path == b.path && i > j || strings.HasPrefix(a.path, b.path+".")) {
				return Badf("%s: %s: axis %s lies within axis %s of %s, wanted one of them", d.at(a.key.Line), sweepField, a.path, b.path, d.at(b.key.Line))
			}
		}
	}
	return nil
}

// axisValues reads a list of values or a range of numbers.
func (d *document) axisValues(n *yaml.Node, path string) (values []*yaml.Node, err error) {
	switch n.Kind {
	case yaml.SequenceNode:
		values = n.Content
	case yaml.MappingNode:
		if values, err = d.rangeValues(n, path); err != nil {
			return nil, err
		}
	default:
		return nil, Badf("%s: %s: read %s, wanted a list of values or {from, to, steps}", d.at(n.Line), path, quote(n.Value))
	}
	if len(values) == 0 || len(values) > maxSteps {
		return nil, Badf("%s: %s: read a list of %d values, wanted 1 to %d", d.at(n.Line), path, len(values), maxSteps)
	}
	seen := map[string]bool{}
	for _, v := range values {
		text := flow(v)
		if seen[text] {
			return nil, Badf("%s: %s: %s is listed twice", d.at(v.Line), path, text)
		}
		seen[text] = true
	}
	return values, nil
}

// rangeValues writes a range out.
func (d *document) rangeValues(n *yaml.Node, path string) ([]*yaml.Node, error) {
	r := Range{Scale: "linear"}
	if err := n.Load(&r, yaml.WithKnownFields()); err != nil {
		return nil, d.explain(err)
	}
	refuse := func(format string, args ...any) ([]*yaml.Node, error) {
		return nil, Badf("%s: %s: %s", d.at(n.Line), path, fmt.Sprintf(format, args...))
	}
	from, to := field(n, "from"), field(n, "to")
	switch {
	case from == nil || to == nil || field(n, "steps") == nil:
		return refuse("a range without from, to or steps, wanted all three or a list of values")
	case r.Scale != "linear" && r.Scale != "log":
		return refuse("scale %s, wanted linear or log", quote(r.Scale))
	case !(r.From < r.To):
		return refuse("from %v to %v, wanted rising values", r.From, r.To)
	case r.Steps < 2 || r.Steps > maxSteps:
		return refuse("%d steps, wanted 2 to %d", r.Steps, maxSteps)
	case r.Scale == "log" && !(r.From > 0):
		return refuse("from %v on a log scale, wanted a positive number", r.From)
	}
	integers := from.ShortTag() == "!!int" && to.ShortTag() == "!!int"
	values := make([]*yaml.Node, r.Steps)
	for i := range values {
		x := r.value(i)
		text := strconv.FormatFloat(x, 'g', -1, 64)
		if integers {
			text = strconv.FormatInt(int64(math.Round(x)), 10)
		}
		values[i] = &yaml.Node{Kind: yaml.ScalarNode, Value: text, Line: n.Line, Column: n.Column}
	}
	return values, nil
}

// value is the i-th of a range.
func (r *Range) value(i int) float64 {
	part := float64(i) / float64(r.Steps-1)
	switch {
	case i == 0:
		return r.From
	case i == r.Steps-1:
		return r.To
	case r.Scale == "log":
		return digits(r.From*math.Pow(r.To/r.From, part), 4)
	}
	return digits(r.From+(r.To-r.From)*part, 4)
}

// flow writes a value in YAML on one line.
func flow(n *yaml.Node) string {
	c := *n
	if c.Kind == yaml.ScalarNode {
		return c.Value
	}
	c.Style = yaml.FlowStyle
	text, err := yaml.Dump(&c, yaml.WithLineWidth(-1))
	if err != nil {
		return c.Value
	}
	return strings.TrimSpace(string(text))
}

// digits rounds a number to so many digits.
func digits(x float64, n int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', n-1, 64), 64)
	if err != nil {
		panic("scenarios: a printed number cannot be read: " + err.Error())
	}
	return r
}
