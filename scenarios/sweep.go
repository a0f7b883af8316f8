package scenarios

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"cacheroute/results"
)

// Build names the program that made a result.
type Build struct {
	Version string
	Commit  string
	Go      string
	// Code identifies all that can change a result. Stored cells of other code
	// are not reused.
	Code string
}

// SweepOptions says how to run the cells of a study.
type SweepOptions struct {
	Dir     string // folder of results
	Workers int    // parallel runs; 0: one for each CPU
	Resume  bool   // take finished cells from Dir instead of running them
	// Requests makes requests.parquet, a row a request.
	Requests bool
	Build    Build
	Tally    *Tally
	Note     func(format string, args ...any) // tells the user what was done to Dir; nil: nobody
}

// Interrupted is returned by a sweep that was told to stop. What had finished
// is on disk.
type Interrupted struct {
	Done, Cells int
	Dir         string
}

func (e *Interrupted) Error() string {
	return fmt.Sprintf("interrupted with %d of %d cells in %s; the same command with --resume runs the rest", e.Done, e.Cells, e.Dir)
}

// Sweep runs every cell of the study, stores each as soon as it is finished and
// returns them in the order of Cell. Neither the number of workers nor what was
// resumed changes a byte of it.
func (r *Runner) Sweep(ctx context.Context, o SweepOptions) ([]results.Cell, error) {
	store, err := r.openStore(o)
	if err != nil {
		return nil, err
	}
	w := &sweep{runner: r, store: store, tally: o.Tally, cells: make([]results.Cell, r.Cells())}
	if o.Resume {
		w.reuse()
	} else {
		w.missing = make([]int, r.Cells())
		for i := range w.missing {
			w.missing[i] = i
		}
	}
	w.announce()
	if err := w.run(ctx, o.Workers); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		done := r.Cells() - len(w.missing) + int(w.tally.Done.Load())
		return nil, &Interrupted{Done: done, Cells: r.Cells(), Dir: o.Dir}
	}
	if o.Requests {
		if err := store.joinRequests(o.Build.Version); err != nil {
			return nil, err
		}
	}
	return w.cells, nil
}

// sweep is one pass over the cells of a study.
type sweep struct {
	runner  *Runner
	store   *store
	tally   *Tally
	cells   []results.Cell
	missing []int // indices of the cells to run
}

// announce tells the tally what there is to do.
func (w *sweep) announce() {
	requests := 0.0
	for _, i := range w.missing {
		requests += w.runner.Requests(i)
	}
	w.tally.Expected.Store(int64(requests))
	w.tally.Cells.Store(int64(len(w.missing)))
}

// reuse takes what is stored.
func (w *sweep) reuse() {
	for i := range w.cells {
		cell, ok := w.store.get(w.runner.Cell(i))
		if !ok {
			w.missing = append(w.missing, i)
			continue
		}
		w.cells[i] = cell
	}
}

// run runs the missing cells.
func (w *sweep) run(ctx context.Context, workers int) error {
	return Deal(ctx, workers, len(w.missing), func(ctx context.Context, n int) error { return w.one(ctx, w.missing[n]) })
}

// Deal gives the tasks 0 to n-1 to workers (0: one for each CPU) until all are
// done, one fails or the context ends.
func Deal(ctx context.Context, workers, n int, do func(ctx context.Context, task int) error) error {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	inner, stop := context.WithCancel(ctx)
	defer stop()
	failed := make(chan error, 1)
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(workers, n) {
		group.Go(func() {
			for inner.Err() == nil {
				task := int(next.Add(1)) - 1
				if task >= n {
					return
				}
				if err := do(inner, task); err != nil && inner.Err() == nil {
					select {
					case failed <- err:
					default:
					}
					stop()
				}
			}
		})
	}
	group.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// Simulate runs every cell of the study and stores none. It returns them in the
// order of Cell, whatever the number of workers.
func (r *Runner) Simulate(ctx context.Context, o SearchOptions) ([]results.Cell, error) {
	cells := make([]results.Cell, r.Cells())
	err := Deal(ctx, o.Workers, len(cells), func(ctx context.Context, i int) (err error) {
		c := r.Cell(i)
		o.Tally.Current.Store(&c)
		cells[i], _, err = r.Run(ctx, c, o.Tally, nil)
		o.Tally.Done.Add(1)
		return err
	})
	if err == nil && ctx.Err() != nil {
		err = errors.New("interrupted; nothing was written")
	}
	return cells, err
}

// one runs and stores a cell.
func (w *sweep) one(ctx context.Context, i int) error {
	c := w.runner.Cell(i)
	w.tally.Current.Store(&c)
	cell, profile, err := w.store.run(ctx, c, w.tally)
	if err != nil {
		return err
	}
	if err := w.store.put(c, cell, profile); err != nil {
		return err
	}
	w.cells[i] = cell
	w.tally.Done.Add(1)
	return nil
}
