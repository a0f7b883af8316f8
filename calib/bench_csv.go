package calib

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// rowColumns are the columns of a closed-loop CSV that must be there.
var rowColumns = []string{"model", "engine", "engine_version", "gpu", "tensor_parallel", "precision",
	"input_tokens", "output_tokens", "concurrency", "ttft_mean_ms", "tpot_mean_ms"}

// rowExtras are the columns that may be there.
var rowExtras = []string{"length_ratio", "requests", "output_tokens_per_s", "requests_per_s"}

var stepColumns = []string{"prefill_tokens", "decode_sequences", "context_tokens", "step_ms"}

var stepExtras = []string{"prefill_work"}

// BenchStep is one measured step of an engine.
type BenchStep struct {
	Line                      int
	Prefill, Decodes, Context float64
	Work                      float64 // as engine.Batch.PrefillWork
	Seconds                   float64
}

// table is a CSV file while it is read by column name.
type table struct {
	s      *benchSource
	in     *csv.Reader
	column map[string]int
	fields []string
	line   int
	failed bool // the present row has a mistake
}

// header returns the column names of a CSV as they are compared.
func header(fields []string) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = strings.ToLower(strings.TrimSpace(f))
	}
	return names
}

// sniffCSV tells whether the first line names most of the columns.
func sniffCSV(head []byte, columns []string) bool {
	first, _, _ := bytes.Cut(head, []byte("\n"))
	names := header(strings.Split(string(first), ","))
	found := 0
	for _, c := range columns {
		if slices.Contains(names, c) {
			found++
		}
	}
	return 2*found > len(columns)
}

func sniffRowsCSV(head []byte) bool  { return sniffCSV(head, rowColumns) }
func sniffStepsCSV(head []byte) bool { return sniffCSV(head, stepColumns) }

// openTable reads the header, which must name the columns once each. Columns
// that nobody asks for are counted in a note.
func openTable(s *benchSource, wanted, extras []string) (*table, error) {
	t := &table{s: s, in: csv.NewReader(s.in), column: map[string]int{}}
	t.in.FieldsPerRecord, t.in.ReuseRecord = -1, true
	fields, err := t.in.Read()
	if err != nil {
		return nil, t.broken(err)
	}
	var unused []string
	for i, name := range header(fields) {
		if _, twice := t.column[name]; twice {
			s.bad(1, "read column %s twice, wanted it once", cut(name))
		}
		t.column[name] = i
		if !slices.Contains(wanted, name) && !slices.Contains(extras, name) {
			unused = append(unused, cut(name))
		}
	}
	var missing []string
	for _, name := range wanted {
		if _, ok := t.column[name]; !ok {
			missing = append(missing, name)
		}
	}
	if missing != nil {
		s.bad(1, "read columns %s, wanted also %s", shortList(header(fields)), strings.Join(missing, ", "))
	}
	if unused != nil {
		s.note("columns not used: %s", shortList(unused))
	}
	return t, s.err()
}

// shortList joins the first names.
func shortList(names []string) string {
	const most = 12
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", ..."
	}
	return plainText(strings.Join(names, ", "))
}

// broken words an error of the CSV library.
func (t *table) broken(err error) error {
	var pe *csv.ParseError
	if errors.As(err, &pe) {
		return badBench("%s:%d: read a damaged CSV row (%v), wanted comma-separated values", t.s.File, pe.Line, pe.Err)
	}
	return badBench("%s: %v", t.s.File, err)
}

// next reads a row; false at the end.
func (t *table) next() (bool, error) {
	fields, err := t.in.Read()
	if err == io.EOF {
		return false, nil
	}
	if err != nil {
		return false, t.broken(err)
	}
	t.fields, t.failed = fields, false
	t.line, _ = t.in.FieldPos(0)
	if len(fields) != len(t.column) {
		t.bad("read %d values, wanted %d as in line 1", len(fields), len(t.column))
	}
	return true, nil
}

func (t *table) bad(format string, args ...any) {
	t.failed = true
	t.s.bad(t.line, format, args...)
}

// text returns a value; empty if there is no such column.
func (t *table) text(column string) string {
	i, ok := t.column[column]
	if !ok || i >= len(t.fields) {
		return ""
	}
	return strings.TrimSpace(t.fields[i])
}

// number returns a value between bounds; a mistake if it is none.
func (t *table) number(column string, lo, hi float64) float64 {
	if t.failed && len(t.fields) != len(t.column) {
		return lo
	}
	text := t.text(column)
	v, err := parseNumber(text)
	if err != nil || !(v >= lo && v <= hi) {
		upTo := ""
		if hi < math.MaxFloat64 {
			upTo = fmt.Sprintf(" to %g", hi)
		}
		t.bad("%s: read %s, wanted a number from %g%s", column, cut(text), lo, upTo)
		return lo
	}
	return v
}

// whole returns a whole number between bounds.
func (t *table) whole(column string, lo, hi float64) float64 {
	v := t.number(column, lo, hi)
	if v != math.Trunc(v) {
		t.bad("%s: read %s, wanted a whole number", column, cut(t.text(column)))
	}
	return v
}

// optional returns what get reads, or none where the file does not say.
func (t *table) optional(column string, none float64, get func(column string) float64) float64 {
	if t.text(column) == "" {
		return none
	}
	return get(column)
}

// parseNumber reads a plain decimal number.
func parseNumber(text string) (float64, error) {
	if strings.Trim(text, "0123456789.eE+-") != "" || text == "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(text, 64)
}

// Bounds that an honest bench keeps: a wrong unit of time breaks them first.
const (
	maxTokens          = 1e7
	maxClients         = 1e4
	minTPOTMS          = 0.2 // no large model decodes at 5,000 tokens a second
	maxTPOTMS          = 1e5
	minTTFTMS          = 0.5
	maxTTFTMS          = 1e7
	minTTFTOverTPOT    = 0.5 // the first token takes at least about one step
	millisecondsInside = "wanted milliseconds: are these seconds?"
)

func readRowsCSV(s *benchSource) error {
	t, err := openTable(s, rowColumns, rowExtras)
	if err != nil {
		return err
	}
	for {
		more, err := t.next()
		if err != nil || !more {
			return err
		}
		if row, ok := t.row(); ok {
			s.Rows = append(s.Rows, row)
		}
	}
}

// row reads one run.
func (t *table) row() (BenchRow, bool) {
	r := BenchRow{
		Line: t.line, Model: t.text("model"), Engine: t.text("engine"), EngineVersion: t.text("engine_version"),
		GPU: t.text("gpu"), Precision: t.text("precision"), TTFTMean: math.NaN(), TPOTMean: math.NaN(),
	}
	tokens := func(c string) float64 { return t.number(c, 1, maxTokens) }
	input, output := tokens("input_tokens"), tokens("output_tokens")
	ratio := t.optional("length_ratio", 0, func(c string) float64 { return t.number(c, 1e-3, 1) })
	r.Input, r.Output = longest(input, ratio), longest(output, ratio)
	r.Concurrency = int(t.whole("concurrency", 1, maxClients))
	r.TensorParallel = int(t.optional("tensor_parallel", 0, func(c string) float64 { return t.whole(c, 1, 1024) }))
	r.Requests = int(t.optional("requests", 0, func(c string) float64 { return t.whole(c, 1, 1e9) }))
	rate := func(c string) float64 { return t.number(c, 0, 1e9) }
	r.OutputTokensPerS = t.optional("output_tokens_per_s", math.NaN(), rate)
	r.RequestsPerS = t.optional("requests_per_s", math.NaN(), rate)
	ttft, tpot := t.number("ttft_mean_ms", 0, math.MaxFloat64), t.number("tpot_mean_ms", 0, math.MaxFloat64)
	if !t.failed {
		if problem := implausible(ttft, tpot, output); problem != "" {
			t.bad("%s", problem)
		}
	}
	r.TTFTMean, r.TPOTMean = ttft/1e3, tpot/1e3
	if output <= 1 {
		r.TPOTMean = math.NaN()
	}
	return r, !t.failed
}

func readStepsCSV(s *benchSource) error {
	t, err := openTable(s, stepColumns, stepExtras)
	if err != nil {
		return err
	}
	guessed := false
	for {
		more, err := t.next()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		step := BenchStep{
			Line: t.line, Prefill: t.whole("prefill_tokens", 0, maxTokens), Decodes: t.whole("decode_sequences", 0, maxClients),
			Context: t.whole("context_tokens", 0, 1e12), Seconds: t.number("step_ms", 1e-3, 1e7) / 1e3,
		}
		guessed = guessed || t.text("prefill_work") == "" && step.Prefill > 0
		step.Work = t.optional("prefill_work", step.Prefill*step.Prefill, func(c string) float64 { return t.number(c, 0, 1e18) })
		if !t.failed {
			s.Steps = append(s.Steps, step)
		}
	}
	if guessed {
		s.note("assumed: the prompt tokens of a step are one chunk from a prompt's start (column prefill_work says otherwise)")
	}
	if len(s.Steps) > 0 && medianStep(s.Steps) < minTPOTMS/1e3 {
		s.bad(1, "step_ms: the middle value is %g, %s", 1e3*medianStep(s.Steps), millisecondsInside)
	}
	return nil
}

func medianStep(steps []BenchStep) float64 {
	all := make([]float64, len(steps))
	for i, s := range steps {
		all[i] = s.Seconds
	}
	slices.Sort(all)
	return all[len(all)/2]
}
