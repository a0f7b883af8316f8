package scenarios

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
)

// TestWriteTable has a key of two destinations, and one whose name CSV must quote.
func TestWriteTable(t *testing.T) {
	table := &RoutingTable{Destinations: 3, Table: []RoutingEntry{{`a,"b`, 8, []int32{2, 0}}, {"c", 0.1, []int32{1}}}}
	want := []assignment{{`a,"b`, 2, 8}, {`a,"b`, 0, 8}, {"c", 1, 0.1}}
	path := func(name string) string { return filepath.Join(t.TempDir(), name) }

	file := path("table.parquet")
	if err := table.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.ReadFile[assignment](file)
	if diff := cmp.Diff(want, rows); err != nil || diff != "" {
		t.Errorf("Parquet (-want +got): %v\n%s", err, diff)
	}
	file = path("table.CSV")
	if err := table.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if diff := cmp.Diff("key,destination,rate_qps\n\"a,\"\"b\",2,8\n\"a,\"\"b\",0,8\nc,1,0.1\n", string(text)); err != nil || diff != "" {
		t.Errorf("CSV (-want +got): %v\n%s", err, diff)
	}
	file = path("table.json")
	if err := table.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	back, err := ReadRoutingTable(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(table.Table, back.Table); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}
