package results

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
)

// TestDamagedCells: no changed byte makes the reader panic or ask for all
// memory. Most are found, and the sum of the manifest finds the rest.
func TestDamagedCells(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cells.parquet")
	cells := study().Cells
	if err := WriteCellsParquet(path, cells, CellsMeta{Study: "x", Version: "1"}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := SumFile("cells.parquet", path)
	if err != nil {
		t.Fatal(err)
	}
	found, tried := 0, 0
	for i := 0; i < len(whole); i += 41 {
		damaged := append([]byte{}, whole...)
		damaged[i] ^= 0x55
		if err := os.WriteFile(path, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		tried++
		if read, _, err := ReadCellsParquet(path); err != nil || !cmp.Equal(read, cells, equateNaN) {
			found++
		}
		if other, err := SumFile("cells.parquet", path); err != nil || other.SHA256 == sum.SHA256 {
			t.Fatalf("byte %d changed, but not the sum (%v)", i, err)
		}
	}
	t.Logf("%d of %d changed bytes are seen without the sum", found, tried)
}

// TestCellsOfManyRowGroups: the reader takes a file whatever its row groups.
func TestCellsOfManyRowGroups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cells.parquet")
	var cells []Cell
	for range 30 {
		cells = append(cells, study().Cells...)
	}
	if err := parquet.WriteFile(path, cells, parquet.MaxRowsPerRowGroup(7), parquet.Compression(&parquet.Gzip)); err != nil {
		t.Fatal(err)
	}
	read, _, err := ReadCellsParquet(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(cells, read, equateNaN); d != "" {
		t.Error(d)
	}
}
