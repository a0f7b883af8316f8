package results

import (
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"
)

// JoinRequests makes requests.parquet of the files of its cells, in the order
// given. A row group of one cell is copied as it is; consecutive ones that fit
// in one together become one. Equal files give equal bytes.
func JoinRequests(path string, cells []string, meta CellsMeta) error {
	return WriteFileAtomic(path, func(out io.Writer) error {
		j := requestJoin{out: newRequestFile(out,
			parquet.CreatedBy("cacheroute", meta.Version, ""),
			parquet.KeyValueMetadata(metaStudy, meta.Study),
			parquet.KeyValueMetadata(metaVersion, meta.Version))}
		defer j.closeFiles()
		for _, cell := range cells {
			if err := j.add(cell); err != nil {
				return err
			}
		}
		if err := j.flush(); err != nil {
			return err
		}
		return j.out.Close()
	})
}

// requestJoin gathers row groups until they fill one.
type requestJoin struct {
	out    *parquet.GenericWriter[Request]
	groups []parquet.RowGroup
	rows   int64
	files  []*os.File // of groups
}

// maxOpenCells bounds the files that are open at a time.
const maxOpenCells = 256

func (j *requestJoin) add(cell string) error {
	f, file, err := openRequests(cell)
	if err != nil {
		return err
	}
	if len(j.files) == maxOpenCells {
		if err := j.flush(); err != nil {
			f.Close()
			return err
		}
		j.closeFiles()
	}
	j.files = append(j.files, f)
	for _, g := range file.RowGroups() {
		if j.rows+g.NumRows() > requestRowsPerGroup {
			if err := j.flush(); err != nil {
				return err
			}
		}
		j.groups = append(j.groups, g)
		j.rows += g.NumRows()
	}
	return nil
}

// flush writes what was gathered as one row group.
func (j *requestJoin) flush() (err error) {
	switch len(j.groups) {
	case 0:
	case 1:
		_, err = j.out.WriteRowGroup(j.groups[0])
	default:
		_, err = j.out.WriteRowGroup(parquet.MultiRowGroup(j.groups...))
	}
	j.groups, j.rows = j.groups[:0], 0
	return err
}

func (j *requestJoin) closeFiles() {
	for _, f := range j.files {
		f.Close()
	}
	j.files = j.files[:0]
}

// openRequests opens a file of requests and compares its columns.
func openRequests(path string) (*os.File, *parquet.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	file, err := openParquet(f, parquet.SchemaOf(Request{}))
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, file, nil
}
