package engine

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"cacheroute/sim/clock"
)

// Table is a step interpolated between measured ones. Points of pure decode
// steps form a grid of sequences by their mean context, points of steps with
// one chunk of prefill a grid of its tokens by those before it; each grid holds
// every combination of its values.
//
// Between points the price is bilinear. Beyond the last value of an axis it
// goes on as between the last two; before the first it stays, as a step has to
// read the weights anyway, and so it does along an axis of one value. Several
// chunks are priced as one of the same P tokens and the same attention, that is
// behind X = (W/P - P)/2 tokens with W the sum of P*(2X+P) over the chunks; an X
// before the first context goes on as between the first two. A step of both
// kinds costs decode + prefill - the smallest point of all, whose overhead and
// read of the weights they share.
type Table struct {
	// File is a CSV file with the fields of a point as columns and a point a
	// line; it or points.
	File string `yaml:"file,omitempty" jsonschema:"minLength=1"`
	// Points are measured steps.
	Points []TablePoint `yaml:"points,flow,omitempty" jsonschema:"minItems=2"`

	read []TablePoint // from File
}

// TablePoint is a measured step, either of decode or of prefill.
type TablePoint struct {
	// DecodeSequences is how many sequences decode in the step; it or
	// prefill_tokens.
	DecodeSequences int `yaml:"decode_sequences,omitempty" jsonschema:"minimum=0,maximum=1048576"`
	// PrefillTokens is the length of the chunk that the step computes.
	PrefillTokens int `yaml:"prefill_tokens,omitempty" jsonschema:"minimum=0,maximum=16777216"`
	// ContextTokens is the mean context of a decoding sequence, or the tokens
	// before the chunk.
	ContextTokens int `yaml:"mean_context_tokens" jsonschema:"minimum=0,maximum=67108864"`
	// StepMS is how long the step took.
	StepMS float64 `yaml:"step_ms" jsonschema:"required,exclusiveMinimum=0,maximum=100000"`
}

// dip is how much faster than a smaller step a larger one may have been
// measured. So much is noise and is levelled to the slower of the two.
const dip = 0.05

// maxPoints bounds a file of points.
const maxPoints = 100_000

// About implements CostSpec.
func (t *Table) About() string {
	return "interpolated between measured steps: points or a CSV file"
}

// Files implements CostFiles.
func (t *Table) Files() []*string {
	if t.File == "" {
		return nil
	}
	return []*string{&t.File}
}

// Check implements CostSpec. It reads no file.
func (t *Table) Check() error {
	if (t.File == "") == (len(t.Points) == 0) {
		return errors.New("points: give either points or a file")
	}
	if t.File != "" {
		return nil
	}
	for i, p := range t.Points {
		if err := p.check(); err != nil {
			return fmt.Errorf("points.%d.%w", i, err)
		}
	}
	if _, err := newTable(t.Points); err != nil {
		return fmt.Errorf("points: %w", err)
	}
	return nil
}

func (p TablePoint) check() error {
	for _, f := range []struct {
		name   string
		x, max int
	}{{"decode_sequences", p.DecodeSequences, 1 << 20}, {"prefill_tokens", p.PrefillTokens, 1 << 24}, {"mean_context_tokens", p.ContextTokens, 1 << 26}} {
		if err := between(f.name, float64(f.x), 0, float64(f.max)); err != nil {
			return err
		}
	}
	if !(p.StepMS > 0 && p.StepMS <= 1e5) {
		return fmt.Errorf("step_ms: must be above 0 and at most 1e5 ms, got %v", p.StepMS)
	}
	if (p.DecodeSequences == 0) == (p.PrefillTokens == 0) {
		return fmt.Errorf("decode_sequences: give either decode_sequences or prefill_tokens, got %d and %d", p.DecodeSequences, p.PrefillTokens)
	}
	return nil
}

// Read implements CostFiles.
func (t *Table) Read() error {
	if t.File == "" {
		return nil
	}
	f, err := os.Open(t.File)
	if err != nil {
		return err
	}
	defer f.Close()
	points, err := readPoints(t.File, f)
	if err == nil {
		if _, err = newTable(points); err != nil {
			err = fmt.Errorf("%s: %w", t.File, err)
		}
	}
	t.read = points
	return err
}

// readPoints reads points from CSV with a header; errors name file and line.
func readPoints(path string, in io.Reader) ([]TablePoint, error) {
	r := csv.NewReader(in)
	r.Comment, r.TrimLeadingSpace = '#', true
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: no header, wanted the columns decode_sequences, prefill_tokens, mean_context_tokens, step_ms", path)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	column := map[string]int{}
	for _, name := range []string{"decode_sequences", "prefill_tokens", "mean_context_tokens", "step_ms"} {
		if column[name] = slices.Index(header, name); column[name] < 0 {
			return nil, fmt.Errorf("%s:1: no column %s", path, name)
		}
	}
	var points []TablePoint
	for {
		row, err := r.Read()
		if err == io.EOF {
			return points, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		line, _ := r.FieldPos(0)
		p, err := parsePoint(row, column)
		if err == nil {
			err = p.check()
		}
		if err == nil && len(points) == maxPoints {
			err = fmt.Errorf("more than %d points", maxPoints)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, line, err)
		}
		points = append(points, p)
	}
}

func parsePoint(row []string, column map[string]int) (p TablePoint, err error) {
	for _, f := range []struct {
		name string
		to   *int
	}{{"decode_sequences", &p.DecodeSequences}, {"prefill_tokens", &p.PrefillTokens}, {"mean_context_tokens", &p.ContextTokens}} {
		text := row[column[f.name]]
		if text == "" {
			continue // the other kind of step
		}
		if *f.to, err = strconv.Atoi(text); err != nil {
			return p, fmt.Errorf("%s: read %.24q, wanted a whole number", f.name, text)
		}
	}
	text := row[column["step_ms"]]
	if p.StepMS, err = strconv.ParseFloat(text, 64); err != nil {
		return p, fmt.Errorf("step_ms: read %.24q, wanted a number", text)
	}
	return p, nil
}

// Build implements CostSpec. A spec whose file was not read makes a model that
// can price nothing.
func (t *Table) Build() CostModel {
	points := t.Points
	if t.File != "" {
		points = t.read
	}
	m, _ := newTable(points)
	return m
}

// table prices steps from two grids.
type table struct {
	decode, prefill grid
	smallest        float64 // price that a mixed step pays once
}

func newTable(points []TablePoint) (*table, error) {
	var t table
	var err error
	if t.decode, err = newGrid(points, "decode_sequences", func(p TablePoint) int { return p.DecodeSequences }); err != nil {
		return nil, err
	}
	if t.prefill, err = newGrid(points, "prefill_tokens", func(p TablePoint) int { return p.PrefillTokens }); err != nil {
		return nil, err
	}
	t.smallest = min(t.decode.price[0][0], t.prefill.price[0][0])
	return &t, nil
}

// StepTime implements CostModel.
func (t *table) StepTime(b Batch) clock.Time {
	switch {
	case b.Prefill == 0 && b.Decodes == 0:
		return clock.Time(t.smallest)
	case b.Prefill == 0:
		return t.DecodeSpan(b.Decodes, b.DecodeContext, 1)
	}
	p := float64(b.Prefill)
	x := (float64(b.PrefillWork)/p - p) / 2
	l := t.prefill.along(b.Prefill, t.prefill.segment(x))
	price := max(t.smallest, l.price+float64(l.slope*(x-float64(l.from))))
	if b.Decodes > 0 {
		price += float64(t.DecodeSpan(b.Decodes, b.DecodeContext, 1)) - t.smallest
	}
	return clock.Time(math.RoundToEven(min(price, longest)))
}

// DecodeSpan implements SpanModel. The mean context grows by a token a step, so
// the span is an arithmetic series between two contexts of the grid. There a
// step costs, in integers, price + floor(slope*(context of all - n*from)/n).
func (t *table) DecodeSpan(n int, context, k int64) clock.Time {
	sequences := int64(n)
	mean, rest := context/sequences, context%sequences
	var sum int64
	var rough float64
	for k > 0 {
		l := t.decode.at(sequences, mean)
		steps := min(k, l.until-mean)
		price, slope := int64(min(l.price, longest)), int64(l.slope)
		first := price + slope*(mean-l.from) + slope*rest/sequences
		pairs := steps * (steps - 1) / 2
		sum += steps*first + slope*pairs
		rough += float64(steps)*(float64(price)+float64(float64(slope)*float64(mean-l.from+1))) + float64(float64(slope)*float64(pairs))
		k -= steps
		mean += steps
	}
	return bounded(sum, rough)
}
