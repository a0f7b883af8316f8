package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"cacheroute/workload/lines"
)

// first is the beginning of a file as formats look at it.
type first struct {
	members map[string]jsontext.Kind // of a JSON object
	columns map[string]bool          // of a CSV header
	fields  int
	numeric bool  // it begins with a number
	wrong   error // with the JSON of a line that begins an object; nil: nothing, or it goes on
}

func newFirst(line []byte) *first {
	f := &first{members: map[string]jsontext.Kind{}, columns: map[string]bool{}}
	line = bytes.TrimSpace(line)
	if len(line) > 0 && line[0] == '{' {
		var o object
		o.reset(line)
		err := o.members(nil, func(name string) (bool, error) {
			f.members[name] = o.dec.PeekKind()
			return false, nil
		})
		if !endless(err) {
			f.wrong = syntax(err, line)
		}
		return f
	}
	if names, err := lines.Fields(line); err == nil {
		f.fields = len(names)
		_, err := micros(strings.TrimSpace(names[0]), 0)
		f.numeric = err == nil
		for _, name := range names {
			f.columns[columnName(name)] = true
		}
	}
	return f
}

// has tells whether the line is a JSON object with all these members.
func (f *first) has(names ...string) bool {
	for _, name := range names {
		if f.members[name] == 0 {
			return false
		}
	}
	return true
}

// hasAny tells whether the line is a JSON object with one of these members.
func (f *first) hasAny(names ...string) bool {
	for _, name := range names {
		if f.members[name] != 0 {
			return true
		}
	}
	return false
}

// table tells whether the line is a header with all these columns.
func (f *first) table(names ...string) bool {
	for _, name := range names {
		if !f.columns[columnName(name)] {
			return false
		}
	}
	return true
}

// object reads JSON objects strictly: members once, whole numbers in range.
type object struct {
	dec  *jsontext.Decoder
	text bytes.Reader
}

func (o *object) reset(line []byte) {
	o.text.Reset(line)
	if o.dec == nil {
		o.dec = jsontext.NewDecoder(&o.text)
		return
	}
	o.dec.Reset(&o.text)
}

// read reads the object on a line. member reads the value of a member that it
// knows and returns false for others, which are counted.
func (o *object) read(line []byte, h *Header, member func(name string) (bool, error)) error {
	o.reset(line)
	if kind := o.dec.PeekKind(); kind != '{' && kind != 0 {
		return fmt.Errorf("read %s, wanted a JSON object", lines.Excerpt(line))
	}
	if err := o.members(h, member); err != nil {
		return syntax(err, line)
	}
	if rest := bytes.TrimSpace(line[o.dec.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("read %s after the object, wanted one object a line", lines.Excerpt(rest))
	}
	return nil
}

// members reads an object, here a value within a line.
func (o *object) members(h *Header, member func(name string) (bool, error)) error {
	if kind := o.dec.PeekKind(); kind != '{' && kind != 0 {
		return o.wanted("", "an object")
	}
	if _, err := o.dec.ReadToken(); err != nil {
		return err
	}
	for o.dec.PeekKind() == '"' {
		name, err := o.dec.ReadToken()
		if err != nil {
			return err
		}
		text := name.String()
		known, err := member(text)
		if !known && err == nil {
			h.unknown(text)
			err = o.dec.SkipValue()
		}
		if err != nil {
			return err
		}
	}
	_, err := o.dec.ReadToken()
	return err
}

// list reads a list; item reads each of its values.
func (o *object) list(name string, item func() error) error {
	if o.dec.PeekKind() != '[' {
		return o.wanted(name, "a list")
	}
	if _, err := o.dec.ReadToken(); err != nil {
		return err
	}
	for kind := o.dec.PeekKind(); kind != ']' && kind != 0; kind = o.dec.PeekKind() {
		if err := item(); err != nil {
			return err
		}
	}
	_, err := o.dec.ReadToken()
	return err
}

// wanted consumes a value of the wrong kind.
func (o *object) wanted(name, what string) error {
	value, err := o.dec.ReadValue()
	if err != nil {
		return err
	}
	if name != "" {
		name += ": "
	}
	return fmt.Errorf("%sread %s, wanted %s", name, lines.Excerpt(value), what)
}

func (o *object) whole(name string, most uint64) (uint64, error) {
	value, err := o.dec.ReadValue()
	if err != nil {
		return 0, err
	}
	return wholeOf(name, string(value), most)
}

// tokens reads a length.
func (o *object) tokens(name string, to *int32) error {
	v, err := o.whole(name, MaxTokens)
	*to = int32(v)
	return err
}

// time reads a number of a unit of 10^-exponent seconds. A string of digits is
// taken too, as some files quote numbers.
func (o *object) time(name string, exponent int, to *int64) error {
	value, err := o.dec.ReadValue()
	if err != nil {
		return err
	}
	if value.Kind() == '"' {
		if value, err = jsontext.AppendUnquote(nil, value); err != nil {
			return err
		}
	}
	*to, err = timeOf(name, string(value), exponent)
	return err
}

// optional reads a value unless it is null.
func (o *object) optional(read func() error) error {
	if o.dec.PeekKind() == 'n' {
		return o.dec.SkipValue()
	}
	return read()
}

// name reads the name of something: a string, or a number as it stands.
func (o *object) name(member string, to *string) error {
	kind := o.dec.PeekKind()
	if kind != '"' && kind != '0' {
		return o.wanted(member, "a name")
	}
	value, err := o.dec.ReadValue()
	if err == nil && kind == '"' {
		value, err = jsontext.AppendUnquote(nil, value)
	}
	if len(value) > maxName {
		return fmt.Errorf("%s: read %s, wanted at most %d bytes", member, lines.Excerpt(value), maxName)
	}
	*to = string(value)
	return err
}

// maxName bounds the names of keys and sessions, in bytes.
const maxName = 1 << 10

// ids reads a list of block ids.
func (o *object) ids(name string, to *[]uint64) error {
	return o.list(name, func() error {
		id, err := o.whole(name, math.MaxUint64)
		*to = append(*to, id)
		return err
	})
}

// endless reports whether an error is that the text ends inside of a value.
func endless(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) }

// syntax rewrites an error of the decoder in a line; it may quote names of any
// length.
func syntax(err error, line []byte) error {
	var se *jsontext.SyntacticError
	switch {
	case endless(err):
		return errors.New("the line is cut short, wanted a whole JSON object")
	case !errors.As(err, &se):
		return err
	case errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Errorf("read the member %s twice, wanted it once", lines.Excerpt([]byte(se.JSONPointer.LastToken())))
	}
	at := min(int(se.ByteOffset), len(line))
	return fmt.Errorf("read %s at byte %d of the line, wanted JSON (%w)", lines.Excerpt(line[at:]), at+1, se.Err)
}

// jsonl reads a file with an object a line.
type jsonl struct {
	object
	source
	field string // member that is the key; "": none is asked for
	seen  map[string]bool
}

func (j *jsonl) open(s source) {
	j.source = s
	if rule, err := ParseKey(s.opt.Key); err == nil && rule.Field != "" {
		j.field = rule.Field
		s.h.KeyField = rule.Field
	}
	j.seen = map[string]bool{}
}

// line reads the next line that is not blank into r and checks that it has the
// members wanted.
func (j *jsonl) line(r *Row, wanted []string, member func(name string) (bool, error)) error {
	for {
		line, err := j.in.Next()
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		r.Line = int64(j.in.Number)
		if err := j.fill(r, line, wanted, member); err != nil {
			return j.in.Errorf("%w", err)
		}
		return nil
	}
}

func (j *jsonl) fill(r *Row, line []byte, wanted []string, member func(name string) (bool, error)) error {
	clear(j.seen)
	err := j.read(line, j.h, func(name string) (bool, error) {
		known, err := member(name)
		switch {
		case known:
			j.seen[name] = true
		case err == nil && j.field != "" && name == j.field: // pick reads it
			return true, j.dec.SkipValue()
		}
		return known, err
	})
	if err != nil {
		return err
	}
	for _, name := range wanted {
		if !j.seen[name] {
			return fmt.Errorf("no member %s", name)
		}
	}
	if j.field != "" {
		return j.pick(r, line)
	}
	return nil
}

// pick reads the member that is asked for as the key.
func (j *jsonl) pick(r *Row, line []byte) error {
	found := false
	err := j.read(line, nil, func(name string) (bool, error) {
		if name != j.field {
			return false, nil
		}
		found = true
		return true, j.optional(func() error { return j.name(name, &r.Key) })
	})
	if err == nil && !found {
		err = fmt.Errorf("no member %s, which is to be the key", lines.Excerpt([]byte(j.field)))
	}
	return err
}
