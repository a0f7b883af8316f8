package scenarios

import (
	"embed"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"cacheroute/results"
)

//go:embed starts
var starts embed.FS

// Kinds are the studies to start from, with what each answers.
var Kinds = []Entry{
	{Name: "capacity", About: "how many requests a second a fleet takes within an objective"},
	{Name: "compare-policies", About: "every policy on the same requests"},
	{Name: "replay", About: "a recorded trace under several policies"},
}

// Start is a commented study to begin with.
type Start struct {
	Kind  string // one of Kinds
	Name  string // of the study
	Trace string // of replay: the path of a trace; empty: an example is written beside the study
}

// exampleTrace is the trace that a replay starts with.
const exampleTrace = "example-trace.jsonl"

var (
	startName  = regexp.MustCompile(`(?m)^name: .*$`)
	startTrace = regexp.MustCompile(`(?m)^    file: .*$`)
	schemaLine = regexp.MustCompile(`\$schema=\S+`)
)

// Text is the study for a file in the given folder.
func (s Start) Text(folder string) ([]byte, error) {
	text, err := starts.ReadFile("starts/" + s.Kind + ".yaml")
	if err != nil {
		var kinds []string
		for _, k := range Kinds {
			kinds = append(kinds, k.Name)
		}
		return nil, Badf("--kind %s: wanted one of %s", s.Kind, list(kinds))
	}
	if !studyName.MatchString(s.Name) {
		return nil, Badf("%s: wanted letters, digits, '.', '_' and '-', as it names a study", quote(s.Name))
	}
	if s.Trace != "" && s.Kind != "replay" {
		return nil, Badf("--trace %s: only --kind replay takes a trace", s.Trace)
	}
	text = startName.ReplaceAllLiteral(text, []byte("name: "+s.Name))
	text = schemaLine.ReplaceAllLiteral(text, []byte("$schema=study.schema.json"))
	if s.Trace == "" {
		return text, nil
	}
	path, err := relative(folder, s.Trace)
	if err != nil {
		return nil, bad(err)
	}
	value, err := yaml.Dump(path)
	if err != nil {
		return nil, err
	}
	return startTrace.ReplaceAllLiteral(text, []byte("    file: "+strings.TrimSpace(string(value)))), nil
}

// relative is a path as it is named from a folder.
func relative(folder, path string) (string, error) {
	if filepath.IsAbs(path) {
		return path, nil
	}
	from, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.Rel(from, to)
}

// WriteFile writes the study, the schema for editors beside it and what it
// needs to run, and returns their paths. What is there is overwritten only if
// force says so, but for the schema, which is the program's own.
func (s Start) WriteFile(path string, force bool) ([]string, error) {
	folder := filepath.Dir(path)
	study, err := s.Text(folder)
	if err != nil {
		return nil, err
	}
	paths, texts := []string{path}, [][]byte{study}
	if s.Kind == "replay" && s.Trace == "" {
		example, err := starts.ReadFile("starts/" + exampleTrace)
		if err != nil {
			return nil, err
		}
		paths, texts = append(paths, filepath.Join(folder, exampleTrace)), append(texts, example)
	}
	for _, p := range paths {
		if _, err := os.Lstat(p); err == nil && !force {
			return nil, Badf("%s: is there already, wanted --force or another --out", p)
		}
	}
	paths, texts = append(paths, filepath.Join(folder, "study.schema.json")), append(texts, Schema)
	for i, p := range paths {
		if err := results.WriteFileAtomic(p, func(w io.Writer) error { _, err := w.Write(texts[i]); return err }); err != nil {
			return nil, bad(err)
		}
	}
	return paths, nil
}
