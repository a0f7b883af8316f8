package paper

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"cacheroute/results"
	"cacheroute/scenarios"
)

// bench is the studies of a comparison, in the order of recipes.
type bench struct {
	folder  string // of generated input files, with the separator at its end
	entries []*entry
	byName  map[string]*entry
}

// entry is one study. Either it has a runner or a reason why it is not run.
type entry struct {
	recipe
	changes []string
	study   *scenarios.Study
	runner  *scenarios.Runner
	reason  string
	cells   []results.Cell
	summary results.Summary

	residency *scenarios.Residency // of a recipe that is predicted
}

// primarySLO is the paper's main objective, of the p99 TTFT in seconds.
const primarySLO = 3.5

// objectives are those of all tables, whichever a study names.
var objectives = []float64{2, primarySLO, 5}

// newBench makes the named studies ready. One that this build cannot run, for a
// switch that it does not know, is kept with the reason.
func newBench(o Options, names map[string]bool) (*bench, error) {
	folder, err := inputFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	b := &bench{folder: folder + string(filepath.Separator), byName: map[string]*entry{}}
	for _, r := range recipes() {
		if !names[r.name] {
			continue
		}
		e := &entry{recipe: r}
		b.entries = append(b.entries, e)
		b.byName[r.name] = e
		delete(names, r.name)
		if err := e.prepare(b.folder, o.Seeds); err != nil {
			return nil, fmt.Errorf("study %s: %w", r.name, err)
		}
	}
	for name := range names {
		return nil, fmt.Errorf("no study %q", name)
	}
	return b, nil
}

func (e *entry) prepare(folder string, seeds []uint64) (err error) {
	e.study, e.changes, err = e.build(folder, seeds)
	if err == nil {
		e.runner, err = scenarios.Prepare(e.study, nil)
	}
	var bad *scenarios.BadInput
	if errors.As(err, &bad) {
		e.runner = nil
		e.reason, _, _ = strings.Cut(bad.Lines[0], ", wanted")
		return nil
	}
	return err
}

// run runs the cells of all studies by parallel workers. The order in which they
// end has no influence.
func (b *bench) run(ctx context.Context, o Options) error {
	type job struct {
		e *entry
		i int
	}
	var jobs []job
	expected := 0.0
	for _, e := range b.entries {
		if e.runner == nil {
			continue
		}
		e.cells = make([]results.Cell, e.runner.Cells())
		for i := range e.cells {
			jobs = append(jobs, job{e, i})
			expected += e.runner.Cell(i).LoadQPS * (e.study.Measure.WarmupS + e.study.Measure.DurationS)
		}
	}
	o.Tally.Cells.Store(int64(len(jobs)))
	o.Tally.Expected.Store(int64(expected))
	workers := o.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for inner.Err() == nil {
				n := int(next.Add(1)) - 1
				if n >= len(jobs) {
					return
				}
				if err := jobs[n].e.one(inner, jobs[n].i, o.Tally); err != nil {
					stop(err)
				}
			}
		})
	}
	group.Wait()
	if err := context.Cause(inner); err != nil {
		return err
	}
	for _, e := range b.entries {
		if e.runner != nil {
			e.summary = results.Summarise(e.study.Name, e.cells, objectives, e.study.Measure.MaxFailureRate)
		}
		if e.runner != nil && e.predicted {
			all := e.study.Fleet.KVBlocks
			var err error
			if e.residency, err = e.runner.Residency(ctx, []int{all / 4, all / 2, all}, scenarios.SearchOptions{Workers: o.Workers, Tally: &scenarios.Tally{}}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *entry) one(ctx context.Context, i int, tally *scenarios.Tally) (err error) {
	c := e.runner.Cell(i)
	tally.Current.Store(&c)
	e.cells[i], _, err = e.runner.Run(ctx, c, tally, nil)
	tally.Done.Add(1)
	return err
}

// assumed is what the study takes for granted beyond the paper.
func (e *entry) assumed() string {
	if e.model == "" {
		return e.about
	}
	return strings.TrimPrefix(e.about+"; ", "; ") + models[e.model].about()
}

// list says what was simulated.
func (b *bench) list() (all []Study, err error) {
	for _, e := range b.entries {
		s := Study{Name: e.name, About: e.assumed(), Changes: e.changes, Cells: len(e.cells), Reason: e.reason}
		if e.study != nil {
			s.Seeds = e.study.Seeds
			if s.yaml, err = e.study.YAML(); err != nil {
				return nil, err
			}
			s.yaml = []byte(strings.ReplaceAll(string(s.yaml), b.folder, ""))
		}
		all = append(all, s)
	}
	return all, nil
}

// ladder is the loads of a study.
func (b *bench) ladder(study string) []float64 {
	if e := b.byName[study]; e != nil && e.study != nil {
		return e.study.LoadsQPS
	}
	return nil
}
