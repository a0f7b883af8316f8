package workload

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestRatesParquetOfOthers: other writers choose optional columns, dictionaries,
// a codec and row groups of any size; the rates are the same.
func TestRatesParquetOfOthers(t *testing.T) {
	type row struct {
		Rate *float64 `parquet:"rate"`
		Key  *string  `parquet:"key,dict"`
	}
	var rows []row
	for i := range 2500 { // more than one read of the reader
		rows = append(rows, row{new(float64(i % 7)), new("key" + strconv.Itoa(i))}) // a rate of 0 is no null
	}
	path := filepath.Join(t.TempDir(), "rates.parquet")
	if err := parquet.WriteFile(path, rows, parquet.MaxRowsPerRowGroup(999), parquet.Compression(&parquet.Snappy)); err != nil {
		t.Fatal(err)
	}
	r, err := ReadRates(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Names) != len(rows) {
		t.Fatalf("%d of %d rows", len(r.Names), len(rows))
	}
	for i := range rows {
		if r.Names[i] != *rows[i].Key || r.Rates[i] != *rows[i].Rate {
			t.Fatalf("row %d is %s %v", i, r.Names[i], r.Rates[i])
		}
	}
}

// TestRatesParquetOtherTypes: the library would convert each of these without a
// word, or read zeros.
func TestRatesParquetOtherTypes(t *testing.T) {
	const wanted = "wanted key (string) and rate (double)"
	type float struct {
		Key  string  `parquet:"key"`
		Rate float32 `parquet:"rate"`
	}
	type number struct {
		Key  int64   `parquet:"key"`
		Rate float64 `parquet:"rate"`
	}
	type list struct {
		Key  string    `parquet:"key"`
		Rate []float64 `parquet:"rate"`
	}
	type nested struct {
		Row struct {
			Key  string  `parquet:"key"`
			Rate float64 `parquet:"rate"`
		} `parquet:"row"`
	}
	for name, path := range map[string]string{
		"float":  writeParquet(t, []float{{"a", 1}}),
		"number": writeParquet(t, []number{{1, 1}}),
		"list":   writeParquet(t, []list{{"a", []float64{1}}}),
		"nested": writeParquet(t, []nested{{}}),
	} {
		if _, err := ReadRates(path); err == nil {
			t.Errorf("%s: no error", name)
		} else {
			wantError(t, err, wanted)
		}
	}
}
