package trace

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"cacheroute/workload/lines"
)

// Reader yields the rows of a trace in the order of the file. It holds one row
// and what a format needs to know of earlier ones (Header.Remembers).
type Reader struct {
	header Header
	opt    Options
	in     *lines.Reader
	format Format
	choose chooser
	done   bool
}

// Open opens a trace, plain or compressed with gzip or zstd, or a folder of the
// files of ServeGen. Where the options need a first reading, the context ends it.
// The caller closes the reader.
func Open(ctx context.Context, path string, opt Options) (*Reader, error) {
	open := func() (*lines.Reader, error) {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return folder(path)
		}
		return lines.Open(path)
	}
	in, err := open()
	if err != nil {
		return nil, err
	}
	r, err := newReader(ctx, in, opt, open)
	if err != nil {
		in.Close()
		return nil, err
	}
	return r, nil
}

// newReader reads from in. again opens the file once more, for what must be
// known of all rows before the first can be given.
func newReader(ctx context.Context, in *lines.Reader, opt Options, again func() (*lines.Reader, error)) (*Reader, error) {
	r := &Reader{opt: opt, in: in}
	err := r.begin(opt)
	if err == nil {
		err = r.choose.prepare(ctx, r, again)
	}
	if err != nil {
		r.closeFormat()
		return nil, err
	}
	return r, nil
}

func (r *Reader) begin(opt Options) error {
	for _, err := range opt.Check() {
		return err
	}
	name, err := formatOf(r.in, opt.Format)
	if err != nil {
		return err
	}
	r.format = Formats[name]()
	r.header = Header{Path: r.in.Path, Format: name, Forced: opt.Format != "", Dropped: map[string]int{}, Notes: []string{}, IDKind: "none", InputKind: "full"}
	return r.format.begin(source{r.in, &r.header, &r.opt})
}

// Check returns what is wrong with the options; each error begins with a name.
func (o *Options) Check() (wrong []error) {
	want := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	want(o.BlockTokens >= 0 && o.BlockTokens <= MaxTokens, "block_tokens: must be between 0 and %d, got %d", MaxTokens, o.BlockTokens)
	want(o.From >= 0 && o.From <= 1e9, "from_s: must be between 0 and 1e+09, got %v", o.From)
	want(o.To >= 0 && o.To <= 1e9, "to_s: must be between 0 and 1e+09, got %v", o.To)
	want(o.To == 0 || !(o.To <= o.From), "to_s: %v is not after from_s = %v, wanted a later time or 0, the end", o.To, o.From)
	want(o.Keep >= 0 && o.Keep <= 1, "keep: must be between 0 and 1, got %v", o.Keep)
	want(o.SessionsPerS >= 0 && o.SessionsPerS <= 1e6, "sessions_per_s: must be between 0 and 1e+06, got %v", o.SessionsPerS)
	_, err := ParseKey(o.Key)
	want(err == nil, "%w", err)
	return wrong
}

// formatOf returns the name of the format of a file.
func formatOf(in *lines.Reader, forced string) (string, error) {
	names := slices.Sorted(maps.Keys(Formats))
	known := strings.Join(names, ", ")
	if forced != "" && Formats[forced] == nil {
		return "", fmt.Errorf("format: read %s, wanted one of %s", lines.Excerpt([]byte(forced)), known)
	}
	if string(in.Head(4)) == parquetMagic {
		return cmp.Or(forced, "parquet"), nil
	}
	if err := in.SkipBlank(); err != nil || forced != "" {
		return forced, err
	}
	line, err := in.Peek()
	if err == io.EOF {
		return "", fmt.Errorf("%s: the file is empty, wanted a trace (%s)", in.Path, known)
	}
	if err != nil {
		return "", err
	}
	f := newFirst(line)
	for _, name := range names {
		if Formats[name]().detect(f) {
			return name, nil
		}
	}
	if f.wrong != nil {
		return "", in.Errorf("%w", f.wrong)
	}
	return "", in.Errorf("read %s, wanted a trace (%s); a CSV of one's own has the columns arrival_s, input_tokens and output_tokens at least (docs/traces.md)", lines.Excerpt(line), known)
}

// Next fills r with the next request that is kept, or returns io.EOF; Header is
// then complete.
func (r *Reader) Next(row *Row) error {
	h := &r.header
	for {
		row.reset()
		err := r.format.next(row)
		if err == io.EOF {
			return r.end()
		}
		if err != nil {
			return err
		}
		h.RowsRead++
		if reason := r.judge(row); reason != "" {
			h.Dropped[reason]++
			continue
		}
		h.keep(row)
		return nil
	}
}

// judge returns why a row is not kept, if it is not.
func (r *Reader) judge(row *Row) string {
	switch {
	case row.drop != "":
		return row.drop
	case row.Input == 0:
		return "no input"
	}
	return r.choose.judge(row)
}

// end completes the header.
func (r *Reader) end() error {
	h := &r.header
	if !r.done {
		dropped := 0
		for _, n := range h.Dropped {
			dropped += n
		}
		if h.RowsRead != h.RowsKept+dropped {
			panic(fmt.Sprintf("trace: %d rows read, %d kept, %d dropped", h.RowsRead, h.RowsKept, dropped))
		}
		if err := h.checkTail(); err != nil {
			return err
		}
		if h.RowsKept == 0 {
			return fmt.Errorf("%s: read %d rows and kept none%s", h.Path, h.RowsRead, h.drops())
		}
		var err error
		if h.SHA256, err = r.in.Sum(); err != nil {
			return err
		}
		r.done = true
	}
	return io.EOF
}

// Header says what was read and dropped so far. The caller must not change it.
func (r *Reader) Header() *Header { return &r.header }

// Close ends the reading.
func (r *Reader) Close() {
	r.closeFormat()
	r.in.Close()
}

// closeFormat closes what the format has opened beside the file.
func (r *Reader) closeFormat() {
	if c, ok := r.format.(io.Closer); ok {
		c.Close()
	}
}
