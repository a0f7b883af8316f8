package trace

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
)

func writeRows[T any](t *testing.T, rows []T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.parquet")
	if err := parquet.WriteFile(path, rows); err != nil {
		t.Fatal(err)
	}
	return path
}

func readFile(path string, opt Options) ([]Row, *Header, error) {
	r, err := Open(context.Background(), path, opt)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	rows, err := collect(r)
	return rows, r.Header(), err
}

// Files of other tools: 32-bit numbers, columns in another order, some left out,
// some unknown.
func TestParquetOfOthers(t *testing.T) {
	type row struct {
		Output  int32   `parquet:"output_tokens"`
		Input   int32   `parquet:"input_tokens,optional"`
		Arrival int64   `parquet:"arrival_us,optional"`
		Region  string  `parquet:"region"`
		IDs     []int64 `parquet:"block_ids,list"`
		Size    *int32  `parquet:"block_tokens,optional"`
		Key     string  `parquet:"key"`
	}
	size := int32(16)
	rows, h, err := readFile(writeRows(t, []row{{5, 20, 7, "eu", []int64{-1}, &size, "a"}, {5, 20, 9, "eu", nil, nil, ""}}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if h.UnknownMembers != 1 || h.Unknown != 1 || len(rows) != 2 || rows[0].Blocks[0] != 1<<64-1 || rows[0].Key != "a" || rows[1].At != 9 {
		t.Errorf("header %+v, rows %+v", h, rows)
	}
	_, _, err = readFile(writeRows(t, []row{{5, 20, 7, "eu", nil, nil, "a"}}), Options{Key: "field:region"})
	wantError(t, err, "the key is to be the column \"region\", wanted key")
}

func TestParquetErrors(t *testing.T) {
	type numbers struct {
		Arrival int64 `parquet:"arrival_us"`
		Input   int64 `parquet:"input_tokens"`
		Output  int64 `parquet:"output_tokens"`
	}
	type text struct {
		Arrival string `parquet:"arrival_us"`
		Input   int64  `parquet:"input_tokens"`
		Output  int64  `parquet:"output_tokens"`
	}
	type few struct {
		Input int64 `parquet:"input_tokens"`
	}
	type ids struct {
		numbers
		IDs []string `parquet:"block_ids,list"`
	}
	type bomb struct {
		numbers
		IDs []int64 `parquet:"block_ids,list"`
	}
	type item struct {
		Item int64 `parquet:"item"`
	}
	type list struct {
		List []item `parquet:"list"`
	}
	type otherList struct { // readers that go by names would find no ids
		numbers
		IDs list `parquet:"block_ids"`
	}
	damaged := writeRows(t, []numbers{{1, 1, 1}})
	data, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(damaged, data[:len(data)-9], 0o600); err != nil {
		t.Fatal(err)
	}
	for want, path := range map[string]string{
		"row 2: input_tokens: read -5, wanted a whole number from 0 to 67108864":       writeRows(t, []numbers{{1, 1, 1}, {1, -5, 1}}),
		"row 1: output_tokens: read 4294967297, wanted":                                writeRows(t, []numbers{{1, 1, 1<<32 + 1}}),
		"row 1: arrival_us: read -1, wanted":                                           writeRows(t, []numbers{{-1, 1, 1}}),
		"column arrival_us is":                                                         writeRows(t, []text{{"x", 1, 1}}),
		"column block_ids is list.item.INT(64,true), wanted list.element.INT(64,true)": writeRows(t, []otherList{{numbers{1, 1, 1}, list{[]item{{1}}}}}),
		"column block_ids is list.element.STRING":                                      writeRows(t, []ids{{numbers{1, 1, 1}, []string{"x"}}}),
		"read 1 of the columns arrival_us, input_tokens and output_tokens":             writeRows(t, []few{{1}}),
		"5000000 values in 1 rows, wanted at most 4194304 ids a request":               writeRows(t, []bomb{{numbers{1, 1, 1}, make([]int64, 5000000)}}),
		"damaged or truncated Parquet file":                                            damaged,
		"row 1: block_ids without block_tokens, wanted the number of tokens of a b":    writeRows(t, []bomb{{numbers{1, 16, 1}, []int64{4}}}),
	} {
		_, _, err := readFile(path, Options{})
		wantError(t, err, want)
	}
}
