package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
)

// WriteTo writes the summary as JSON with a line for each field and for each
// row of a list. wall_s and cpu_s, which differ from run to run, have the last
// two lines to themselves.
func (s *Summary) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	b.WriteString("{\n")
	v := reflect.ValueOf(*s)
	for i := range v.NumField() {
		if i > 0 {
			b.WriteString(",\n")
		}
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		fmt.Fprintf(&b, "  %q: ", name)
		if err := writeField(&b, v.Field(i)); err != nil {
			return 0, err
		}
	}
	b.WriteString("\n}\n")
	return b.WriteTo(w)
}

func writeField(b *bytes.Buffer, v reflect.Value) error {
	if v.Kind() != reflect.Slice {
		return writeValue(b, v)
	}
	if v.Len() == 0 {
		b.WriteString("[]")
		return nil
	}
	for i := range v.Len() {
		b.WriteString([]string{"[\n    ", ",\n    "}[min(i, 1)])
		if err := writeValue(b, v.Index(i)); err != nil {
			return err
		}
	}
	b.WriteString("\n  ]")
	return nil
}

func writeValue(b *bytes.Buffer, v reflect.Value) error {
	text, err := json.Marshal(v.Interface())
	b.Write(text)
	return err
}

// WriteSummary writes summary.json.
func WriteSummary(path string, s *Summary) error {
	return WriteFileAtomic(path, func(w io.Writer) error {
		_, err := s.WriteTo(w)
		return err
	})
}

// ReadSummary reads a summary.json. Unknown fields and rows without a policy
// are errors: such a file is of another program or version.
func ReadSummary(path string) (Summary, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Summary{}, err
	}
	var s Summary
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Summary{}, fmt.Errorf("%s: not a summary of this version: %w", path, err)
	}
	if d.More() {
		return Summary{}, fmt.Errorf("%s: text after the end of the summary", path)
	}
	if err := s.check(); err != nil {
		return Summary{}, fmt.Errorf("%s: not a summary of this version: %w", path, err)
	}
	s.restore()
	return s, nil
}

func (s *Summary) check() error {
	if s.Cells == nil || s.Ladder == nil || s.Capacity == nil || s.Drift == nil {
		return errors.New("cells, ladder, capacity or drift is missing")
	}
	for i := range s.Cells {
		if s.Cells[i].Policy == "" || s.Cells[i].Fingerprint == "" {
			return fmt.Errorf("cells[%d]: no policy or fingerprint", i)
		}
	}
	for i := range s.Capacity {
		if s.Capacity[i].Policy == "" || s.Capacity[i].PerSeed == nil {
			return fmt.Errorf("capacity[%d]: no policy or per_seed", i)
		}
	}
	return nil
}

// Restore tells infinite from undefined in a cell that was read from JSON, where
// both are null: a quantile over all requests of a window that has some is
// infinite.
func (c *Cell) Restore() {
	for _, f := range []*Float{&c.TTFTP50, &c.TTFTP90, &c.TTFTP99, &c.E2EP50, &c.E2EP90, &c.E2EP99} {
		if c.Requests > 0 && !f.Finite() {
			*f = infinite
		}
	}
	for i := range c.Intervals {
		if x := &c.Intervals[i]; x.Requests > 0 && !x.TTFTP99.Finite() {
			x.TTFTP99 = infinite
		}
	}
}

// restore does it for all of a summary.
func (s *Summary) restore() {
	for i := range s.Cells {
		s.Cells[i].Restore()
	}
	for i := range s.Drift {
		if p99 := &s.Drift[i].TTFTP99.Mean; !p99.Finite() {
			*p99 = infinite
		}
	}
	for i := range s.Ladder {
		r := &s.Ladder[i]
		for _, f := range []*Float{&r.TTFTP50.Mean, &r.TTFTP99.Mean, &r.E2EP99.Mean} {
			if r.Requests > 0 && !f.Finite() {
				*f = infinite
			}
		}
	}
}
