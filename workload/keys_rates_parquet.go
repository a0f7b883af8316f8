package workload

import (
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"

	"cacheroute/workload/lines"
)

// rateRow is a row of a Parquet file of rates. Pointers tell a null from a 0.
type rateRow struct {
	Key  *string  `parquet:"key,optional"`
	Rate *float64 `parquet:"rate,optional"`
}

// rateColumns are what a file of rates must have.
var rateColumns = []struct {
	name string
	kind parquet.Kind
}{{"key", parquet.ByteArray}, {"rate", parquet.Double}}

// readRatesParquet compares the schema of the file first: the library reads a
// missing column as zeros and converts a wrong type without a word.
func readRatesParquet(path string, f *os.File) (r *Rates, err error) {
	// The library panics on some damaged pages; a damaged input is an error.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: damaged Parquet data", path)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("%s: %s", path, lines.Failure(err))
	}
	pf, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: damaged or truncated Parquet file", path)
	}
	for _, c := range rateColumns {
		leaf, ok := pf.Schema().Lookup(c.name)
		if !ok {
			return nil, fmt.Errorf("%s: no column %s, wanted key (string) and rate (double)", path, c.name)
		}
		if leaf.Node.Type().Kind() != c.kind || leaf.Node.Repeated() {
			return nil, fmt.Errorf("%s: column %s is %v, wanted key (string) and rate (double)", path, c.name, leaf.Node.Type())
		}
	}
	r = &Rates{seen: map[string]int{}}
	rows := parquet.NewGenericReader[rateRow](pf)
	defer rows.Close()
	buf := make([]rateRow, 1024)
	for number := 1; ; {
		n, err := rows.Read(buf)
		for _, row := range buf[:n] {
			if row.Key == nil || row.Rate == nil {
				return nil, fmt.Errorf("%s: row %d: read a null, wanted a key and a rate", path, number)
			}
			if err := r.add(*row.Key, *row.Rate, "row", number); err != nil {
				return nil, fmt.Errorf("%s: row %d: %w", path, number, err)
			}
			number++
		}
		if err == io.EOF {
			return r.check(path)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: damaged Parquet data after row %d", path, number-1)
		}
	}
}
