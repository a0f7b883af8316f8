package results

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
)

func TestCellsParquetRoundTrip(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	cells := study().Cells
	meta := CellsMeta{Study: "name: small\n", Version: "1.2.3"}
	for _, path := range []string{a, b} {
		if err := WriteCellsParquet(path, cells, meta); err != nil {
			t.Fatal(err)
		}
	}
	back, said, err := ReadCellsParquet(a)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(cells, back, equateNaN); d != "" || said != meta {
		t.Errorf("read back, of %+v:\n%s", said, d)
	}
	left, _ := os.ReadFile(a)
	right, _ := os.ReadFile(b)
	if !bytes.Equal(left, right) {
		t.Error("the same cells twice give different bytes")
	}
}

// The names in Parquet are those of summary.json, a figure that may be undefined
// is a required double, and only the intervals of a drift, the last field, are
// no column.
func TestCellColumns(t *testing.T) {
	cell := reflect.TypeFor[Cell]()
	fields := parquet.SchemaOf(Cell{}).Fields()
	for i, f := range fields {
		if name := cell.Field(i).Tag.Get("json"); name != f.Name() {
			t.Errorf("column %s is %s in JSON", f.Name(), name)
		}
		if cell.Field(i).Type == reflect.TypeFor[Float]() && !(f.Required() && f.Leaf() && f.Type() == parquet.DoubleType) {
			t.Errorf("column %s is %s", f.Name(), f)
		}
	}
	if last := len(fields); last != cell.NumField()-1 || cell.Field(last).Name != "Intervals" {
		t.Errorf("%d columns of %d fields", last, cell.NumField())
	}
}

func TestReadCellsParquetRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, make func(path string) error) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whole := write("whole", func(p string) error { return WriteCellsParquet(p, study().Cells, CellsMeta{}) })
	bytes, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	type narrow struct {
		Policy string `parquet:"policy,dict"`
	}
	type changed struct {
		Policy int64 `parquet:"policy"`
	}
	type wide struct {
		Cell
		More int64 `parquet:"more"`
	}
	for want, path := range map[string]string{
		"not a whole Parquet file":   write("cut", func(p string) error { return os.WriteFile(p, bytes[:len(bytes)-9], 0o644) }),
		"column load_qps is missing": write("narrow", func(p string) error { return parquet.WriteFile(p, []narrow{{"a"}}) }),
		"column policy is":           write("changed", func(p string) error { return parquet.WriteFile(p, []changed{{1}}) }),
		"more columns":               write("wide", func(p string) error { return parquet.WriteFile(p, []wide{{}}) }),
		"a folder: not a whole":      dir,
		"no such file or directory":  filepath.Join(dir, "none"),
	} {
		_, _, err := ReadCellsParquet(path)
		want = strings.TrimPrefix(want, "a folder: ")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want one line with %q", err, want)
		}
	}
}
