package trace

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"cacheroute/workload/lines"
)

// readText reads all rows of a text; errors begin with the name t.
func readText(text string, opt Options) (rows []Row, h *Header, err error) {
	open := func() (*lines.Reader, error) { return lines.New("t", strings.NewReader(text)) }
	in, err := open()
	if err != nil {
		return nil, nil, err
	}
	r, err := newReader(context.Background(), in, opt, open)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	rows, err = collect(r)
	return rows, r.Header(), err
}

func collect(r *Reader) (rows []Row, err error) {
	var row Row
	for {
		if err := r.Next(&row); err == io.EOF {
			return rows, nil
		} else if err != nil {
			return rows, err
		}
		kept := row
		kept.Blocks = slices.Clone(row.Blocks)
		rows = append(rows, kept)
	}
}

func mustRead(t testing.TB, text string, opt Options) ([]Row, *Header) {
	t.Helper()
	rows, h, err := readText(text, opt)
	if err != nil {
		t.Fatal(err)
	}
	return rows, h
}

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) || strings.ContainsAny(err.Error(), "\n\r\x00") || len(err.Error()) > 1000 {
		t.Errorf("error %v, wanted one line with %q", err, part)
	}
}

// exampleOptions are what an example cannot be read without.
func exampleOptions(example string) Options {
	switch exampleFormat(example) {
	case "weka":
		return Options{SessionsPerS: 0.5, Seed: 3}
	}
	return Options{}
}

func TestRowsOfEveryFormat(t *testing.T) {
	no := int64(Absent)
	row := func(at int64, in, out int32) Row {
		return Row{At: at, Input: in, Output: out, Turn: no, Think: no, TTFT: no, E2E: no, Cached: no, Failed: out == 0}
	}
	with := func(r Row, change func(*Row)) Row { change(&r); return r }
	for example, want := range map[string][]Row{
		"azure":      {row(1700158623979960, 4808, 10), row(1700158624031960, 3180, 8), row(1715472000000000, 110, 27)},
		"azure-2025": {row(1728993600269000, 100, 5), row(1728993601000000, 900, 0)},
		"burstgpt":   {row(5e6, 472, 18), row(45e6, 1087, 230), row(118e6, 417, 0)},
		"burstgpt-3": {with(row(19440110e6, 906, 446), func(r *Row) { r.Session, r.E2E = "1722ac82-0a46", 43e6 }),
			with(row(19440161e6, 36, 29), func(r *Row) { r.E2E = 2e6 })},
		"vidur":     {row(0, 374, 44), row(1000, 396, 109), row(4314579, 879, 55)},
		"splitwise": {row(0, 374, 44), row(4314570, 396, 109)},
		"csv": {
			with(row(500, 40, 5), func(r *Row) {
				r.Key, r.Session, r.Turn, r.Known, r.Blocks, r.TTFT, r.E2E, r.Cached = "a", "s1", 0, true, []uint64{1, 2, 3}, 90, 200, 0
			}),
			with(row(2e6, 16, 1), func(r *Row) { r.Key, r.Known, r.Blocks, r.Failed = "b,c", true, []uint64{1<<64 - 1}, true }),
			with(row(9e6, 60, 5), func(r *Row) {
				r.Key, r.Session, r.Turn, r.Think, r.Known, r.Blocks, r.TTFT, r.Cached = "a", "s1", 1, 700, true, []uint64{1, 2, 3, 4}, 80, 32
			}),
			with(row(9001e3, 8, 5), func(r *Row) { r.Key = "a" }),
		},
		"jsonl": {with(row(1500000, 40, 5), func(r *Row) { r.Key, r.Known, r.Blocks = "a", true, []uint64{1, 2, 3} }),
			with(row(3e6, 4, 5), func(r *Row) { r.Cached = 3 })},
		"mooncake-aiperf": {
			with(row(100500, 600, 9), func(r *Row) { r.Session, r.Known, r.Blocks = "a", true, []uint64{1, 2} }),
			with(row(2600500, 700, 9), func(r *Row) { r.Session, r.Think, r.Known, r.Blocks = "a", 2500000, true, []uint64{1, 3} }),
			row(700000, 10, 9)},
		"mooncake-dynamo": {
			with(row(250, 600, 9), func(r *Row) { r.Session, r.Known, r.Blocks = "s", true, []uint64{1, 2} }),
			with(row(1250, 600, 9), func(r *Row) { r.Session, r.Think, r.Known, r.Blocks = "s", 1000, true, []uint64{1, 2} })},
		"qwen-bailian": {
			with(row(61114000, 21, 83), func(r *Row) { r.Session, r.Turn, r.Known, r.Blocks = "159", 1, true, []uint64{1089, 1090} }),
			with(row(90e6, 120, 3), func(r *Row) {
				r.Session, r.Turn, r.Known, r.Blocks = "159", 2, true, []uint64{1089, 2, 3, 4, 5, 6, 7, 8}
			}),
			with(row(95500000, 32, 3), func(r *Row) { r.Session, r.Turn, r.Known, r.Blocks = "159", 3, true, []uint64{1089, 2} })},
		"dynamo": {
			with(row(1700000000123000, 40, 5), func(r *Row) {
				r.Session, r.Known, r.Blocks, r.TTFT, r.E2E, r.Cached = "s", true, []uint64{1, 2, 3}, 12500, 600000, 16
			}),
			with(row(1700000002000000, 32, 5), func(r *Row) { r.Session, r.Known, r.Blocks = "t", true, []uint64{1, 1<<64 - 1} })},
		"ragpulse": {with(row(27e6, 3861, 127), func(r *Row) { r.Session = "u1" }), with(row(29e6, 400, 7), func(r *Row) { r.Session = "u1" })},
	} {
		rows, h := mustRead(t, examples[example], exampleOptions(example))
		if h.Format != exampleFormat(example) || h.Forced {
			t.Errorf("%s: read as %s", example, h.Format)
		}
		for i := range rows {
			rows[i].Line = 0
			if len(rows[i].Blocks) == 0 {
				rows[i].Blocks = nil
			}
		}
		if !reflect.DeepEqual(rows, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", example, rows, want)
		}
	}
}

func TestAccounting(t *testing.T) {
	for example, want := range map[string]struct {
		read, noOutput, failed, unknown int
		dropped                         map[string]int
		members                         int
	}{
		"burstgpt":   {4, 1, 1, 3, map[string]int{"no input": 1}, 3},
		"splitwise":  {3, 0, 0, 2, map[string]int{"not to a language model": 1}, 3},
		"dynamo":     {3, 0, 0, 0, map[string]int{"of a tool": 1}, 6},
		"csv":        {4, 0, 1, 1, map[string]int{}, 1},
		"azure-2025": {2, 1, 1, 2, map[string]int{}, 1},
		"jsonl":      {2, 0, 0, 1, map[string]int{}, 1},
	} {
		rows, h := mustRead(t, examples[example], Options{})
		if h.RowsRead != want.read || h.RowsKept != len(rows) || h.NoOutput != want.noOutput || h.Failed != want.failed ||
			h.Unknown != want.unknown || !reflect.DeepEqual(h.Dropped, want.dropped) || h.UnknownMembers != want.members {
			t.Errorf("%s: header %+v", example, h)
		}
	}
}

// Every example is read the same with other ends of lines, a byte order mark,
// compression and the format given.
func TestFormOfTheFileDoesNotMatter(t *testing.T) {
	for example, text := range examples {
		opt := exampleOptions(example)
		want, _ := mustRead(t, text, opt)
		var gz, zs bytes.Buffer
		g := gzip.NewWriter(&gz)
		z, err := zstd.NewWriter(&zs)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range []io.WriteCloser{g, z} {
			io.WriteString(w, text)
			w.Close()
		}
		forced := opt
		forced.Format = exampleFormat(example)
		for name, c := range map[string]struct {
			text string
			opt  Options
		}{
			"no last newline": {strings.TrimSuffix(text, "\n"), opt},
			"CRLF and mark":   {"\xef\xbb\xbf" + strings.ReplaceAll(text, "\n", "\r\n"), opt},
			"blank lines":     {text + "\n  \n", opt},
			"gzip":            {gz.String(), opt}, "zstd": {zs.String(), opt}, "forced": {text, forced},
		} {
			got, _, err := readText(c.text, c.opt)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: %v, got %+v", example, name, err, got)
			}
		}
		got, _, err := readText("\n \n"+text, opt)
		for i := range got {
			got[i].Line -= 2
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s after blank lines: %v, got %+v", example, err, got)
		}
		for name, packed := range map[string]string{"gzip": gz.String(), "zstd": zs.String()} {
			if _, _, err := readText(packed[:len(packed)-6], opt); err == nil {
				t.Errorf("%s: %s cut short is accepted", example, name)
			}
		}
	}
}

// A format is told from its first line by one format alone.
func TestDetection(t *testing.T) {
	texts := map[string]string{"blis": blisRows, "servegen": "0,0,0,,0,0\n"}
	maps.Copy(texts, examples)
	for example, text := range texts {
		line, _, _ := strings.Cut(text, "\n")
		for name, build := range Formats {
			if got, want := build().detect(newFirst([]byte(line))), name == exampleFormat(example); got != want {
				t.Errorf("%s takes the first line of %s: %v", name, example, got)
			}
		}
	}
	for name, build := range Formats {
		if build().About() == "" || strings.ContainsAny(build().About(), "\n") {
			t.Errorf("%s says nothing about itself on one line", name)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	for example, text := range examples {
		opt := exampleOptions(example)
		want, h := mustRead(t, text, opt)
		for _, end := range []string{"csv", "jsonl", "parquet", "csv.gz", "jsonl.zst"} {
			path := filepath.Join(dir, example+"."+end)
			if err := convert(path, text, opt); err != nil {
				t.Fatal(err)
			}
			r, err := Open(context.Background(), path, Options{Force: true})
			if err != nil {
				t.Fatal(err)
			}
			got, err := collect(r)
			if err != nil {
				t.Fatal(err)
			}
			if r.Header().BlockTokens != h.BlockTokens || len(got) != len(want) {
				t.Fatalf("%s: %d rows, blocks of %d", path, len(got), r.Header().BlockTokens)
			}
			for i := range got {
				got[i].Line, want[i].Line = 0, 0
				if !slices.Equal(got[i].Blocks, want[i].Blocks) {
					t.Errorf("%s: row %d: blocks %v, wanted %v", path, i, got[i].Blocks, want[i].Blocks)
				}
				a, b := got[i], want[i]
				if a.Blocks, b.Blocks = nil, nil; !reflect.DeepEqual(a, b) {
					t.Errorf("%s: row %d: %+v, wanted %+v", path, i, a, b)
				}
			}
			r.Close()
		}
	}
}

// convert writes a text to a file in the format of its name.
func convert(path, text string, opt Options) error {
	opt.Force = true
	open := func() (*lines.Reader, error) { return lines.New("t", strings.NewReader(text)) }
	in, err := open()
	if err != nil {
		return err
	}
	r, err := newReader(context.Background(), in, opt, open)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return r.Convert(context.Background(), f, path)
}

func mustOpen(t *testing.T, text string, opt Options) *Reader {
	t.Helper()
	open := func() (*lines.Reader, error) { return lines.New("t", strings.NewReader(text)) }
	in, err := open()
	if err != nil {
		t.Fatal(err)
	}
	r, err := newReader(context.Background(), in, opt, open)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func convertTo(t *testing.T, text string) error {
	t.Helper()
	return mustOpen(t, text, Options{}).Convert(t.Context(), io.Discard, "t.csv")
}

// TestUnknownMembers: what a format does not know is named, but not the key.
func TestUnknownMembers(t *testing.T) {
	jsonl := func(more string) string {
		row := `{"timestamp": 0, "input_length": 600, "output_length": 5, "hash_ids": [1, 2]` + more + "}\n"
		return row + row
	}
	csv := func(more, values string) string {
		return "arrival_s,input_tokens,output_tokens" + more + "\n0,5,5" + values + "\n1,5,5" + values + "\n"
	}
	for _, c := range []struct {
		text, key string
		count     int
		want      string
	}{
		{jsonl(""), "", 0, "0 unknown members"},
		{jsonl(`, "user": "u"`), "", 2, `unknown members: "user"`},
		{jsonl(`, "user": "u"`), "field:user", 0, "0 unknown members"},
		{jsonl(`, "user": "u", "b": 1, "a": {"c": 2}`), "field:user", 4, `unknown members: "b", "a"`},
		{jsonl(`, "v": 1, "w": 1, "x": 1, "y": 1, "user": "u", "z": 1`), "field:user", 10, `unknown members: "v", "w", "x" and 2 more`},
		{csv("", ""), "", 0, "0 unknown members"},
		{csv(",User,Zone", ",u,z"), "", 2, `unknown members: "User", "Zone"`},
		{csv(",User,Zone", ",u,z"), "field:user", 1, `unknown members: "Zone"`},
		{csv(",Zone", ",z"), "field:arrival_s", 1, `unknown members: "Zone"`},
	} {
		_, h := mustRead(t, c.text, Options{Key: c.key})
		var b strings.Builder
		if err := h.Print(&b); err != nil || h.UnknownMembers != c.count || !strings.HasSuffix(b.String(), "; "+c.want+"\n") {
			t.Errorf("key %q of %s: %d, %v in %s, want %d, %s", c.key, c.text, h.UnknownMembers, err, &b, c.count, c.want)
		}
	}
	names := ""
	for i := range mostUnknown + 5 {
		names += fmt.Sprintf(`, "m%d": 0`, i)
	}
	if _, h := mustRead(t, jsonl(names), Options{}); h.unknowns() != `unknown members: "m0", "m1", "m2" and at least 997 more` {
		t.Errorf("many: %s", h.unknowns())
	}
}
