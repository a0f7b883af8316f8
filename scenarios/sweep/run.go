package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"

	"cacheroute/results"
	"cacheroute/scenarios"
)

// stored is the payload of a segment: what a cell gave, or why it gave nothing.
type stored struct {
	Cell    *results.Cell    `json:"cell,omitempty"`
	Profile *results.Profile `json:"profile,omitempty"`
	Error   string           `json:"error,omitempty"`
}

// decode reads a payload.
func decode(f *os.File, r record) (s stored, err error) {
	payload, err := readPayload(f, r)
	if err == nil {
		err = json.Unmarshal(payload, &s)
	}
	if err == nil && (s.Cell == nil) == (r.kind == done) {
		err = errors.New("neither a result nor a failure of this version")
	}
	if err != nil {
		return s, fmt.Errorf("%s: the result at byte %d: %w", f.Name(), r.at, err)
	}
	if s.Cell != nil {
		s.Cell.Restore()
	}
	return s, nil
}

// Transient is an error that may be gone at another try: of the disk, of the
// network, of who ended the process.
type Transient struct{ Err error }

func (e *Transient) Error() string {
	return e.Err.Error() + "; the same command goes on where it stopped"
}
func (e *Transient) Unwrap() error { return e.Err }

// transient marks every error but that of an input.
func transient(err error) error {
	var b *scenarios.BadInput
	if err == nil || errors.As(err, &b) {
		return err
	}
	return &Transient{err}
}

// FailedCells is returned by a shard whose other cells are done.
type FailedCells struct {
	N     int
	First string // what one of them said
	Dir   string
}

func (e *FailedCells) Error() string {
	return fmt.Sprintf("%d of the shard's cells failed, the others are done; one of them: %s (cacheroute sweep status %s shows all)", e.N, e.First, e.Dir)
}

// RunOptions say how to run a shard.
type RunOptions struct {
	Shard       Shard
	Workers     int  // parallel runs; 0: one for each CPU
	RetryFailed bool // run the cells again that have failed
	Build       scenarios.Build
	Tally       *scenarios.Tally
}

// shard is a shard at work.
type shard struct {
	plan    *Plan
	options *RunOptions
	ids     []id
	out     *segment
	failed  atomic.Int64
	reason  atomic.Pointer[string] // of one that failed
	// simulate runs a cell; it is the runner's, but for tests.
	simulate func(context.Context, *scenarios.Runner, scenarios.Cell, func(*results.Record)) (results.Cell, *results.Profile, error)
}

// Run runs the cells of a shard that have no result. An error is a BadInput, a
// Transient or FailedCells.
func Run(ctx context.Context, dir string, o RunOptions) error {
	s, err := open(dir, &o)
	if err != nil {
		return transient(err)
	}
	return s.run(ctx)
}

func open(dir string, o *RunOptions) (*shard, error) {
	p, err := Open(dir)
	if err != nil {
		return nil, err
	}
	if err := p.sameCode(o.Build); err != nil {
		return nil, err
	}
	s := &shard{plan: p, options: o, out: p.segment(o.Shard)}
	s.simulate = func(ctx context.Context, r *scenarios.Runner, c scenarios.Cell, each func(*results.Record)) (results.Cell, *results.Profile, error) {
		return r.Run(ctx, c, o.Tally, each)
	}
	s.ids, err = p.ids()
	return s, err
}

func (s *shard) run(ctx context.Context) (err error) {
	have, err := s.plan.find(s.ids, s.options.Shard, true)
	if err != nil {
		return transient(err)
	}
	s.failuresOf(have)
	todo := have.missing(s.ids, s.options.Shard, s.options.RetryFailed)
	s.options.Tally.Cells.Add(int64(len(todo)))
	err = s.cells(ctx, todo)
	err = errors.Join(err, s.out.close())
	switch n := int(s.failed.Load()); {
	case err != nil:
		return transient(err)
	case ctx.Err() != nil:
		return &Transient{fmt.Errorf("interrupted with %d of %d cells of shard %s run", s.options.Tally.Done.Load(), len(todo), s.options.Shard)}
	case n > 0:
		return &FailedCells{N: n, First: *s.reason.Load(), Dir: s.plan.dir}
	}
	return nil
}

// failuresOf counts the cells that failed before and stay so.
func (s *shard) failuresOf(have *found) {
	if s.options.RetryFailed {
		return
	}
	for _, at := range have.at {
		if at.kind != failed {
			continue
		}
		message := "failed before"
		if stored, err := have.load(at); err == nil {
			message = stored.Error
		}
		s.note(message)
	}
}

func (s *shard) note(message string) {
	s.reason.CompareAndSwap(nil, &message)
	s.failed.Add(1)
}

// cells runs the cells of these numbers, a variant after the other.
func (s *shard) cells(ctx context.Context, todo []int) error {
	first := 0
	for i := range s.plan.Variants {
		v := &s.plan.Variants[i]
		n := 0
		for n < len(todo) && todo[n] < first+v.Cells {
			n++
		}
		if n > 0 && ctx.Err() == nil {
			if err := s.variant(ctx, v, first, todo[:n]); err != nil {
				return err
			}
		}
		todo, first = todo[n:], first+v.Cells
	}
	return nil
}

// variant runs cells of one variant, whose first cell has the number first.
func (s *shard) variant(ctx context.Context, v *PlanVariant, first int, todo []int) error {
	runner, err := s.plan.reopen(v)
	if err != nil {
		return err
	}
	identity, err := runner.Identify(s.plan.Code)
	if err != nil {
		return err
	}
	for _, i := range todo {
		if n := i - first; n >= runner.Cells() || identity(n) != string(s.ids[i][:]) {
			return s.plan.changed(v)
		}
		s.options.Tally.Expected.Add(int64(runner.Requests(i - first)))
	}
	return scenarios.Deal(ctx, s.options.Workers, len(todo), func(ctx context.Context, n int) error {
		return s.one(ctx, runner, runner.Cell(todo[n]-first), s.ids[todo[n]])
	})
}

// sameInputs refuses files that are not as they were planned.
func (p *Plan) sameInputs(runner *scenarios.Runner) error {
	for _, now := range runner.Inputs() {
		for _, then := range p.Inputs {
			if now.Name == then.Name && now.SHA256 != then.SHA256 {
				return scenarios.Badf("%s: has changed since it was planned: plan again, the results are kept", now.Name)
			}
		}
	}
	return nil
}

// changed says that a study is not the one whose cells were planned.
func (p *Plan) changed(v *PlanVariant) error {
	return scenarios.Badf("%s: not the study that was planned: plan again, the results are kept", filepath.Join(p.dir, v.File))
}

// one runs and stores a cell. Its own failure is a result.
func (s *shard) one(ctx context.Context, runner *scenarios.Runner, c scenarios.Cell, cell id) error {
	s.options.Tally.Current.Store(&c)
	out, wrong, err := s.simulated(ctx, runner, c, cell)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	kind := byte(done)
	if wrong != nil {
		out, kind = stored{Error: wrong.Error()}, failed
		s.note(wrong.Error())
	}
	payload, err := json.Marshal(&out)
	if err != nil {
		return err
	}
	if err := s.out.add(cell, kind, payload); err != nil {
		return err
	}
	s.options.Tally.Done.Add(1)
	return nil
}

// simulated runs a cell and keeps its requests, if they are kept; wrong is what
// is wrong with the cell, err with the disk.
func (s *shard) simulated(ctx context.Context, runner *scenarios.Runner, c scenarios.Cell, cell id) (out stored, wrong, err error) {
	run := func(each func(*results.Record)) error {
		return guard(func() error {
			got, profile, err := s.simulate(ctx, runner, c, each)
			out.Cell, out.Profile = &got, profile
			return err
		})
	}
	if !s.plan.Requests {
		return out, run(nil), nil
	}
	err = results.WriteFileAtomic(s.plan.requestsPath(cell), func(w io.Writer) error {
		rows := runner.RequestWriter(w, c)
		if wrong = run(rows.Add); wrong != nil {
			return wrong
		}
		return rows.Close()
	})
	if wrong != nil {
		err = nil
	}
	return out, wrong, err
}

// guard makes a panic an error, so that it costs one cell.
func guard(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return do()
}
