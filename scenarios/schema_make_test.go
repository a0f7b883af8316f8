package scenarios

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/invopop/jsonschema"
	"go.yaml.in/yaml/v4"

	"cacheroute/engine"
	"cacheroute/policies"
	"cacheroute/workload"
	"cacheroute/workload/trace"
)

// generator makes the JSON Schema of a study. Types and ranges are those of the
// structs that a study decodes into and of their tags, descriptions are the
// comments of their fields, names and defaults come from the tables.
type generator struct {
	reflector jsonschema.Reflector
	comments  map[string]string
	parts     jsonschema.Definitions // by "kind.name", the parameters of each choice
}

func newGenerator(t *testing.T) *generator {
	t.Helper()
	var source jsonschema.Reflector
	for _, dir := range []string{".", "../workload", "../policies", "../engine"} {
		if err := source.AddGoComments("cacheroute/scenarios", dir, jsonschema.WithFullComment()); err != nil {
			t.Fatal(err)
		}
	}
	g := &generator{comments: source.CommentMap, parts: jsonschema.Definitions{}}
	g.reflector = jsonschema.Reflector{
		Anonymous: true, DoNotReference: true, FieldNameTag: "yaml", RequiredFromJSONSchemaTags: true,
		Mapper: g.custom, LookupComment: g.comment,
	}
	return g
}

// comment is what the code says of a type or a field, without the Go name.
func (g *generator) comment(t reflect.Type, field string) string {
	key := t.PkgPath() + "." + t.Name()
	name := t.Name()
	if field != "" {
		key, name = key+"."+field, field
	}
	lines := strings.ReplaceAll(g.comments[key], "\n\t", "; ") // a block of formulas
	lines = strings.ReplaceAll(strings.ReplaceAll(lines, "\n\n;", "\n"), ":\n;", ":")
	text := strings.Join(strings.Fields(lines), " ")
	rest, ok := strings.CutPrefix(text, name+" ")
	if ok {
		for _, verb := range []string{"is ", "are "} {
			rest = strings.TrimPrefix(rest, verb)
		}
		text = rest
		if strings.HasPrefix(rest, "of ") {
			text = name + " " + rest
		}
	}
	if text == "" {
		return ""
	}
	r := []rune(text)
	if word, _, _ := strings.Cut(text, " "); !strings.Contains(word, "_") {
		r[0] = unicode.ToUpper(r[0])
	}
	return strings.TrimSuffix(string(r), ".") + "."
}

// units are told by the end of a field's name.
var units = []struct{ suffix, unit string }{
	{"_gb_s", "GB/s"}, {"_per_s", "1/s"}, {"_tflops", "TFLOP/s"}, {"_bytes", "bytes"}, {"_s", "seconds"}, {"_ms", "milliseconds"}, {"_qps", "requests/s"}, {"_tokens", "tokens"}, {"_p99_s", "seconds"},
}

func unitOf(name string) string {
	for _, u := range units {
		if strings.HasSuffix("_"+name, u.suffix) {
			return u.unit
		}
	}
	return ""
}

// object is the schema of a struct with the defaults that its value holds.
func (g *generator) object(v any) *jsonschema.Schema {
	s := g.reflector.Reflect(v)
	s.Version = ""
	setDefaults(s, v)
	return s
}

// setDefaults fills in the defaults of the optional properties.
func setDefaults(s *jsonschema.Schema, v any) {
	var values map[string]any
	text, err := yaml.Dump(v)
	if err == nil {
		err = yaml.Load(text, &values)
	}
	if err != nil {
		panic(fmt.Sprintf("%T: %v", v, err))
	}
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		value, ok := values[p.Key]
		if ok && !slices.Contains(s.Required, p.Key) {
			p.Value.Default = value
		}
	}
}

// custom makes the schema of what decodes itself.
func (g *generator) custom(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[Keys]():
		return choice(g, "keys", workload.KeySpecs, sortedNames(workload.KeySpecs), nil)
	case reflect.TypeFor[Arrivals]():
		return choice(g, "arrivals", workload.ArrivalSpecs, sortedNames(workload.ArrivalSpecs), nil)
	case reflect.TypeFor[workload.Length]():
		if g.parts["length"] == nil {
			s := choice(g, "length", workload.Lengths, sortedNames(workload.Lengths), nil)
			s.AnyOf[0] = &jsonschema.Schema{Type: "integer", Minimum: "0", Maximum: json.Number(fmt.Sprint(workload.MaxTokens)), Description: "A constant length."}
			g.parts["length"] = s
		}
		return ref("length")
	case reflect.TypeFor[Policy]():
		var names []string
		for _, p := range AllPolicies() {
			names = append(names, p.Name)
		}
		return choice(g, "policy", policies.Policies, names, &jsonschema.Schema{
			Type: "string", Pattern: policyLabel.String(),
			Description: "What results call the policy, so that one can run with two settings. Default: its name.",
		})
	case reflect.TypeFor[Cost]():
		return g.unnamed(choice(g, "cost", engine.CostModels, sortedNames(engine.CostModels), nil), "cost")
	case reflect.TypeFor[Workload]():
		synthetic := g.object(Synthetic{})
		traced := g.object(traced{})
		traced.Description = "Replays recorded requests."
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{synthetic, traced}}
	}
	return nil
}

// choice is a name alone, or an object whose name says which further fields it
// has.
func choice[T abouter](g *generator, kind string, table map[string]func() T, names []string, label *jsonschema.Schema) *jsonschema.Schema {
	short := &jsonschema.Schema{Type: "string", Description: "A name alone takes the defaults of all parameters."}
	named := &jsonschema.Schema{Type: "string"}
	object := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), Required: []string{"name"}}
	object.Properties.Set("name", named)
	for _, name := range names {
		spec := table[name]()
		named.OneOf = append(named.OneOf, &jsonschema.Schema{Const: name, Description: spec.About()})
		parameters := g.object(spec)
		if len(parameters.Required) == 0 {
			short.Enum = append(short.Enum, name)
		}
		own := *parameters
		g.parts[kind+"."+name] = &own
		own.Properties = jsonschema.NewProperties()
		own.Properties.Set("name", &jsonschema.Schema{Const: name})
		if label != nil {
			own.Properties.Set("label", label)
		}
		for p := parameters.Properties.Oldest(); p != nil; p = p.Next() {
			if p.Key != "name" {
				own.Properties.Set(p.Key, p.Value)
			}
		}
		only := jsonschema.NewProperties()
		only.Set("name", &jsonschema.Schema{Const: name})
		object.AllOf = append(object.AllOf, &jsonschema.Schema{
			If: &jsonschema.Schema{Properties: only, Required: []string{"name"}}, Then: ref(kind + "." + name),
		})
	}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{short, object}}
}

func ref(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: "#/$defs/" + name} }

// unnamed lets a choice do without its name and its parameters, which are then
// known from elsewhere.
func (g *generator) unnamed(s *jsonschema.Schema, kind string) *jsonschema.Schema {
	object := s.AnyOf[1]
	object.Required = nil
	any := &jsonschema.Schema{}
	for _, name := range g.named(kind) {
		for p := g.parts[name].Properties.Oldest(); p != nil; p = p.Next() {
			p.Value.Default = nil
		}
		any.AnyOf = append(any.AnyOf, ref(name))
	}
	object.AllOf = append(object.AllOf, &jsonschema.Schema{
		If: &jsonschema.Schema{Not: &jsonschema.Schema{Required: []string{"name"}}}, Then: any,
	})
	return s
}

// named lists the parts of a kind in alphabetical order.
func (g *generator) named(kind string) []string {
	var names []string
	for name := range g.parts {
		if strings.HasPrefix(name, kind+".") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// oneOf lists what a property can hold.
func oneOf(s *jsonschema.Schema, all []Entry) {
	for _, e := range all {
		s.OneOf = append(s.OneOf, &jsonschema.Schema{Const: e.Name, Description: e.About})
	}
}

// anyRequired wants at least one of the sets of fields.
func anyRequired(s *jsonschema.Schema, sets ...[]string) {
	for _, set := range sets {
		s.AnyOf = append(s.AnyOf, &jsonschema.Schema{Required: set})
	}
}

// study is the whole schema.
func (g *generator) study() *jsonschema.Schema {
	s := g.reflector.Reflect(Study{})
	s.Title = "A cacheroute study"
	s.Description = "What to simulate: every policy at every load with every seed."
	given := defaults()
	at(s, "seeds").Default = given.Seeds
	var names []string
	for _, p := range given.Policies {
		names = append(names, p.Name)
	}
	at(s, "policies").Default = names
	setDefaults(at(s, "measure"), given.Measure)
	at(s, "name").Pattern = studyName.String()
	oneOf(at(s, "fleet", "preset"), presetEntries())
	at(s, "fleet", "preset").OneOf = append(at(s, "fleet", "preset").OneOf, &jsonschema.Schema{Pattern: `(\.ya?ml$|/)`, Description: "a preset file, as cacheroute calibrate writes it"})
	at(s, "fleet", "signal_interval_s").Default = 0
	at(s, "fleet", "client_overhead_s").Default = 0
	at(s, "fleet", "hash_seed").Default = 0

	synthetic, recorded := at(s, "workload").AnyOf[0], at(s, "workload").AnyOf[1]
	setDefaults(at(synthetic, "prompt"), given.Workload.Synthetic.Prompt)
	at(synthetic, "arrivals").Default = given.Workload.Synthetic.Arrivals.Name
	anyRequired(at(synthetic, "whales"), []string{"traffic_share"}, []string{"times_target", "target_qps"})
	at(synthetic, "prompt", "turn_tokens").Not = &jsonschema.Schema{Const: 0}
	at(synthetic, "output_tokens").Not = &jsonschema.Schema{Const: 0}
	anyRequired(g.parts["length.empirical"], []string{"file"}, []string{"values"})
	setDefaults(at(recorded, "trace"), Trace{})
	oneOf(at(recorded, "trace", "format"), entries(trace.Formats))
	at(recorded, "trace", "key").Pattern = `^(auto|none|session|field|field:.+|prefix:[1-9][0-9]{0,6})$`
	traced := jsonschema.NewProperties()
	traced.Set("workload", &jsonschema.Schema{Required: []string{"trace"}})
	byStage := jsonschema.NewProperties()
	byStage.Set("by_stage", &jsonschema.Schema{Const: true})
	staged := jsonschema.NewProperties()
	staged.Set("measure", &jsonschema.Schema{Properties: byStage, Required: []string{"by_stage"}})
	s.AnyOf = []*jsonschema.Schema{{Required: []string{"loads_qps"}}, {Properties: traced}, {Properties: staged, Required: []string{"measure"}}}
	s.Properties.Set(sweepField, g.sweep())
	s.Definitions = g.parts
	tellUnits(s)
	return s
}

// sweep is the schema of the axes, whose names are those of any field.
func (g *generator) sweep() *jsonschema.Schema {
	unique := uint64(1)
	values := &jsonschema.Schema{Type: "array", MinItems: &unique, UniqueItems: true, Description: "The values, each as the field takes it."}
	short := g.object(Range{Scale: "linear"})
	short.Description = "So many numbers between two ends."
	g.parts["axis"] = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{values, short}}
	paired := &jsonschema.Schema{Type: "object", AdditionalProperties: ref("axis"), MinProperties: &unique,
		Description: "Axes that advance together, and so have equally many values: the first value of each, then the second."}
	s := &jsonschema.Schema{Type: "object", AdditionalProperties: ref("axis"), MinProperties: &unique, Properties: jsonschema.NewProperties(),
		Description: "Axes: the study stands for one study for each combination of their values. An axis is the dotted path of any field, as in --set, " +
			"with a list of values or a range, such as fleet.destinations: [10, 20] or policies.cacheroute.slots: {from: 2, to: 8, steps: 4}."}
	s.Properties.Set(pairedField, paired)
	return s
}

// at is a property below a schema.
func at(s *jsonschema.Schema, path ...string) *jsonschema.Schema {
	for _, name := range path {
		below, ok := s.Properties.Get(name)
		if !ok {
			panic("no property " + name)
		}
		s = below
	}
	return s
}

// visit calls f for each property below s with its name, in order.
func visit(s *jsonschema.Schema, f func(name string, s *jsonschema.Schema)) {
	if s == nil {
		return
	}
	if s.Properties != nil {
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			f(p.Key, p.Value)
			visit(p.Value, f)
		}
	}
	visit(s.Items, f)
	for _, part := range s.Definitions {
		visit(part, f)
	}
	for _, below := range slices.Concat(s.AllOf, s.AnyOf) {
		visit(below, f)
	}
}

// tellUnits ends the description of a number with its unit.
func tellUnits(s *jsonschema.Schema) {
	visit(s, func(name string, p *jsonschema.Schema) {
		if unit := unitOf(name); unit != "" && p.Description != "" && !strings.HasSuffix(p.Description, "Unit: "+unit+".") {
			p.Description += " Unit: " + unit + "."
		}
	})
}

// text is the schema as the file holds it.
func (g *generator) text(t *testing.T) []byte {
	t.Helper()
	text, err := json.MarshalIndent(g.study(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}
