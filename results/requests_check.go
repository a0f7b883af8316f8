package results

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// CheckRequests compares the file at path with the cell whose requests it is to
// hold. It reads every row, as a join copies many pages unseen and what stands
// between pages has no sum, and sees to it that the row groups can be copied.
func CheckRequests(path string, cell *Cell) (err error) {
	defer func() {
		if p := recover(); p != nil { // the library panics on some damaged pages
			err = fmt.Errorf("%s: %w", path, errDamaged)
		}
	}()
	f, file, err := openRequests(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err = checkRows(file, cell); err == nil {
		err = checkCopy(file)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// checkRows compares what all rows say of their cell.
func checkRows(file *parquet.File, cell *Cell) error {
	if file.NumRows() != cell.RunRequests {
		return fmt.Errorf("%d requests, want %d", file.NumRows(), cell.RunRequests)
	}
	r := parquet.NewGenericReader[Request](file)
	defer r.Close()
	buf := make([]Request, requestBatch)
	for at := int64(0); ; {
		n, err := r.Read(buf) // may return rows together with io.EOF
		for i := range buf[:n] {
			if row := &buf[i]; row.Policy != cell.Policy || row.LoadQPS != cell.LoadQPS || row.Seed != cell.Seed || row.Index != at {
				return fmt.Errorf("request %d of %s at %v requests/s, seed %d; want %d of %s at %v requests/s, seed %d",
					row.Index, row.Policy, row.LoadQPS, row.Seed, at, cell.Policy, cell.LoadQPS, cell.Seed)
			}
			at++
		}
		switch {
		case errors.Is(err, io.EOF) && at == cell.RunRequests:
			return nil
		case errors.Is(err, io.EOF):
			return fmt.Errorf("%d of %d requests", at, cell.RunRequests)
		case err != nil:
			return fmt.Errorf("after request %d: %w", at, err)
		}
	}
}

// checkCopy copies all row groups to nowhere.
func checkCopy(file *parquet.File) error {
	out := requestFiles.Get().(*parquet.GenericWriter[Request])
	out.Reset(io.Discard)
	for _, g := range file.RowGroups() {
		if _, err := out.WriteRowGroup(g); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	requestFiles.Put(out)
	return nil
}
