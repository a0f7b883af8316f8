package trace

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"cacheroute/workload/lines"
)

// FuzzFormats reads anything as each format: an error names the file, and rows
// that are kept are sound and survive a conversion.
func FuzzFormats(f *testing.F) {
	for example, text := range examples {
		f.Add(exampleFormat(example), []byte(text))
		f.Add("", []byte(text[:len(text)-9]))
	}
	f.Add("mooncake-delta", []byte(examples["mooncake-aiperf"]))
	f.Add("mooncake", []byte(`{"timestamp":0,"timestamp":1}`))
	f.Add("", []byte("\x1f\x8b\x08\x00\x00"))
	f.Add("", []byte("\x28\xb5\x2f\xfd\x00"))
	f.Fuzz(func(t *testing.T, format string, data []byte) {
		if format == "parquet" || format == "blis" { // they read other files
			return
		}
		open := func() (*lines.Reader, error) { return lines.New("t", bytes.NewReader(data)) }
		in, err := open()
		if err != nil {
			return
		}
		r, err := newReader(context.Background(), in, Options{Format: format, SessionsPerS: 1, From: 1, Force: true}, open)
		if err != nil {
			return
		}
		defer r.Close()
		rows, err := collect(r)
		if err != nil && err.Error()[0] != 't' {
			t.Errorf("error %q does not begin with the file", err)
		}
		checkRows(t, r.Header(), rows)
	})
}

func checkRows(t *testing.T, h *Header, rows []Row) {
	t.Helper()
	for _, r := range rows {
		if r.At < 0 || r.Input < 1 || r.Input > MaxTokens || r.Output < 0 || r.Output > MaxTokens || r.Think < Absent || r.Turn < Absent {
			t.Fatalf("row %+v", r)
		}
		if len(r.Blocks) > 0 && (!r.Known || h.BlockTokens < 1 || (len(r.Blocks)-1)*int(h.BlockTokens) >= int(r.Input)) {
			t.Fatalf("row of blocks of %d: %+v", h.BlockTokens, r)
		}
	}
}

// FuzzParquet damages a file of this project.
func FuzzParquet(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, "t.parquet")
	if err := convert(path, examples["csv"], Options{}); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint(9), byte(1))
	f.Fuzz(func(t *testing.T, at uint, value byte) {
		damaged := bytes.Clone(whole)
		damaged[at%uint(len(damaged))] ^= value
		path := filepath.Join(t.TempDir(), "t.parquet")
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(context.Background(), path, Options{})
		if err != nil {
			return
		}
		defer r.Close()
		rows, err := collect(r)
		if err != nil && err != io.EOF {
			return
		}
		checkRows(t, r.Header(), rows)
	})
}
