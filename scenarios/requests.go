package scenarios

import (
	"context"
	"io"
	"path/filepath"
	"strconv"

	"cacheroute/results"
)

// requestsPath is where the requests of a cell are stored.
func (s *store) requestsPath(c Cell) string {
	return filepath.Join(s.dir, requestsFolder, s.name(c)+".parquet")
}

// run simulates a cell and, if they are kept, stores its requests as they end.
func (s *store) run(ctx context.Context, c Cell, tally *Tally) (cell results.Cell, profile *results.Profile, err error) {
	if !s.requests {
		return s.runner.Run(ctx, c, tally, nil)
	}
	var failed error // of the run rather than of the file
	err = results.WriteFileAtomic(s.requestsPath(c), func(out io.Writer) error {
		rows := s.runner.RequestWriter(out, c)
		if cell, profile, failed = s.runner.Run(ctx, c, tally, rows.Add); failed != nil {
			return failed
		}
		return rows.Close()
	})
	if failed != nil {
		err = failed
	}
	return cell, profile, err
}

// RequestWriter writes the requests of a cell.
func (r *Runner) RequestWriter(out io.Writer, c Cell) *results.RequestWriter {
	window, _ := r.window(c)
	return results.NewRequestWriter(out, c.Policy.Label, c.LoadQPS, c.Seed, window, r.keyNames())
}

// keyNames are the names that the user gave the keys; nil if there are none.
func (r *Runner) keyNames() []string {
	if named, ok := r.load.(interface{ KeyNames() []string }); ok {
		return named.KeyNames()
	}
	return nil
}

// keyName is what a warning calls a key: its name in quotes, else its index.
func (r *Runner) keyName(key int) string {
	if names := r.keyNames(); key < len(names) {
		return quote(names[key])
	}
	return strconv.Itoa(key)
}

// joinRequests makes requests.parquet of the requests of all cells.
func (s *store) joinRequests(version string) error {
	cells := make([]string, s.runner.Cells())
	for i := range cells {
		cells[i] = s.requestsPath(s.runner.Cell(i))
	}
	return s.runner.joinRequests(s.dir, version, cells)
}

// joinRequests makes requests.parquet in a folder of the files of its cells.
func (r *Runner) joinRequests(dir, version string, cells []string) error {
	study, err := r.Resolved()
	if err != nil {
		return err
	}
	meta := results.CellsMeta{Study: string(study), Version: version}
	return results.JoinRequests(filepath.Join(dir, requestsFile), cells, meta)
}
