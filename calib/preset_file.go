package calib

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"cacheroute/results"
)

// maxPresetBytes bounds a preset file, which is a page of text.
const maxPresetBytes = 1 << 20

// IsFile tells whether a preset is named by the path of a file.
func IsFile(preset string) bool {
	ext := filepath.Ext(preset)
	return ext == ".yaml" || ext == ".yml" || strings.ContainsRune(preset, filepath.Separator)
}

// loadFile reads a preset file. Errors name file and line.
func loadFile(path string) (*Preset, error) {
	f, err := os.Open(path)
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: is a directory, wanted a preset file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxPresetBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(data) > maxPresetBytes {
		return nil, fmt.Errorf("%s: more than %d bytes, wanted a preset", path, maxPresetBytes)
	}
	p, err := Parse(data)
	if err != nil {
		return nil, errors.New(plainText(inFile(path, data, err)))
	}
	return p, nil
}

// inFile puts file and line before what is wrong with a preset.
func inFile(path string, data []byte, err error) string {
	var many *yaml.LoadErrors
	var one *yaml.LoadError
	switch {
	case errors.As(err, &many) && len(many.Errors) > 0:
		one = many.Errors[0]
	case !errors.As(err, &one):
		return fmt.Sprintf("%s:%d: %v", path, lineOf(data, err.Error()), err)
	}
	message, _, _ := strings.Cut(strings.TrimPrefix(one.Message, "yaml: "), " in type ")
	if m := misread.FindStringSubmatch(message); m != nil {
		message = "read " + strings.TrimSpace(m[1])
	}
	line := max(1, one.Mark.Line)
	if m := strangeField.FindStringSubmatch(message); m != nil && line == 1 { // of a part decoded on its own
		for i, text := range strings.Split(string(data), "\n") {
			if strings.HasPrefix(strings.TrimSpace(text), m[1]+":") {
				line = i + 1
			}
		}
	}
	return fmt.Sprintf("%s:%d: %s, wanted a preset with numbers as {value: 1, origin: fitted, source: text}", path, line, message)
}

// misread is what the YAML library says of a value of another type.
var misread = regexp.MustCompile("(?s)^cannot construct (.*) into .*$")

// strangeField is what it says of a field that there is not.
var strangeField = regexp.MustCompile(`^field (\S+) not found`)

// lineOf finds the line of the field that an error begins with, or of the
// nearest one above it.
func lineOf(data []byte, message string) int {
	var doc yaml.Node
	if yaml.Load(data, &doc) != nil || len(doc.Content) == 0 {
		return 1
	}
	name, _, _ := strings.Cut(message, ":")
	node, line := doc.Content[0], 1
	for _, part := range strings.Split(name, ".") {
		at := -1
		for i := 0; i+1 < len(node.Content) && node.Kind == yaml.MappingNode; i += 2 {
			if node.Content[i].Value == part {
				at = i
			}
		}
		if at < 0 {
			break
		}
		line, node = node.Content[at].Line, node.Content[at+1]
	}
	return line
}

// checkNumber refuses a number without a known origin and a source.
func checkNumber(name string, n number) error {
	switch {
	case n.Origin != results.Measured && n.Origin != results.Fitted && n.Origin != results.Assumed:
		return fmt.Errorf("%s: origin %q, wanted measured, fitted or assumed", name, n.Origin)
	case n.Source == "":
		return fmt.Errorf("%s: no source", name)
	case !(n.Value >= 0) || math.IsInf(n.Value, 0):
		return fmt.Errorf("%s: must be a number of at least 0, got %v", name, n.Value)
	}
	return nil
}
