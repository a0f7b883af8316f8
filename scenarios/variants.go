package scenarios

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"cacheroute/results"
)

// maxVariants is the most studies that a study with axes stands for.
const maxVariants = 10_000

// Variant is one study of those that a study with axes stands for.
type Variant struct {
	// Label names it, also as a folder: axis=value, with commas between. The one
	// variant of a study without axes has none.
	Label  string
	Values []AxisValue // in the order of the axes
	Study  *Study
}

// AxisValue is what a variant has on an axis. Path=Value is the override that
// makes it.
type AxisValue struct {
	Name  string `json:"name"`  // the end of the path, as far as it tells axes apart
	Path  string `json:"path"`  // dotted, of the field
	Value string `json:"value"` // in YAML
}

// Axes are the axes of variants with the values that occur.
func Axes(variants []Variant) []results.VariantAxis {
	axes := make([]results.VariantAxis, len(variants[0].Values))
	for _, v := range variants {
		for i, x := range v.Values {
			axes[i].Name, axes[i].Path = x.Name, x.Path
			if !slices.Contains(axes[i].Values, x.Value) {
				axes[i].Values = append(axes[i].Values, x.Value)
			}
		}
	}
	return axes
}

// Base is the name of the study whose variant it is.
func (v *Variant) Base() string { return strings.TrimSuffix(v.Study.Name, ","+v.Label) }

// Expand reads a study as Load does and returns the studies that its axes stand
// for: the last axis changes fastest. An axis whose very path an option sets is
// dropped; what an option sets below an axis holds for each of its values.
func Expand(nameOrPath string, o Options) ([]Variant, error) {
	d, folder, err := open(nameOrPath)
	if err != nil {
		return nil, err
	}
	return d.variants(o, folder)
}

// ExpandText is Expand for a study in memory; name is what errors call it.
func ExpandText(name string, text []byte, o Options) ([]Variant, error) {
	d, err := parse(name, text)
	if err != nil {
		return nil, err
	}
	return d.variants(o, "")
}

// variants decodes every study that the document stands for.
func (d *document) variants(o Options, folder string) ([]Variant, error) {
	groups, err := d.change(o)
	if err != nil {
		return nil, err
	}
	line := d.root.Line
	if section := field(d.root, sweepField); section != nil {
		line = section.Line
	}
	d.root = without(d.root, sweepField)
	total := 1.0
	for _, g := range groups {
		total *= float64(len(g[0].values))
	}
	if total > maxVariants {
		return nil, Badf("%s: %s: the axes have %.0f combinations, wanted at most %d", d.at(line), sweepField, total, maxVariants)
	}
	e := &expansion{document: d, options: o, folder: folder, groups: groups, names: axisNames(groups), labels: map[string]bool{}, studies: map[string]string{}}
	all := make([]Variant, int(total))
	cells := 0
	for i := range all {
		if all[i], err = e.variant(i); err != nil {
			return nil, err
		}
		s := all[i].Study
		if cells += len(s.Policies) * max(1, len(s.LoadsQPS)) * len(s.Seeds); cells > maxCells {
			return nil, Badf("%s: %s: more than %d cells by variant %d of %d, wanted fewer values, loads or seeds", d.at(line), sweepField, maxCells, i+1, len(all))
		}
	}
	return all, nil
}

// expansion makes the variants of a document.
type expansion struct {
	*document
	options Options
	folder  string
	groups  [][]axis
	names   map[string]string // of the axes by path
	labels  map[string]bool   // that are taken
	studies map[string]string // label of a study by its YAML
}

// variant makes the i-th: its number is that of a value in each group, the last
// group fastest.
func (e *expansion) variant(i int) (Variant, error) {
	at := make([]int, len(e.groups))
	for g := len(at) - 1; g >= 0; g-- {
		n := len(e.groups[g][0].values)
		at[g], i = i%n, i/n
	}
	d := e.copy()
	var v Variant
	for g, group := range e.groups {
		for _, a := range group {
			value := copied(a.values[at[g]])
			v.Values = append(v.Values, AxisValue{e.names[a.path], a.path, flow(value)})
			if err := d.put(a.path, value, a.key.Line, d.at(a.key.Line)+": "+sweepField); err != nil {
				return v, err
			}
		}
	}
	for _, set := range e.options.Set {
		if e.below(set) {
			if err := d.apply(set); err != nil {
				return v, err
			}
		}
	}
	v.Label = e.label(v.Values)
	s, err := d.decode(e.folder)
	if err != nil {
		return v, err
	}
	v.Study = s
	return v, e.tellApart(&v, d)
}

// below reports whether an override changes a part of an axis's values.
func (e *expansion) below(set Override) bool {
	for _, g := range e.groups {
		for _, a := range g {
			if strings.HasPrefix(dotted(set.Path), a.path+".") {
				return true
			}
		}
	}
	return false
}

// tellApart refuses a variant that is another one under a second label, and then
// names its study.
func (e *expansion) tellApart(v *Variant, d *document) error {
	if len(v.Values) == 0 {
		return nil
	}
	unnamed := *v.Study
	unnamed.Name, unnamed.Description = "", ""
	text, err := unnamed.YAML()
	if err != nil {
		return err
	}
	last := v.Values[len(v.Values)-1]
	if other, twice := e.studies[string(text)]; twice {
		return Badf("%s: %s: variants %s and %s are one and the same study", d.place(last.Path), sweepField, other, v.Label)
	}
	e.studies[string(text)] = v.Label
	if name := v.Study.Name + "," + v.Label; studyName.MatchString(name) {
		v.Study.Name = name
	}
	return nil
}

// unfit is what a label, which is also a folder, does without.
var unfit = regexp.MustCompile(`[^A-Za-z0-9._=-]+`)

// label names a variant by its values, or by its number where that would be too
// long or is taken.
func (e *expansion) label(values []AxisValue) string {
	if len(values) == 0 {
		return ""
	}
	const most = 80
	parts := make([]string, len(values))
	for i, v := range values {
		text := v.Value
		if strings.HasSuffix(v.Name, "preset") || strings.HasSuffix(v.Name, "file") {
			text = text[strings.LastIndexAny(text, `/\`)+1:]
		}
		parts[i] = unfit.ReplaceAllString(v.Name, "-") + "=" + strings.Trim(unfit.ReplaceAllString(text, "-"), "-")
	}
	label := strings.Join(parts, ",")
	if len(label) > most || e.labels[label] {
		label = fmt.Sprintf("variant-%d", len(e.labels)+1)
	}
	e.labels[label] = true
	return label
}

// axisNames names each axis by the shortest end of its path that no other has.
func axisNames(groups [][]axis) map[string]string {
	var paths []string
	for _, g := range groups {
		for _, a := range g {
			paths = append(paths, a.path)
		}
	}
	names := map[string]string{}
	for _, path := range paths {
		parts := strings.Split(path, ".")
		for n := 1; n <= len(parts); n++ {
			end := strings.Join(parts[len(parts)-n:], ".")
			names[path] = end
			if !slices.ContainsFunc(paths, func(p string) bool { return p != path && strings.HasSuffix("."+p, "."+end) }) {
				break
			}
		}
	}
	return names
}

// copy is the document with a tree of its own.
func (d *document) copy() *document {
	return &document{name: d.name, root: copied(d.root), overrides: slices.Clone(d.overrides)}
}

// copied is a tree without aliases once more.
func copied(n *yaml.Node) *yaml.Node {
	budget := math.MaxInt
	return expand(n, &budget)
}
