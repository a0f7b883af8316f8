package scenarios

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v4"

	"cacheroute/results"
)

// The files of a folder of results, the manifest last: a folder with one is
// whole.
const (
	studyFile    = "study.yaml"
	parquetFile  = "cells.parquet"
	requestsFile = "requests.parquet"
	summaryFile  = "summary.json"
	profilesFile = "profiles.json"
	reportFile   = "report.html"
	manifestFile = "manifest.json"

	cellsFolder    = "cells"
	profilesFolder = "profiles"
	requestsFolder = "requests"
)

// store keeps finished cells in DIR/cells, a file for each, named by a hash of
// everything that determines its result: a changed study or program never finds
// the cells of another, and studies that share cells share their files. A file
// is the summary.json of that cell alone. A profile lies under the same name in
// DIR/profiles and is the profiles.json of that cell alone, and its requests, if
// they are kept, in DIR/requests.
type store struct {
	runner   *Runner
	dir      string
	requests bool               // are kept
	base     []byte             // hash of what all cells share
	policy   map[*Policy][]byte // YAML
}

// store is where the cells of the study lie in a folder of results.
func (r *Runner) store(dir, code string) (*store, error) {
	s := &store{runner: r, dir: dir, policy: map[*Policy][]byte{}}
	var err error
	for i := range r.Study.Policies {
		p := &r.Study.Policies[i]
		if s.policy[p], err = yaml.Dump(p); err != nil {
			return nil, err
		}
	}
	s.base, err = r.Identity(code)
	return s, err
}

// Claim makes a folder of results this process's own until the returned function
// is called, and clears what a killed run has left half-written.
func Claim(dir string) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, bad(err)
	}
	if release, err = lock(dir); err != nil {
		return nil, bad(err)
	}
	for _, pattern := range []string{".*.tmp", filepath.Join("*", ".*.tmp")} {
		left, _ := filepath.Glob(filepath.Join(dir, pattern)) // the pattern is sound
		for _, path := range left {
			if err := os.Remove(path); err != nil {
				release()
				return nil, bad(err)
			}
		}
	}
	return release, nil
}

// openStore makes the folder ready. Results of another study in it are moved
// aside, never overwritten.
func (r *Runner) openStore(o SweepOptions) (*store, error) {
	study, err := r.Resolved()
	if err != nil {
		return nil, err
	}
	s, err := r.store(o.Dir, o.Build.Code)
	if err != nil {
		return nil, err
	}
	folders := []string{cellsFolder, profilesFolder}
	if s.requests = o.Requests; s.requests {
		folders = append(folders, requestsFolder)
	}
	moved, err := moveAside(o.Dir, study)
	if err != nil {
		return nil, bad(err)
	}
	if moved != "" && o.Note != nil {
		o.Note("%s held the results of another study: moved to %s", o.Dir, moved)
	}
	for _, folder := range folders {
		if err := os.MkdirAll(filepath.Join(o.Dir, folder), 0o777); err != nil {
			return nil, bad(err)
		}
	}
	return s, bad(results.WriteFileAtomic(filepath.Join(o.Dir, studyFile), func(w io.Writer) error {
		_, err := w.Write(study)
		return err
	}))
}

// moveAside clears dir for a run of the study: results of another study go to
// dir/earlier-N, whose path is returned, and the manifest and the requests of
// this one are removed until the run is whole.
func moveAside(dir string, study []byte) (moved string, err error) {
	old, err := os.ReadFile(filepath.Join(dir, studyFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		for _, name := range []string{manifestFile, reportFile, profilesFile, summaryFile, parquetFile, requestsFile} {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				return "", fmt.Errorf("%s: is there without a %s, so no run wrote it; wanted another --out", filepath.Join(dir, name), studyFile)
			}
		}
		return "", nil
	case err != nil:
		return "", err
	case bytes.Equal(old, study):
		return "", errors.Join(unlessMissing(os.Remove(filepath.Join(dir, manifestFile))),
			unlessMissing(os.Remove(filepath.Join(dir, requestsFile))))
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
	for _, name := range []string{manifestFile, reportFile, profilesFile, summaryFile, parquetFile, requestsFile, studyFile} {
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

// Resolved is the study as study.yaml holds it: with every default, and with
// paths that hold wherever it is read.
func (r *Runner) Resolved() ([]byte, error) {
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

// Identity hashes what determines the results of all cells: code, fleet,
// workload with the content of its files, and the measured window.
func (r *Runner) Identity(code string) ([]byte, error) {
	m := r.Study.Measure
	var n yaml.Node
	if err := n.Encode(map[string]any{
		"code": code, "fleet": r.Study.Fleet, "workload": r.Study.Workload,
		"warmup_s": m.WarmupS, "duration_s": m.DurationS, "deadline_s": m.DeadlineS, "by_stage": m.ByStage, "edge_s": m.EdgeS,
		"warmup_qps": m.WarmupQPS, "settle_s": m.SettleS, "hits_of": cmp.Or(m.HitsOf, hitsArrived),
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

// path is where a cell, or its profile, is stored.
func (s *store) path(folder string, c Cell) string {
	return filepath.Join(s.dir, folder, s.name(c)+".json")
}

// name is a hash of what determines the result of a cell.
func (s *store) name(c Cell) string {
	h := sha256.New()
	fmt.Fprintf(h, "%x\n%s\n%s\n%x\n%d\n", s.base, s.policy[c.Policy], c.Policy.Label, c.LoadQPS, c.Seed)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// put stores a finished cell at once, after its profile: a stored cell is whole.
func (s *store) put(c Cell, cell results.Cell, profile *results.Profile) error {
	if profile != nil {
		one := []results.CellProfile{{Policy: c.Policy.Label, LoadQPS: c.LoadQPS, Seed: c.Seed, Profile: *profile}}
		if err := results.WriteProfiles(s.path(profilesFolder, c), one); err != nil {
			return err
		}
	}
	one := results.Summary{
		Study: s.runner.Study.Name, Cells: []results.Cell{cell},
		Ladder: []results.LadderRow{}, Capacity: []results.CapacityRow{}, Drift: []results.DriftRow{},
		SimulatedRequests: cell.RunRequests,
	}
	return results.WriteSummary(s.path(cellsFolder, c), &one)
}

// get returns a stored cell. A file that cannot be read whole counts as
// missing, and so does a cell without the profile or the requests that it should
// have: the cell runs again.
func (s *store) get(c Cell) (results.Cell, bool) {
	one, err := results.ReadSummary(s.path(cellsFolder, c))
	if err != nil || len(one.Cells) != 1 {
		return results.Cell{}, false
	}
	cell := one.Cells[0]
	ok := cell.Policy == c.Policy.Label && cell.LoadQPS == c.LoadQPS && cell.Seed == c.Seed
	if ok && s.runner.Profiled(c) {
		_, err := s.profile(c)
		ok = err == nil
	}
	if ok && s.requests {
		ok = results.CheckRequests(s.requestsPath(c), &cell) == nil
	}
	return cell, ok
}

// Profiled says whether the profile of a cell is kept: that of one seed for
// each policy and load, which bounds the size of what the report reads.
func (r *Runner) Profiled(c Cell) bool { return c.Seed == r.Study.Seeds[0] }

// profile returns a stored profile, for the objectives of the study. One that
// was stored for others does not tell what it should.
func (s *store) profile(c Cell) (results.CellProfile, error) {
	path := s.path(profilesFolder, c)
	stored, err := results.ReadProfiles(path)
	if err != nil {
		return results.CellProfile{}, err
	}
	if len(stored) != 1 || stored[0].Policy != c.Policy.Label || stored[0].LoadQPS != c.LoadQPS || stored[0].Seed != c.Seed {
		return results.CellProfile{}, fmt.Errorf("%s: not the profile of its cell", path)
	}
	p := stored[0]
	var within []results.Within
	for _, slo := range s.runner.Study.Measure.SLOs {
		i := slices.IndexFunc(p.Within, func(w results.Within) bool { return w.SLO == slo })
		if i < 0 {
			return results.CellProfile{}, fmt.Errorf("%s: without the objective of %v s", path, slo)
		}
		within = append(within, p.Within[i])
	}
	p.Within = within
	return p, nil
}

// profiles returns all profiles of the study, in the order of Cell.
func (s *store) profiles() ([]results.CellProfile, error) {
	var all []results.CellProfile
	for i := range s.runner.Cells() {
		c := s.runner.Cell(i)
		if !s.runner.Profiled(c) {
			continue
		}
		p, err := s.profile(c)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// Write puts the files of a whole run into the folder.
func (r *Runner) Write(dir string, b Build, s *results.Summary) error {
	store, err := r.store(dir, b.Code)
	if err != nil {
		return err
	}
	profiles, err := store.profiles()
	if err != nil {
		return err
	}
	return r.write(dir, b, s, profiles)
}

// write writes them for these cells and profiles.
func (r *Runner) write(dir string, b Build, s *results.Summary, profiles []results.CellProfile) error {
	assumptions, err := r.Study.Assumptions()
	if err != nil {
		return err
	}
	study, err := r.Resolved()
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
	if err := results.WriteProfiles(filepath.Join(dir, profilesFile), profiles); err != nil {
		return err
	}
	simulated, err := r.simulated()
	if err != nil {
		return err
	}
	m := &results.Manifest{
		Study: r.Study.Name, Description: r.Study.Description, Preset: r.Study.Fleet.Preset, Simulated: simulated, Policies: r.Rules(), Version: b.Version, Commit: b.Commit, Go: b.Go,
		Seeds: r.Study.Seeds, Inputs: append([]results.FileSum{}, r.inputs...),
		Assumptions: assumptions, Warnings: append([]string{}, r.Notices...),
	}
	report := results.Report{Manifest: *m, Study: string(study), Summary: *s, Profiles: profiles}
	if err := results.WriteReport(filepath.Join(dir, reportFile), &report); err != nil {
		return err
	}
	files := []string{studyFile, parquetFile, summaryFile, profilesFile}
	if _, err := os.Stat(filepath.Join(dir, requestsFile)); err == nil {
		files = append(files, requestsFile)
	}
	return results.WriteManifest(dir, m, files...)
}
