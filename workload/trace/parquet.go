package trace

import (
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"

	"cacheroute/workload/lines"
)

const parquetMagic = "PAR1"

// parquetRow is a row of a trace of this project as Parquet. A pointer is a
// column with nulls.
type parquetRow struct {
	Arrival     int64   `parquet:"arrival_us"`
	Key         *string `parquet:"key,optional,dict"`
	Session     *string `parquet:"session,optional,dict"`
	Turn        *int64  `parquet:"turn,optional"`
	Think       *int64  `parquet:"think_us,optional"`
	Input       int64   `parquet:"input_tokens"`
	Output      int64   `parquet:"output_tokens"`
	BlockTokens *int64  `parquet:"block_tokens,optional,dict"`
	BlockIDs    []int64 `parquet:"block_ids,list"` // the bits of 64-bit ids
	Status      *string `parquet:"status,optional,dict"`
	TTFT        *int64  `parquet:"ttft_us,optional"`
	E2E         *int64  `parquet:"e2e_us,optional"`
	Cached      *int64  `parquet:"cached_tokens,optional"`
}

// parquetBatch is how many rows are read or written at once.
const parquetBatch = 128

// mostIDs bounds the ids of a request in the mean of a row group: a few bytes of
// Parquet can stand for a billion of them.
const mostIDs = 1 << 22

// ownParquet is a trace of this project as Parquet.
type ownParquet struct {
	source
	file *os.File
	rows *parquet.GenericReader[parquetRow]
	buf  []parquetRow
	at   int // next in buf
	n    int // rows in buf
	read int64
}

// About implements Format.
func (*ownParquet) About() string {
	return "trace of this project, Parquet: arrival_us, input_tokens, output_tokens and the optional columns of csv"
}

func (*ownParquet) detect(*first) bool { return false } // known by its magic bytes

func (o *ownParquet) begin(s source) (err error) {
	o.source = s
	s.h.Unit = "us"
	rule, err := ParseKey(s.opt.Key)
	if err != nil {
		return err
	}
	if rule.Field != "" && rule.Field != "key" {
		return fmt.Errorf("%s: the key is to be the column %s, wanted key, which is the only one in Parquet", s.in.Path, lines.Excerpt([]byte(rule.Field)))
	}
	defer o.recover(&err)
	if o.file, err = lines.OpenFile(s.in.Path); err != nil {
		return err
	}
	info, err := o.file.Stat()
	if err != nil {
		return err
	}
	file, err := parquet.OpenFile(o.file, info.Size())
	if err != nil {
		return fmt.Errorf("%s: damaged or truncated Parquet file", s.in.Path)
	}
	if err := o.checkSchema(file); err != nil {
		return err
	}
	o.rows, o.buf = parquet.NewGenericReader[parquetRow](file), make([]parquetRow, parquetBatch)
	return nil
}

// recover makes an error of a panic of the library, which some damaged pages
// cause.
func (o *ownParquet) recover(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%s: damaged Parquet data after row %d", o.in.Path, o.read)
	}
}

// checkSchema compares the columns with those known: the library reads a missing
// one as zeros and converts a wrong type without a word.
func (o *ownParquet) checkSchema(file *parquet.File) error {
	want := map[string]parquet.Field{}
	for _, f := range parquet.SchemaOf(parquetRow{}).Fields() {
		want[f.Name()] = f
	}
	found := 0
	for _, f := range file.Schema().Fields() {
		w, known := want[f.Name()]
		if !known {
			o.h.unknown(f.Name())
			continue
		}
		if !sameKind(f, w) {
			return fmt.Errorf("%s: column %s is %s, wanted %s", o.in.Path, f.Name(), typeName(f), typeName(w))
		}
		if !w.Optional() && f.Name() != "block_ids" {
			found++
		}
		if f.Name() == "key" {
			o.h.KeyField = "key"
		}
	}
	if found < 3 {
		return fmt.Errorf("%s: read %d of the columns arrival_us, input_tokens and output_tokens, wanted all", o.in.Path, found)
	}
	for _, g := range file.RowGroups() {
		for _, c := range g.ColumnChunks() {
			if c.NumValues() > mostIDs*max(1, g.NumRows()) {
				return fmt.Errorf("%s: %d values in %d rows, wanted at most %d ids a request", o.in.Path, c.NumValues(), g.NumRows(), mostIDs)
			}
		}
	}
	return nil
}

// typeName names the type of a column on one line, with the names of the levels
// of a list.
func typeName(f parquet.Field) string {
	path := ""
	for !f.Leaf() {
		if len(f.Fields()) != 1 {
			return "a group"
		}
		f = f.Fields()[0]
		path += f.Name() + "."
	}
	return path + f.Type().String()
}

// sameKind compares a column with the one wanted; whole numbers may be of 32 or
// 64 bits.
func sameKind(got, want parquet.Field) bool {
	if got.Leaf() != want.Leaf() || got.Repeated() != want.Repeated() {
		return false
	}
	if !got.Leaf() {
		g, w := got.Fields(), want.Fields()
		return len(g) == 1 && len(w) == 1 && g[0].Name() == w[0].Name() && sameKind(g[0], w[0])
	}
	kind := got.Type().Kind()
	return kind == want.Type().Kind() || kind == parquet.Int32 && want.Type().Kind() == parquet.Int64
}

func (o *ownParquet) next(r *Row) (err error) {
	defer o.recover(&err)
	if o.at == o.n {
		clear(o.buf)
		n, err := o.rows.Read(o.buf)
		if n == 0 && err == io.EOF {
			return io.EOF
		}
		if n == 0 {
			return fmt.Errorf("%s: damaged Parquet data after row %d", o.in.Path, o.read)
		}
		o.at, o.n = 0, n
	}
	p := &o.buf[o.at]
	o.at++
	o.read++
	r.Line = o.read
	if err := o.fill(r, p); err != nil {
		return fmt.Errorf("%s: row %d: %w", o.in.Path, o.read, err)
	}
	return nil
}

// fill makes a row of what was read.
func (o *ownParquet) fill(r *Row, p *parquetRow) error {
	e := ownRow{blockTokens: Absent}
	for _, v := range []struct {
		name string
		from *int64
		to   *int64
		most int64
	}{
		{"arrival_us", &p.Arrival, &r.At, maxMicros}, {"input_tokens", &p.Input, nil, MaxTokens}, {"output_tokens", &p.Output, nil, MaxTokens},
		{"turn", p.Turn, &r.Turn, maxMicros}, {"think_us", p.Think, &r.Think, maxMicros}, {"block_tokens", p.BlockTokens, &e.blockTokens, MaxTokens},
		{"ttft_us", p.TTFT, &r.TTFT, maxMicros}, {"e2e_us", p.E2E, &r.E2E, maxMicros}, {"cached_tokens", p.Cached, &r.Cached, MaxTokens},
	} {
		if v.from == nil {
			continue
		}
		if *v.from < 0 || *v.from > v.most {
			return fmt.Errorf("%s: read %d, wanted a whole number from 0 to %d", v.name, *v.from, v.most)
		}
		if v.to != nil {
			*v.to = *v.from
		}
	}
	r.Input, r.Output = int32(p.Input), int32(p.Output)
	for _, v := range []struct {
		from *string
		to   *string
	}{{p.Key, &r.Key}, {p.Session, &r.Session}, {p.Status, &e.status}} {
		if v.from == nil {
			continue
		}
		if len(*v.from) > maxName {
			return fmt.Errorf("read %s, wanted a name of at most %d bytes", lines.Excerpt([]byte(*v.from)), maxName)
		}
		*v.to = *v.from
	}
	for _, id := range p.BlockIDs {
		r.Blocks = append(r.Blocks, uint64(id))
	}
	return e.finish(r, o.h, o.opt.BlockTokens)
}

// Close implements io.Closer.
func (o *ownParquet) Close() error {
	if o.rows != nil {
		o.rows.Close()
	}
	if o.file == nil {
		return nil
	}
	return o.file.Close()
}
