package scenarios

import (
	"context"
	"io"
	"path/filepath"

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
		window, _ := s.runner.window(c)
		rows := results.NewRequestWriter(out, c.Policy.Label, c.LoadQPS, c.Seed, window, s.runner.keyNames())
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

// keyNames are the names that the user gave the keys; nil if there are none.
func (r *Runner) keyNames() []string {
	if named, ok := r.load.(interface{ KeyNames() []string }); ok {
		return named.KeyNames()
	}
	return nil
}

// joinRequests makes requests.parquet of the requests of all cells.
func (s *store) joinRequests(version string) error {
	study, err := s.runner.Resolved()
	if err != nil {
		return err
	}
	cells := make([]string, s.runner.Cells())
	for i := range cells {
		cells[i] = s.requestsPath(s.runner.Cell(i))
	}
	meta := results.CellsMeta{Study: string(study), Version: version}
	return results.JoinRequests(filepath.Join(s.dir, requestsFile), cells, meta)
}
