package trace

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"cacheroute/workload/lines"
)

// table reads a CSV file by the names of its columns, whatever their case and
// order.
type table struct {
	source
	column map[string]int
	row    []string
	key    int // column that is the key; -1: none
}

func columnName(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// open reads the header, which must have the columns wanted, and may have
// others; those not listed are counted.
func (t *table) open(s source, wanted, others []string) error {
	t.source, t.key = s, -1
	line, err := s.in.Next()
	if err == io.EOF {
		return fmt.Errorf("%s: the file is empty, wanted a header with the columns %s", s.in.Path, strings.Join(wanted, ", "))
	}
	if err != nil {
		return err
	}
	names, err := lines.Fields(line)
	if err != nil {
		return s.in.Errorf("%w", err)
	}
	t.column = map[string]int{}
	for i, name := range names {
		name = columnName(name)
		if _, twice := t.column[name]; twice {
			return s.in.Errorf("read the column %s twice, wanted it once", lines.Excerpt([]byte(name)))
		}
		t.column[name] = i
	}
	for _, name := range wanted {
		if _, ok := t.column[columnName(name)]; !ok {
			return s.in.Errorf("read %s, wanted also a column %s", lines.Excerpt(line), name)
		}
	}
	if err := t.useKey(); err != nil {
		return err
	}
	known := map[string]bool{}
	for _, name := range slices.Concat(wanted, others) {
		known[columnName(name)] = true
	}
	for i, name := range names {
		if i != t.key && !known[columnName(name)] {
			s.h.unknown(strings.TrimSpace(name))
		}
	}
	return nil
}

// useKey finds the column that is asked for as the key.
func (t *table) useKey() error {
	rule, err := ParseKey(t.opt.Key)
	if err != nil || rule.Field == "" {
		return err
	}
	i, ok := t.column[columnName(rule.Field)]
	if !ok {
		return t.in.Errorf("no column %s, which is to be the key", lines.Excerpt([]byte(rule.Field)))
	}
	t.key, t.h.KeyField = i, rule.Field
	return nil
}

func (t *table) has(name string) bool {
	_, ok := t.column[columnName(name)]
	return ok
}

// line reads the next row that is not blank.
func (t *table) line(r *Row) error {
	for {
		line, err := t.in.Next()
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		r.Line = int64(t.in.Number)
		if t.row, err = lines.Fields(line); err != nil {
			return t.in.Errorf("%w", err)
		}
		if len(t.row) != len(t.column) {
			return t.in.Errorf("read %d fields, wanted %d as in the header", len(t.row), len(t.column))
		}
		if t.key >= 0 {
			return t.name(t.row[t.key], &r.Key)
		}
		return nil
	}
}

// text returns a value; empty if there is no such column.
func (t *table) text(name string) string {
	i, ok := t.column[columnName(name)]
	if !ok {
		return ""
	}
	return strings.TrimSpace(t.row[i])
}

// value is a value of the row in hand and where it goes.
type value struct {
	column   string
	exponent int    // of a time in units of 10^-exponent seconds
	time     *int64 // nil: not a time
	tokens   *int32 // nil: not a length
	whole    *int64 // nil: not another whole number
	name     *string
	needed   bool // an empty value is a mistake; otherwise it leaves what is there
}

// read takes values from the row in hand.
func (t *table) read(values ...value) error {
	for _, v := range values {
		text := t.text(v.column)
		if text == "" && !v.needed {
			continue
		}
		var err error
		var n uint64
		switch {
		case v.time != nil:
			*v.time, err = timeOf(v.column, text, v.exponent)
		case v.tokens != nil:
			n, err = wholeOf(v.column, text, MaxTokens)
			*v.tokens = int32(n)
		case v.whole != nil:
			n, err = wholeOf(v.column, text, maxMicros)
			*v.whole = int64(n)
		case v.name != nil:
			err = t.name(text, v.name)
		}
		if err != nil {
			return t.in.Errorf("%w", err)
		}
	}
	return nil
}

func (t *table) name(text string, to *string) error {
	if len(text) > maxName {
		return t.in.Errorf("read %s, wanted a name of at most %d bytes", lines.Excerpt([]byte(text)), maxName)
	}
	*to = strings.TrimSpace(text)
	return nil
}
