package scenarios

import (
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"cacheroute/results"
)

// tableFormats are the extensions of the files that a routing table is written
// to; any other is JSON, which alone holds the accounts and can be read back.
var tableFormats = map[string]func(*RoutingTable, io.Writer) error{
	".csv":     (*RoutingTable).csv,
	".parquet": (*RoutingTable).parquet,
}

// assignment is a row of a table in CSV or Parquet: one destination of one key,
// keys by falling rate, destinations in the order of choice.
type assignment struct {
	Key         string  `parquet:"key"`
	Destination int32   `parquet:"destination"`
	RateQPS     float64 `parquet:"rate_qps"` // of the key, over all of its destinations
}

func (t *RoutingTable) assignments() (rows []assignment) {
	for _, e := range t.Table {
		for _, d := range e.Destinations {
			rows = append(rows, assignment{e.Key, d, e.RateQPS})
		}
	}
	return rows
}

// WriteFile writes the table in the format of the path's extension. Its folder
// must exist.
func (t *RoutingTable) WriteFile(path string) error {
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return bad(err)
	}
	write := (*RoutingTable).JSON
	if f := tableFormats[strings.ToLower(filepath.Ext(path))]; f != nil {
		write = f
	}
	return bad(results.WriteFileAtomic(path, func(w io.Writer) error { return write(t, w) }))
}

func (t *RoutingTable) csv(w io.Writer) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"key", "destination", "rate_qps"}}
	for _, a := range t.assignments() {
		rows = append(rows, []string{a.Key, strconv.Itoa(int(a.Destination)), strconv.FormatFloat(a.RateQPS, 'g', -1, 64)})
	}
	return out.WriteAll(rows)
}

func (t *RoutingTable) parquet(w io.Writer) error {
	out := parquet.NewGenericWriter[assignment](w, parquet.Compression(&parquet.Zstd), parquet.CreatedBy("cacheroute", "", ""),
		parquet.KeyValueMetadata("cacheroute.destinations", strconv.Itoa(t.Destinations)))
	if _, err := out.Write(t.assignments()); err != nil {
		return err
	}
	return out.Close()
}
