// Package sweep runs the cells of a study on several machines. A plan is a
// folder that they share: what to run, and the results, which say by themselves
// what is done. An engine (this machine, Slurm, Kubernetes) only starts shards;
// it is never asked what happened, and nothing that it does, such as running a
// shard twice, changes a byte of what is collected.
package sweep

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"cacheroute/calib"
	"cacheroute/results"
	"cacheroute/scenarios"
)

// The files of a plan, plan.json last: a folder with one is whole.
const (
	planFile       = "plan.json"
	cellsFile      = "cells.jsonl"
	submitFile     = "submit.json"
	studiesFolder  = "studies"
	segmentsFolder = "segments"
	requestsFolder = "requests"
	logsFolder     = "logs"
)

// format is the version of these files.
const format = 2

// Plan is plan.json.
type Plan struct {
	Format  int    `json:"format"`
	Study   string `json:"study"` // its name
	Version string `json:"version"`
	Commit  string `json:"commit"`
	// Code is what made the plan; no other code may run or collect it.
	Code     string            `json:"code"`
	Cells    int               `json:"cells"`
	Requests bool              `json:"requests"`     // of the cells are kept
	SHA256   string            `json:"cells_sha256"` // of cells.jsonl
	Inputs   []results.FileSum `json:"inputs"`
	Variants []PlanVariant     `json:"variants"`

	dir string
}

// PlanVariant is one study of a plan. Its cells follow those of the one before.
type PlanVariant struct {
	Label  string                `json:"label"` // also its folder below that of the results; empty for an only one
	Values []scenarios.AxisValue `json:"values,omitempty"`
	File   string                `json:"file"` // the study with every default, below the plan
	SHA256 string                `json:"sha256"`
	Cells  int                   `json:"cells"`
}

// plannedCell is a line of cells.jsonl. The identity comes first and has a fixed
// length.
type plannedCell struct {
	ID      string  `json:"id"`
	Variant int     `json:"variant"`
	Policy  string  `json:"policy"`
	LoadQPS float64 `json:"load_qps"`
	Seed    uint64  `json:"seed"`
}

// MakeOptions say how to plan.
type MakeOptions struct {
	Name     string // of the study
	Requests bool   // keep a row a request
	Build    scenarios.Build
}

// Make writes the plan of the variants into the folder dir. Results that are
// there are kept, and count where the identity of their cell is still planned.
func Make(dir string, variants []scenarios.Variant, o MakeOptions) (*Plan, error) {
	if err := distinct(variants); err != nil {
		return nil, err
	}
	if err := makeReady(dir); err != nil {
		return nil, err
	}
	p := &Plan{Format: format, Study: o.Name, Version: o.Build.Version, Commit: o.Build.Commit, Code: o.Build.Code, Requests: o.Requests, Inputs: []results.FileSum{}, dir: dir}
	sum := sha256.New()
	err := results.WriteFileAtomic(filepath.Join(dir, cellsFile), func(w io.Writer) error {
		for i := range variants {
			if err := p.add(i, variants[i], io.MultiWriter(w, sum)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	p.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return p, writeJSON(filepath.Join(dir, planFile), p)
}

// distinct wants a label for each of several variants that can name a folder.
func distinct(variants []scenarios.Variant) error {
	seen := map[string]bool{}
	for _, v := range variants {
		if len(variants) > 1 && (!filepath.IsLocal(v.Label) || seen[filepath.Clean(v.Label)]) {
			return scenarios.Badf("variant %q: wanted a label of its own that can name a folder", v.Label)
		}
		seen[filepath.Clean(v.Label)] = true
	}
	return nil
}

// makeReady makes the folder ready for a plan; another one in it loses its
// plan.json, so that no half-written plan runs.
func makeReady(dir string) error {
	own := filepath.Join(dir, planFile)
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		_, noResults := os.Stat(filepath.Join(dir, segmentsFolder))
		if _, noPlan := os.Stat(own); noResults != nil && noPlan != nil {
			return scenarios.Badf("%s: holds files and no plan, wanted another --out", dir)
		}
	}
	for _, folder := range []string{studiesFolder, segmentsFolder, requestsFolder, logsFolder} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o777); err != nil {
			return scenarios.Badf("%s: cannot hold a plan: %v", dir, err)
		}
	}
	if err := os.Remove(own); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// add writes one variant: its study, and a line a cell.
func (p *Plan) add(i int, v scenarios.Variant, lines io.Writer) error {
	if preset := v.Study.Fleet.Preset; calib.IsFile(preset) {
		abs, err := filepath.Abs(preset)
		if err != nil {
			return err
		}
		v.Study.Fleet.Preset = abs
	}
	runner, err := scenarios.Prepare(v.Study, nil)
	if err != nil {
		return err
	}
	study, err := runner.Resolved()
	if err != nil {
		return err
	}
	out := PlanVariant{Label: v.Label, Values: v.Values, File: filepath.Join(studiesFolder, fmt.Sprintf("%04d.yaml", i)), SHA256: sumOfText(study), Cells: runner.Cells()}
	err = results.WriteFileAtomic(filepath.Join(p.dir, out.File), func(w io.Writer) error {
		_, err := w.Write(study)
		return err
	})
	if err != nil {
		return err
	}
	if runner, err = p.open(&out); err != nil { // as every shard will read it
		return err
	}
	id, err := runner.Identify(p.Code)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(lines)
	for n := range runner.Cells() {
		c := runner.Cell(n)
		if err := encoder.Encode(plannedCell{id(n), i, c.Policy.Label, c.LoadQPS, c.Seed}); err != nil {
			return err
		}
	}
	p.Variants = append(p.Variants, out)
	p.Cells += out.Cells
	p.addInputs(runner.Inputs())
	return nil
}

// addInputs adds the files that no variant before has read.
func (p *Plan) addInputs(inputs []results.FileSum) {
next:
	for _, in := range inputs {
		for _, have := range p.Inputs {
			if have.Name == in.Name {
				continue next
			}
		}
		p.Inputs = append(p.Inputs, in)
	}
}

// open reads the study of a variant and what it names.
func (p *Plan) open(v *PlanVariant) (*scenarios.Runner, error) {
	study, err := scenarios.Load(filepath.Join(p.dir, v.File), scenarios.Options{})
	if err != nil {
		return nil, err
	}
	return scenarios.Prepare(study, nil)
}

// reopen opens a variant as it was planned. An input that was there then and is
// not now may come back, so its absence is no bad input.
func (p *Plan) reopen(v *PlanVariant) (*scenarios.Runner, error) {
	for _, in := range p.Inputs {
		f, err := os.Open(in.Name)
		if err != nil {
			return nil, err
		}
		f.Close()
	}
	runner, err := p.open(v)
	if err != nil {
		return nil, err
	}
	return runner, p.sameInputs(runner)
}

// Open reads a plan whose studies are as they were planned.
func Open(dir string) (*Plan, error) {
	path := filepath.Join(dir, planFile)
	text, err := readPlanned(path)
	if err != nil {
		return nil, err
	}
	p := &Plan{dir: dir}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, scenarios.Badf("%s: %v, wanted a plan as it was written: plan again, the results are kept", path, err)
	}
	if p.Format != format {
		return nil, scenarios.Badf("%s: format %d, wanted %d: plan again, the results are kept", path, p.Format, format)
	}
	planned := 0
	for _, v := range p.Variants {
		if v.Cells < 1 || !filepath.IsLocal(v.File) {
			return nil, scenarios.Badf("%s: variant %q with %d cells of the study %q, wanted at least one of a study in the plan: plan again, the results are kept", path, v.Label, v.Cells, v.File)
		}
		planned += v.Cells
	}
	if planned != p.Cells || planned == 0 {
		return nil, scenarios.Badf("%s: %d cells in its variants, wanted %d, and at least 1: plan again, the results are kept", path, planned, p.Cells)
	}
	return p, p.sameStudies()
}

// sameStudies refuses studies that are not as they were planned.
func (p *Plan) sameStudies() error {
	for i := range p.Variants {
		v := &p.Variants[i]
		text, err := readPlanned(filepath.Join(p.dir, v.File))
		if err != nil {
			return err
		}
		if sumOfText(text) != v.SHA256 {
			return p.changed(v)
		}
	}
	return nil
}

// readPlanned reads a file that every plan has.
func readPlanned(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, notPlanned(path)
	}
	return text, err
}

// notPlanned says that a file that every plan has is not there.
func notPlanned(path string) error {
	return scenarios.Badf("%s: not there, wanted a folder as cacheroute sweep plan writes it", path)
}

func sumOfText(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// sameCode refuses a plan of another program.
func (p *Plan) sameCode(b scenarios.Build) error {
	if p.Code == b.Code {
		return nil
	}
	return scenarios.Badf("%s: made by cacheroute %s, code %.12s, and this is %s, code %.12s: use that program, or plan again with this one (then every cell runs again)",
		filepath.Join(p.dir, planFile), p.Version, p.Code, b.Version, b.Code)
}

// segment is where a process writes the results of a shard.
func (p *Plan) segment(s Shard) *segment {
	return &segment{dir: filepath.Join(p.dir, segmentsFolder), name: p.segmentName(s)}
}

// requestsPath is where the requests of a cell are, if they are kept.
func (p *Plan) requestsPath(cell id) string {
	return filepath.Join(p.dir, requestsFolder, string(cell[:])+".parquet")
}

// id is the identity of a cell as text of a fixed length.
type id [32]byte

// idStart and idEnd are where a line of cells.jsonl has it.
const (
	idStart = len(`{"id":"`)
	idEnd   = idStart + len(id{})
)

// ids returns the identities of all cells in order, or an error if the list is
// not the one that was planned.
func (p *Plan) ids() ([]id, error) {
	path := filepath.Join(p.dir, cellsFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notPlanned(path)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	lines := bufio.NewScanner(io.TeeReader(f, sum))
	var all []id
	for lines.Scan() {
		if line := lines.Bytes(); len(line) > idEnd {
			all = append(all, id(line[idStart:idEnd]))
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(all) != p.Cells || hex.EncodeToString(sum.Sum(nil)) != p.SHA256 {
		return nil, scenarios.Badf("%s: not as it was planned (%d cells read, wanted %d): plan again, the results are kept", path, len(all), p.Cells)
	}
	return all, nil
}

// each visits the cells of the plan by their line.
func (p *Plan) each(visit func(i int, c *plannedCell) error) error {
	text, err := os.ReadFile(filepath.Join(p.dir, cellsFile))
	if err != nil {
		return err
	}
	i := 0
	for line := range bytes.Lines(text) {
		var c plannedCell
		if err := json.Unmarshal(line, &c); err != nil {
			return err
		}
		if err := visit(i, &c); err != nil {
			return err
		}
		i++
	}
	return nil
}

func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return results.WriteFileAtomic(path, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s\n", text)
		return err
	})
}
