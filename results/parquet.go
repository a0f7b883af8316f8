package results

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"
)

// Keys of the metadata of the Parquet files.
const (
	metaStudy   = "cacheroute.study"   // resolved YAML of the study
	metaVersion = "cacheroute.version" // of the program that wrote the file
)

// rowsPerGroup keeps row groups at a size that readers can skip or share out;
// the library's default is one group a file, whatever its size.
const rowsPerGroup = 1_000_000

// CellsMeta is what cells.parquet says of itself.
type CellsMeta struct{ Study, Version string }

var errDamaged = errors.New("damaged Parquet data")

// WriteCellsParquet writes cells.parquet, a row a cell in the order given.
// Equal arguments give equal bytes.
func WriteCellsParquet(path string, cells []Cell, meta CellsMeta) error {
	return WriteFileAtomic(path, func(out io.Writer) error {
		w := parquet.NewGenericWriter[Cell](out,
			parquet.Compression(&parquet.Zstd),
			parquet.MaxRowsPerRowGroup(rowsPerGroup),
			parquet.CreatedBy("cacheroute", meta.Version, ""),
			parquet.KeyValueMetadata(metaStudy, meta.Study),
			parquet.KeyValueMetadata(metaVersion, meta.Version))
		if _, err := w.Write(cells); err != nil {
			return err
		}
		return w.Close()
	})
}

// ReadCellsParquet reads a cells.parquet. A file with other columns is refused:
// the library would read a missing one as zeros and convert a changed one.
func ReadCellsParquet(path string) (cells []Cell, meta CellsMeta, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, meta, err
	}
	defer f.Close()
	defer func() {
		if p := recover(); p != nil { // the library panics on some damaged pages
			err = errDamaged
		}
		if err != nil {
			cells, meta, err = nil, CellsMeta{}, fmt.Errorf("%s: %w", path, err)
		}
	}()
	file, err := openParquet(f, parquet.SchemaOf(Cell{}))
	if err != nil {
		return nil, meta, err
	}
	meta.Study, _ = file.Lookup(metaStudy)
	meta.Version, _ = file.Lookup(metaVersion)
	cells, err = readCells(file)
	return cells, meta, err
}

// readCells reads all rows, a few at a time: a damaged number of rows is not
// to be believed.
func readCells(file *parquet.File) (cells []Cell, err error) {
	r := parquet.NewGenericReader[Cell](file)
	defer r.Close()
	buf := make([]Cell, 64)
	for {
		n, err := r.Read(buf) // may return rows together with io.EOF
		for i := range buf[:n] {
			if buf[i].Warnings == nil {
				buf[i].Warnings = []string{}
			}
			cells = append(cells, buf[i])
		}
		clear(buf) // a row keeps no memory that the next one fills
		switch {
		case err == io.EOF && int64(len(cells)) == file.NumRows():
			return cells, nil
		case err == io.EOF:
			return nil, fmt.Errorf("%d of %d rows", len(cells), file.NumRows())
		case err != nil:
			return nil, fmt.Errorf("damaged Parquet data after row %d", len(cells))
		}
	}
}

// openParquet opens a whole file that has exactly the wanted columns.
func openParquet(f *os.File, want *parquet.Schema) (*parquet.File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("not a whole Parquet file: %w", err)
	}
	return file, sameColumns(file.Schema(), want)
}

// sameColumns compares the columns of a file with those wanted.
func sameColumns(got, want *parquet.Schema) error {
	have := map[string]parquet.Field{}
	for _, f := range got.Fields() {
		have[f.Name()] = f
	}
	for _, f := range want.Fields() {
		g, ok := have[f.Name()]
		switch {
		case !ok:
			return fmt.Errorf("column %s is missing: not a file of this version", f.Name())
		case !parquet.EqualNodes(g, f):
			return fmt.Errorf("column %s is %s, want %s", f.Name(), g, f)
		}
	}
	if len(have) != len(want.Fields()) {
		return errors.New("more columns than a file of this version has")
	}
	return nil
}
