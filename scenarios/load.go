package scenarios

import (
	"embed"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"cacheroute/calib"
)

//go:embed *.yaml
var shipped embed.FS

// Shipped lists the scenarios in the binary, in alphabetical order.
func Shipped() []string {
	entries, err := shipped.ReadDir(".")
	if err != nil {
		panic("scenarios: embedded files: " + err.Error())
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".yaml")
	}
	slices.Sort(names)
	return names
}

// Options change a study while it is loaded.
type Options struct {
	Set      []Override
	Policies []string // keep these only; nil: all
}

// Load reads the shipped scenario of that name, else the study file at that
// path. A study with axes is refused: Expand reads it.
func Load(nameOrPath string, o Options) (*Study, error) {
	d, folder, err := open(nameOrPath)
	if err != nil {
		return nil, err
	}
	return d.study(o, folder)
}

// open reads a shipped scenario or a study file, and names the folder in which
// its files are sought.
func open(nameOrPath string) (d *document, folder string, err error) {
	if slices.Contains(Shipped(), nameOrPath) {
		data, err := shipped.ReadFile(nameOrPath + ".yaml")
		if err != nil {
			return nil, "", err
		}
		d, err = parse(nameOrPath+".yaml", data)
		return d, "", err
	}
	_, err = os.Stat(nameOrPath)
	if errors.Is(err, fs.ErrNotExist) && filepath.Ext(nameOrPath) == "" {
		return nil, "", Badf("%s: neither a file nor a shipped scenario, wanted a YAML file or one of %s", nameOrPath, list(Shipped()))
	}
	d, err = readFile(nameOrPath)
	return d, filepath.Dir(nameOrPath), err
}

// Parse reads a study from memory; name is what errors call it.
func Parse(name string, data []byte, o Options) (*Study, error) {
	d, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	return d.study(o, "")
}

// study decodes and checks a study that has no axes, or none that is left by the
// options.
func (d *document) study(o Options, folder string) (*Study, error) {
	groups, err := d.change(o)
	if err != nil {
		return nil, err
	}
	if len(groups) > 0 {
		a := groups[0][0]
		return nil, Badf("%s: %s: read axes (%s), which only run, explain and sweep take; --set %s=%s keeps one value",
			d.at(a.key.Line), sweepField, list(slices.Sorted(maps.Keys(axisNames(groups)))), a.path, flow(a.values[0]))
	}
	d.root = without(d.root, sweepField)
	return d.decode(folder)
}

// change applies the options and returns the axes that they leave. One that sets
// the very path of an axis takes its place.
func (d *document) change(o Options) (groups [][]axis, err error) {
	d.namePolicies()
	set := map[string]bool{"policies": o.Policies != nil}
	for _, s := range o.Set {
		if err := d.apply(s); err != nil {
			return nil, err
		}
		set[dotted(s.Path)] = true
	}
	if o.Policies != nil {
		d.pickPolicies(o.Policies, "--policies "+strings.Join(o.Policies, ","))
	}
	if err := d.lint(); err != nil {
		return nil, err
	}
	all, err := d.axes()
	for _, g := range all {
		g = slices.DeleteFunc(g, func(a axis) bool { return set[a.path] })
		if len(g) > 0 {
			groups = append(groups, g)
		}
	}
	return groups, err
}

// decode decodes and checks. Files named in the document are sought in folder,
// those named on the command line where the command runs.
func (d *document) decode(folder string) (*Study, error) {
	if err := d.lint(); err != nil {
		return nil, err
	}
	d.resolve(folder)
	d.findPreset(folder)
	s := defaults()
	if err := d.root.Load(&s, yaml.WithKnownFields()); err != nil {
		return nil, d.explain(err)
	}
	if err := s.Check(); err != nil {
		return nil, d.locate(err)
	}
	return &s, nil
}

// namePolicies lists the default policies where the document has none, so that
// their parameters can be changed by name.
func (d *document) namePolicies() {
	if field(d.root, "policies") != nil {
		return
	}
	all := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: d.root.Line}
	for _, p := range AllPolicies() {
		all.Content = append(all.Content, text(p.Name))
	}
	d.root.Content = append(d.root.Content, text("policies"), all)
}

// resolve makes the files that the document names relative to its folder, and
// leaves those named on the command line, which are relative to where it runs.
func (d *document) resolve(folder string) {
	walk(d.root, "", func(_ string, key, value *yaml.Node) {
		named := key != value && key.Value == "file" && value.Kind == yaml.ScalarNode && value.Value != ""
		if named && value.Line < overrideLine && !filepath.IsAbs(value.Value) {
			value.Value = filepath.Join(folder, value.Value)
		}
	})
}

// findPreset seeks a preset file of the document in the document's folder. It
// comes before decoding, as the fleet is filled from the preset.
func (d *document) findPreset(folder string) {
	fleet := field(d.root, "fleet")
	if fleet == nil {
		return
	}
	preset := field(fleet, "preset")
	if preset != nil && preset.Line < overrideLine && calib.IsFile(preset.Value) && !filepath.IsAbs(preset.Value) {
		preset.Value = filepath.Join(folder, preset.Value)
	}
}
