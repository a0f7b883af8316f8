package trace

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
)

// Writer writes rows in a format of this project.
type Writer interface {
	Write(r *Row) error
	Close() error // ends the data, not what they are written to
}

// NewWriter chooses the format by the end of a file's name: .parquet, or .csv or
// .jsonl, each also with .gz or .zst. h is that of the rows.
func NewWriter(out io.Writer, name string, h *Header) (Writer, error) {
	switch {
	case strings.HasSuffix(name, ".parquet"):
		return newParquetWriter(out, h), nil
	case strings.HasSuffix(name, ".gz"):
		z := gzip.NewWriter(out)
		w, err := NewWriter(z, strings.TrimSuffix(name, ".gz"), h)
		return &packed{w, z}, err
	case strings.HasSuffix(name, ".zst"):
		z, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		w, err := NewWriter(z, strings.TrimSuffix(name, ".zst"), h)
		return &packed{w, z}, err
	case strings.HasSuffix(name, ".csv"):
		w := &csvWriter{out: csv.NewWriter(out), h: h}
		return w, w.out.Write(csvColumns)
	case strings.HasSuffix(name, ".jsonl"):
		return &jsonlWriter{out: out, h: h}, nil
	}
	return nil, fmt.Errorf("%s: wanted a name that ends in .parquet, .csv or .jsonl (these two also with .gz or .zst)", name)
}

// packed compresses what a writer writes.
type packed struct {
	Writer
	z io.Closer
}

func (p *packed) Close() error { return errors.Join(p.Writer.Close(), p.z.Close()) }

func statusOf(r *Row) string {
	if r.Failed {
		return "failed"
	}
	return "ok"
}

var csvColumns = []string{"arrival_us", "key", "session", "turn", "think_us", "input_tokens", "output_tokens",
	"block_tokens", "block_ids", "status", "ttft_us", "e2e_us", "cached_tokens"}

type csvWriter struct {
	out *csv.Writer
	h   *Header
	ids []byte
}

// Write implements Writer.
func (w *csvWriter) Write(r *Row) error {
	for _, name := range []string{r.Key, r.Session} {
		if strings.ContainsAny(name, "\r\n") || strings.TrimSpace(name) != name {
			return fmt.Errorf("line %d: the name of a key or session holds a line break or is set in blanks, which CSV cannot keep; wanted .jsonl or .parquet", r.Line)
		}
	}
	size := ""
	if w.ids = w.ids[:0]; r.Known {
		size = strconv.Itoa(int(w.h.BlockTokens))
		for i, id := range r.Blocks {
			if i > 0 {
				w.ids = append(w.ids, ' ')
			}
			w.ids = strconv.AppendUint(w.ids, id, 10)
		}
	}
	return w.out.Write([]string{known(r.At), r.Key, r.Session, known(r.Turn), known(r.Think), known(int64(r.Input)), known(int64(r.Output)),
		size, string(w.ids), statusOf(r), known(r.TTFT), known(r.E2E), known(r.Cached)})
}

// known is a number, empty if it is absent.
func known(v int64) string {
	if v == Absent {
		return ""
	}
	return strconv.FormatInt(v, 10)
}

// Close implements Writer.
func (w *csvWriter) Close() error {
	w.out.Flush()
	return w.out.Error()
}

type jsonlWriter struct {
	out  io.Writer
	h    *Header
	line []byte
}

// Write implements Writer.
func (w *jsonlWriter) Write(r *Row) (err error) {
	w.line = append(w.line[:0], '{')
	w.number("arrival_us", r.At)
	for _, s := range []struct{ name, value string }{{"key", r.Key}, {"session", r.Session}} {
		if s.value != "" && err == nil {
			w.line = append(w.line, `,"`+s.name+`":`...)
			w.line, err = jsontext.AppendQuote(w.line, s.value)
		}
	}
	w.number("turn", r.Turn)
	w.number("think_us", r.Think)
	w.number("input_tokens", int64(r.Input))
	w.number("output_tokens", int64(r.Output))
	if r.Known {
		w.number("block_tokens", int64(w.h.BlockTokens))
		w.line = append(w.line, `,"block_ids":[`...)
		for i, id := range r.Blocks {
			if i > 0 {
				w.line = append(w.line, ',')
			}
			w.line = strconv.AppendUint(w.line, id, 10)
		}
		w.line = append(w.line, ']')
	}
	if r.Failed {
		w.line = append(w.line, `,"status":"failed"`...)
	}
	w.number("ttft_us", r.TTFT)
	w.number("e2e_us", r.E2E)
	w.number("cached_tokens", r.Cached)
	w.line = append(w.line, "}\n"...)
	if err == nil {
		_, err = w.out.Write(w.line)
	}
	return err
}

func (w *jsonlWriter) number(name string, v int64) {
	if v == Absent {
		return
	}
	if len(w.line) > 1 {
		w.line = append(w.line, ',')
	}
	w.line = append(w.line, `"`+name+`":`...)
	w.line = strconv.AppendInt(w.line, v, 10)
}

// Close implements Writer.
func (*jsonlWriter) Close() error { return nil }

// parquetWriter writes Parquet in batches.
type parquetWriter struct {
	out *parquet.GenericWriter[parquetRow]
	h   *Header
	buf []parquetRow
}

// parquetRowsPerGroup bounds the memory of a row group.
const parquetRowsPerGroup = 1 << 16

func newParquetWriter(out io.Writer, h *Header) *parquetWriter {
	return &parquetWriter{h: h, out: parquet.NewGenericWriter[parquetRow](out,
		parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(parquetRowsPerGroup),
		parquet.DefaultEncodingFor(parquet.Int64, &parquet.DeltaBinaryPacked))}
}

// Write implements Writer.
func (w *parquetWriter) Write(r *Row) error {
	number := func(v int64) *int64 {
		if v == Absent {
			return nil
		}
		return &v
	}
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	status := statusOf(r)
	p := parquetRow{
		Arrival: r.At, Key: text(strings.Clone(r.Key)), Session: text(strings.Clone(r.Session)), Turn: number(r.Turn), Think: number(r.Think),
		Input: int64(r.Input), Output: int64(r.Output), Status: &status, TTFT: number(r.TTFT), E2E: number(r.E2E), Cached: number(r.Cached),
	}
	if r.Known {
		p.BlockTokens = number(int64(w.h.BlockTokens))
		p.BlockIDs = make([]int64, len(r.Blocks))
		for i, id := range r.Blocks {
			p.BlockIDs[i] = int64(id)
		}
	}
	if w.buf = append(w.buf, p); len(w.buf) == parquetBatch {
		return w.flush()
	}
	return nil
}

func (w *parquetWriter) flush() error {
	_, err := w.out.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

// Close implements Writer.
func (w *parquetWriter) Close() error { return errors.Join(w.flush(), w.out.Close()) }
