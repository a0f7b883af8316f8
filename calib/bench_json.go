package calib

import (
	"cmp"
	"errors"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// newlines remembers where the lines of a stream begin, to turn the offset of a
// JSON error into a line.
type newlines struct {
	in  io.Reader
	at  []int64 // offsets of newlines
	end int64
}

func (n *newlines) Read(p []byte) (int, error) {
	k, err := n.in.Read(p)
	for i, c := range p[:k] {
		if c == '\n' {
			n.at = append(n.at, n.end+int64(i))
		}
	}
	n.end += int64(k)
	return k, err
}

// line is the number of the line that holds the byte at an offset.
func (n *newlines) line(offset int64) int {
	i, _ := slices.BinarySearch(n.at, offset)
	return i + 1
}

// readJSON decodes the JSON values of a stream one by one into new records and
// gives each with its line; a list stands for its values. What a record has no field for, such as prompts and
// answers, is skipped while it is read and never held.
func readJSON[T any](s *benchSource, use func(line int, record *T)) error {
	lines := &newlines{in: s.in}
	d := jsontext.NewDecoder(lines)
	for {
		switch d.PeekKind() {
		case 0:
			err := skipped(d)
			if err == io.EOF {
				return nil
			}
			return jsonMistake(s, lines, err)
		case '[', ']':
			if err := skipped(d); err != nil {
				return jsonMistake(s, lines, err)
			}
			continue
		}
		record := new(T)
		start := lines.line(d.InputOffset() + 1) // past the newline after the value before
		if err := json.UnmarshalDecode(d, record); err != nil {
			return jsonMistake(s, lines, err)
		}
		use(start, record)
	}
}

// skipped reads a token, or returns why none follows.
func skipped(d *jsontext.Decoder) error {
	_, err := d.ReadToken()
	return err
}

// jsonMistake words an error of the JSON library without echoing text of the
// file, which can be a prompt.
func jsonMistake(s *benchSource, lines *newlines, err error) error {
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return badBench("%s:%d: the file ends inside a JSON value, wanted a whole result", s.File, lines.line(max(0, lines.end-1)))
	case errors.As(err, &syntactic):
		where := ""
		if p := string(syntactic.JSONPointer); p != "" {
			where = cut(p) + ": "
		}
		return badBench("%s:%d: %sread damaged JSON, wanted a result of a bench (JSON has no NaN or Infinity)", s.File, lines.line(syntactic.ByteOffset), where)
	case errors.As(err, &semantic):
		where := strings.Trim(string(semantic.JSONPointer), "/")
		return badBench("%s:%d: %s: read a %s, wanted %s", s.File, lines.line(semantic.ByteOffset), cmp.Or(where, "a value"), semantic.JSONKind, jsonWanted(semantic))
	}
	return badBench("%s: %v", s.File, err)
}

// jsonWanted names a Go type as JSON knows it.
func jsonWanted(e *json.SemanticError) string {
	if e.GoType == nil {
		return "another value"
	}
	switch t := e.GoType.String(); {
	case strings.Contains(t, "[]"):
		return "a list"
	case strings.Contains(t, "float") || strings.Contains(t, "int"):
		return "a number"
	case strings.Contains(t, "string"):
		return "text"
	}
	return "a mapping"
}

// sample is the requests of a run that were answered.
type sample struct {
	input, output, ttft, tpot []float64 // tokens and seconds
}

// lengthsOf is what is known of lengths: their mean, and a range around it in
// which a uniform draw has that mean.
func lengthsOf(tokens []float64) Lengths {
	m := mean(tokens)
	half := min(m-slices.Min(tokens), slices.Max(tokens)-m)
	return Lengths{Mean: m, Min: m - half, Max: m + half}
}

func mean(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// differ tells whether two figures for one thing are more than 5 % apart.
func differ(a, b float64) bool { return math.Abs(a-b) > 0.05*math.Max(math.Abs(a), math.Abs(b)) }
