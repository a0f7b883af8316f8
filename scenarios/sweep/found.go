package sweep

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// found is the results of planned cells that are on disk.
type found struct {
	segments []string // paths
	at       map[id]place
	// Conflicts are cells with two results that differ: equal cells must give
	// equal results, so one of the machines is not to be trusted.
	conflicts map[id][2]string
	damaged   int // lines
}

// place is where a result lies.
type place struct {
	segment int
	record
}

// segmentName is how the segments of a shard are called: by plan too, as cells
// have other numbers in another.
func (p *Plan) segmentName(s Shard) string {
	return fmt.Sprintf("%.12s.%d-of-%d", p.SHA256, s.I, s.N)
}

// mayHold says whether the segment of that name can hold results of a shard.
func (p *Plan) mayHold(name string, s Shard) bool {
	plan, rest, _ := strings.Cut(name, ".")
	if !strings.HasPrefix(p.SHA256, plan) {
		return true
	}
	var o Shard
	if n, _ := fmt.Sscanf(rest, "%d-of-%d.", &o.I, &o.N); n != 2 || o.N < 1 {
		return true
	}
	return s.meets(o)
}

// find looks for the results of a shard's cells. verify also compares each with
// its sum.
func (p *Plan) find(ids []id, s Shard, verify bool) (*found, error) {
	dir := filepath.Join(p.dir, segmentsFolder)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notPlanned(dir)
	}
	if err != nil {
		return nil, err
	}
	wanted := make(map[id]bool, len(ids)/s.N+1)
	for i := s.I; i < len(ids); i += s.N {
		wanted[ids[i]] = true
	}
	all := &found{at: make(map[id]place, len(wanted)), conflicts: map[id][2]string{}}
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") || !p.mayHold(e.Name(), s) {
			continue
		}
		if err := all.read(filepath.Join(dir, e.Name()), wanted, verify); err != nil {
			return nil, err
		}
	}
	if p.Requests {
		return all, all.dropWithout(filepath.Join(p.dir, requestsFolder))
	}
	return all, nil
}

// dropWithout drops the results of cells whose requests are not in the folder:
// they were planned without, and run again.
func (a *found) dropWithout(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return notPlanned(folder)
	}
	if err != nil {
		return err
	}
	names := make(map[string]bool, len(entries))
	for _, e := range entries {
		names[e.Name()] = true
	}
	for cell, at := range a.at {
		if at.kind == done && !names[string(cell[:])+".parquet"] {
			delete(a.at, cell)
		}
	}
	return nil
}

// read adds the results of a segment. Of two for a cell a result beats a
// failure, else the first found stays.
func (a *found) read(path string, wanted map[id]bool, verify bool) error {
	check := func(cell id) bool { return verify && wanted[cell] }
	n := len(a.segments)
	damaged, err := scan(path, check, func(r record) {
		if !wanted[r.cell] {
			return
		}
		old, twice := a.at[r.cell]
		if twice && old.kind == done && r.kind == done && old.sum != r.sum {
			a.conflicts[r.cell] = [2]string{a.path(old.segment, path), path}
		}
		if !twice || old.kind == failed && r.kind == done {
			a.at[r.cell] = place{n, r}
		}
	})
	if errors.Is(err, fs.ErrNotExist) { // removed by the user meanwhile
		return nil
	}
	a.damaged += damaged
	a.segments = append(a.segments, path)
	return err
}

// path names a segment that was read, or the one that is being read.
func (a *found) path(segment int, current string) string {
	if segment < len(a.segments) {
		return a.segments[segment]
	}
	return current
}

// done says whether a cell has a result.
func (a *found) done(cell id) bool {
	at, ok := a.at[cell]
	return ok && at.kind == done
}

// missing are the cells of a shard without a result.
func (a *found) missing(ids []id, s Shard, retryFailed bool) (cells []int) {
	for i := s.I; i < len(ids); i += s.N {
		at, ok := a.at[ids[i]]
		if !ok || retryFailed && at.kind == failed {
			cells = append(cells, i)
		}
	}
	return cells
}

// missingShards are the shards of n that have such cells.
func (a *found) missingShards(ids []id, n int, retryFailed bool) (shards []int) {
	has := make([]bool, n)
	for _, cell := range a.missing(ids, Shard{0, 1}, retryFailed) {
		has[cell%n] = true
	}
	for i := range has {
		if has[i] {
			shards = append(shards, i)
		}
	}
	return shards
}

// failures reads the records of failed cells, in the order of the plan, at most
// so many.
func (a *found) failures(ids []id, most int) (all []failure, err error) {
	var seen []id
	for i, cell := range ids {
		at, ok := a.at[cell]
		if !ok || at.kind != failed || slices.Contains(seen, cell) {
			continue
		}
		if len(all) == most {
			break
		}
		seen = append(seen, cell)
		stored, err := a.load(at)
		if err != nil {
			return nil, err
		}
		all = append(all, failure{Cell: i, Error: stored.Error})
	}
	return all, nil
}

// load reads one result.
func (a *found) load(at place) (stored, error) {
	f, err := os.Open(a.segments[at.segment])
	if err != nil {
		return stored{}, err
	}
	defer f.Close()
	return decode(f, at.record)
}
