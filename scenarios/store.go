package scenarios

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v4"

	"cacheroute/results"
)

// The files of a folder of results, the manifest last: a folder with one is
// whole.
const (
	studyFile    = "study.yaml"
	parquetFile  = "cells.parquet"
	summaryFile  = "summary.json"
	manifestFile = "manifest.json"
	cellsFolder  = "cells"
)

// store keeps finished cells in DIR/cells, a file for each, named by a hash of
// everything that determines its result: a changed study or program never finds
// the cells of another, and studies that share cells share their files. A file
// is the summary.json of that cell alone.
type store struct {
	runner *Runner
	dir    string
	base   []byte             // hash of what all cells share
	policy map[*Policy][]byte // YAML
}

// openStore makes the folder ready. Results of another study in it are moved
// aside, never overwritten.
func (r *Runner) openStore(o SweepOptions) (*store, error) {
	study, err := r.resolved()
	if err != nil {
		return nil, err
	}
	s := &store{runner: r, dir: filepath.Join(o.Dir, cellsFolder), policy: map[*Policy][]byte{}}
	for i := range r.Study.Policies {
		p := &r.Study.Policies[i]
		if s.policy[p], err = yaml.Dump(p); err != nil {
			return nil, err
		}
	}
	if s.base, err = r.identity(o.Build.Code); err != nil {
		return nil, err
	}
	moved, err := moveAside(o.Dir, study)
	if err != nil {
		return nil, bad(err)
	}
	if moved != "" && o.Note != nil {
		o.Note("%s held the results of another study: moved to %s", o.Dir, moved)
	}
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return nil, bad(err)
	}
	return s, bad(results.WriteFileAtomic(filepath.Join(o.Dir, studyFile), func(w io.Writer) error {
		_, err := w.Write(study)
		return err
	}))
}

// moveAside clears dir for a run of the study: results of another study go to
// dir/earlier-N, whose path is returned, and a manifest of this one is removed
// until the run is whole.
func moveAside(dir string, study []byte) (moved string, err error) {
	old, err := os.ReadFile(filepath.Join(dir, studyFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case bytes.Equal(old, study):
		return "", unlessMissing(os.Remove(filepath.Join(dir, manifestFile)))
	}
	if _, err := os.Stat(filepath.Join(dir, cellsFolder)); err != nil {
		return "", fmt.Errorf("%s: is not the result of a run, wanted another --out", filepath.Join(dir, studyFile))
	}
	for n := 1; ; n++ {
		moved = filepath.Join(dir, fmt.Sprintf("earlier-%d", n))
		if err := os.Mkdir(moved, 0o777); err == nil {
			break
		} else if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	for _, name := range []string{manifestFile, summaryFile, parquetFile, studyFile} {
		if err := unlessMissing(os.Rename(filepath.Join(dir, name), filepath.Join(moved, name))); err != nil {
			return "", err
		}
	}
	return moved, nil
}

// unlessMissing forgives that a file is not there.
func unlessMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// resolved is the study as study.yaml holds it: with every default, and with
// paths that hold wherever it is read.
func (r *Runner) resolved() ([]byte, error) {
	var n yaml.Node
	if err := n.Encode(r.Study); err != nil {
		return nil, err
	}
	var failed error
	eachFile(&n, func(path string) string {
		abs, err := filepath.Abs(path)
		failed = errors.Join(failed, err)
		return abs
	})
	if failed != nil {
		return nil, failed
	}
	return dump(&n)
}

// eachFile replaces every value that names an input file.
func eachFile(root *yaml.Node, f func(string) string) {
	walk(root, "", func(_ string, key, value *yaml.Node) {
		if key != value && key.Value == "file" && value.Kind == yaml.ScalarNode && value.Value != "" {
			value.SetString(f(value.Value))
		}
	})
}

// identity hashes what determines the results of all cells: code, fleet,
// workload with the content of its files, and the measured window.
func (r *Runner) identity(code string) ([]byte, error) {
	m := r.Study.Measure
	var n yaml.Node
	if err := n.Encode(map[string]any{
		"code": code, "fleet": r.Study.Fleet, "workload": r.Study.Workload,
		"warmup_s": m.WarmupS, "duration_s": m.DurationS, "deadline_s": m.DeadlineS,
	}); err != nil {
		return nil, err
	}
	eachFile(&n, func(path string) string {
		for _, in := range r.inputs {
			if in.Name == path {
				return in.SHA256
			}
		}
		return path
	})
	text, err := yaml.Dump(&n)
	sum := sha256.Sum256(text)
	return sum[:], err
}

// path is where a cell is stored.
func (s *store) path(c Cell) string {
	h := sha256.New()
	fmt.Fprintf(h, "%x\n%s\n%s\n%x\n%d\n", s.base, s.policy[c.Policy], c.Policy.Label, c.LoadQPS, c.Seed)
	return filepath.Join(s.dir, hex.EncodeToString(h.Sum(nil)[:16])+".json")
}

// put stores a finished cell at once.
func (s *store) put(c Cell, cell results.Cell) error {
	one := results.Summary{
		Study: s.runner.Study.Name, Cells: []results.Cell{cell},
		Ladder: []results.LadderRow{}, Capacity: []results.CapacityRow{},
		SimulatedRequests: cell.RunRequests,
	}
	return results.WriteSummary(s.path(c), &one)
}

// get returns a stored cell. A file that cannot be read whole counts as
// missing: the cell runs again.
func (s *store) get(c Cell) (results.Cell, bool) {
	one, err := results.ReadSummary(s.path(c))
	if err != nil || len(one.Cells) != 1 {
		return results.Cell{}, false
	}
	cell := one.Cells[0]
	ok := cell.Policy == c.Policy.Label && cell.LoadQPS == c.LoadQPS && cell.Seed == c.Seed
	return cell, ok
}

// Write puts the files of a whole run into the folder.
func (r *Runner) Write(dir string, b Build, s *results.Summary) error {
	assumptions, err := r.Study.Assumptions()
	if err != nil {
		return err
	}
	study, err := r.resolved()
	if err != nil {
		return err
	}
	meta := results.CellsMeta{Study: string(study), Version: b.Version}
	if err := results.WriteCellsParquet(filepath.Join(dir, parquetFile), s.Cells, meta); err != nil {
		return err
	}
	if err := results.WriteSummary(filepath.Join(dir, summaryFile), s); err != nil {
		return err
	}
	m := &results.Manifest{
		Study: r.Study.Name, Version: b.Version, Commit: b.Commit, Go: b.Go,
		Seeds: r.Study.Seeds, Inputs: append([]results.FileSum{}, r.inputs...),
		Assumptions: assumptions, Warnings: append([]string{}, r.Notices...),
	}
	return results.WriteManifest(dir, m, studyFile, parquetFile, summaryFile)
}
