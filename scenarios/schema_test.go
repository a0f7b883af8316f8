package scenarios

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	generated "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"
)

var update = flag.Bool("update", false, "rewrite the generated files: study.schema.json, docs/study.md")

// current compares a generated file with what the code gives now.
func current(t *testing.T, path string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, want, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the code says; go test ./scenarios -run 'TestSchema|TestReference' -update writes it\n%s", path, cmp.Diff(string(got), string(want)))
	}
}

func TestSchemaIsCurrent(t *testing.T) {
	text := newGenerator(t).text(t)
	if !json.Valid(text) {
		t.Fatal("not JSON")
	}
	current(t, "study.schema.json", text)
}

// validator checks studies against the shipped schema.
func validator(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("study.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("study.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate checks a study as an editor does, which sees YAML as JSON.
func validate(s *jsonschema.Schema, study []byte) error {
	var value any
	if err := yaml.Load(study, &value); err != nil {
		return err
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}

// TestSchemaAcceptsStudies: every study that is shipped is valid, as written and
// with all its defaults.
func TestSchemaAcceptsStudies(t *testing.T) {
	s := validator(t)
	var paths []string
	for _, pattern := range []string{"*.yaml", "starts/*.yaml", "../docs/examples/*.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		paths = append(paths, found...)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(s, text); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		variants, err := Expand(path, Options{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if text, err = variants[0].Study.YAML(); err != nil {
			t.Fatal(err)
		}
		if err := validate(s, text); err != nil {
			t.Errorf("%s with its defaults: %v\n%s", path, err, text)
		}
	}
}

// unseen are the mistakes that the schema cannot know: they depend on two fields,
// on classes of Unicode or are no matter of JSON.
var unseen = []string{
	", ttft_overhead_s: 61, preset", "cacheroute,", "[900000000]", "duration_s: 0", "count: 010", "seeds: &s [1]\ndescription: *s",
	"label: \"a\\u202eb\"", "name: small\ndescription: \"\\e[31m\"", "name: !!binary small", "name: small\n---\nname: other", strings.Repeat(" ", maxStudyBytes+1), "&a seeds: &b [*b]", "<<: {seeds: [1]}",
}

// TestSchemaRefusesBadStudies: what the loader refuses, an editor underlines.
func TestSchemaRefusesBadStudies(t *testing.T) {
	s := validator(t)
	if err := validate(s, []byte(small)); err != nil {
		t.Fatal(err)
	}
	for _, axes := range []string{"  []", "  {}", "  paired: {}", "  fleet.destinations: 3", "  fleet.destinations: []", "  fleet.destinations: [1, 1]",
		"  fleet.destinations: {from: 1, to: 3}", "  fleet.destinations: {from: 1, to: 3, steps: 1}", "  fleet.destinations: {from: 1, to: 3, steps: 2, scale: lin}"} {
		if err := validate(s, swept(axes)); err == nil {
			t.Errorf("%q: the schema accepts it", axes)
		}
	}
	refused := 0
	for _, c := range badStudies {
		if slices.Contains(unseen, c.to) {
			continue
		}
		if err := validate(s, []byte(strings.Replace(small, c.from, c.to, 1))); err == nil {
			t.Errorf("%.60q: the schema accepts it", c.to)
		}
		refused++
	}
	if refused < 35 {
		t.Errorf("only %d bad studies", refused)
	}
}

// TestSchemaSaysEverything: each field has a type and a description.
func TestSchemaSaysEverything(t *testing.T) {
	fields := 0
	visit(newGenerator(t).study(), func(name string, s *generated.Schema) {
		if s.Const != nil || name == "name" && s.OneOf != nil || s.Required != nil && s.Type == "" {
			return
		}
		fields++
		if s.Description == "" && s.Properties == nil || s.Type == "" && s.Ref == "" && s.AnyOf == nil {
			t.Errorf("%s: type %q, description %q", name, s.Type, s.Description)
		}
	})
	if fields < 80 {
		t.Errorf("only %d fields", fields)
	}
}
