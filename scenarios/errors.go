package scenarios

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// BadInput is what is wrong with a user's input: one line a mistake, each of
// the form "file:line: what was read, what was wanted".
type BadInput struct{ Lines []string }

func (e *BadInput) Error() string { return strings.Join(e.Lines, "\n") }

// mostMistakes is how many mistakes of one input are listed.
const mostMistakes = 20

// listMistakes words the first n mistakes and counts the rest.
func listMistakes(n int, word func(i int) string) *BadInput {
	b := &BadInput{}
	for i := range min(n, mostMistakes) {
		b.Lines = append(b.Lines, oneLine(word(i)))
	}
	if n > mostMistakes {
		b.Lines[mostMistakes-1] += fmt.Sprintf(" (and %d more mistakes)", n-mostMistakes)
	}
	return b
}

// Badf makes a BadInput of one line.
func Badf(format string, args ...any) *BadInput {
	return &BadInput{Lines: []string{oneLine(fmt.Sprintf(format, args...))}}
}

// bad marks an error of a lower package as the input's fault.
func bad(err error) error {
	var b *BadInput
	if err == nil || errors.As(err, &b) {
		return err
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		return Badf("%s: %v", p.Path, p.Err)
	}
	return Badf("%v", err)
}

// oneLine keeps an error on its line and its order, whatever the input held.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unprintable(r) {
			return ' '
		}
		return r
	}, s)
}

// unprintable tells control characters and those that format or turn the text
// around them, such as U+202E.
func unprintable(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// quote shows a value of the input, cut to a readable length.
func quote(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "..."
	}
	return fmt.Sprintf("%q", s)
}

var (
	unknownField = regexp.MustCompile(`^field (.*) not found in type (\S+)$`)
	wrongType    = regexp.MustCompile("(?s)^cannot construct (!\\S*)( `.*`)? into (.+)$")
	goTypes      = regexp.MustCompile(`\b(calib|clock|engine|policies|results|scenarios|workload|yaml)\.[A-Za-z]\w*\b`)
)

// streamErrors rewords what the YAML library says of a file as a whole.
var streamErrors = map[string]string{
	"no documents in stream":                   "nothing in the file, wanted a study",
	"expected single document, found multiple": "read a second document, wanted one study",
}

// explain turns an error of the YAML library into lines that name file, line
// and field and speak of YAML, not of Go.
func (d *document) explain(err error) error {
	var all []*yaml.LoadError
	var many *yaml.LoadErrors
	var one *yaml.LoadError
	switch {
	case errors.As(err, &many):
		all = many.Errors
	case errors.As(err, &one):
		all = []*yaml.LoadError{one}
	default:
		return Badf("%s: %s", d.name, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return listMistakes(len(all), func(i int) string { return d.at(all[i].Mark.Line) + ": " + d.message(all[i]) })
}

// message rewrites one error of the YAML library.
func (d *document) message(e *yaml.LoadError) string {
	path, node := d.find(e.Mark)
	if m := unknownField.FindStringSubmatch(e.Message); m != nil {
		if path != m[1] && !strings.HasSuffix(path, "."+m[1]) { // the place is that of what holds the field
			path = strings.TrimPrefix(path+"."+m[1], ".")
		}
		return fmt.Sprintf("%s: unknown field%s", path, suggest(m[1], fieldsOf(m[2])))
	}
	if m := wrongType.FindStringSubmatch(e.Message); m != nil {
		return fmt.Sprintf("%s: read %s, wanted %s", path, kindOf(node, m[1], m[2]), wanted(m[3]))
	}
	message := goTypes.ReplaceAllString(strings.TrimPrefix(e.Message, "yaml: "), "value")
	if m := streamErrors[message]; m != "" {
		message = m
	}
	if e.ContextMsg != "" {
		message = e.ContextMsg + ": " + message
	}
	if path == "" {
		return message
	}
	return path + ": " + message
}

// suggest lists what a name could have been.
func suggest(name string, known []string) string {
	if len(known) == 0 {
		return ""
	}
	for _, k := range known {
		if distance(name, k) <= 2 {
			return fmt.Sprintf(", did you mean %s?", k)
		}
	}
	return ", wanted one of " + strings.Join(known, ", ")
}

// distance is the Levenshtein distance of two short words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next := min(row[j+1]+1, row[j]+1, diagonal+cost)
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}

// kindOf says what a node holds.
func kindOf(n *yaml.Node, tag, value string) string {
	switch {
	case tag == "!!seq":
		return "a list"
	case tag == "!!map":
		return "a mapping"
	case n != nil && n.Kind == yaml.ScalarNode:
		return quote(n.Value)
	}
	return strings.TrimSpace(value)
}

// wanted names a Go type as a user knows it.
func wanted(goType string) string {
	t := strings.TrimLeft(goType, "*")
	switch {
	case strings.HasPrefix(t, "[]"):
		return "a list"
	case strings.HasPrefix(t, "uint"):
		return "a whole number of at least 0"
	case strings.HasPrefix(t, "int"):
		return "a whole number"
	case strings.HasPrefix(t, "float"):
		return "a number"
	case t == "bool":
		return "true or false"
	case t == "string":
		return "text"
	}
	return "a mapping of its fields"
}
