package sweep

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"cacheroute/scenarios"
)

// Submission says how an engine runs the shards of a plan. It is kept in
// submit.json, so that a resumed sweep is divided as before.
type Submission struct {
	Engine string   `json:"engine"`
	Shards int      `json:"shards"`
	CPUs   int      `json:"cpus"`              // of a shard
	Memory string   `json:"memory"`            // of a shard, as the engine writes it; empty: what it gives
	AtMost int      `json:"at_most,omitempty"` // shards at a time; 0: as the engine likes
	Args   []string `json:"args,omitempty"`    // to the command of the engine

	RetryFailed bool `json:"-"` // run the cells again that have failed

	Image string `json:"image,omitempty"` // Kubernetes: holds cacheroute
	Claim string `json:"claim,omitempty"` // Kubernetes: of the volume that is mounted at Mount
	Mount string `json:"mount,omitempty"`
}

// engine starts shards elsewhere.
type engine struct {
	// script is what is submitted.
	script string
	// values completes what the script is made of and refuses what the engine
	// does not take.
	values func(*job) error
	// command submits the script, read from standard input.
	command []string
}

//go:embed slurm.sh
var slurmScript string

//go:embed kubernetes.yaml
var kubernetesScript string

// Engines by name. The empty one is this machine.
var engines = map[string]engine{
	"local":      {},
	"slurm":      {slurmScript, slurmValues, []string{"sbatch", "--parsable"}},
	"kubernetes": {kubernetesScript, kubernetesValues, []string{"kubectl", "create", "--output=name", "--filename=-"}},
}

// Engines are the names of all engines.
func Engines() []string { return slices.Sorted(maps.Keys(engines)) }

// job is what scripts are made of.
type job struct {
	Submission
	Name    string // of the study, as a DNS label
	Program string // absolute path
	Plan    string // absolute path
	Logs    string
	List    string // the shards to run
	Count   int    // how many they are
	inputs  []string
}

// defaultShards of an engine that is not this machine: enough for many nodes,
// few enough for any site.
const defaultShards = 100

// Prepare completes a submission and returns it with the shards to run: those
// that lack a cell.
func (s Submission) Prepare(dir string) (Submission, *Plan, []int, error) {
	e, ok := engines[s.Engine]
	if !ok {
		return s, nil, nil, scenarios.Badf("--engine %s: wanted one of %s", s.Engine, strings.Join(Engines(), ", "))
	}
	p, err := Open(dir)
	if err != nil {
		return s, nil, nil, err
	}
	switch {
	case s.Shards < 0 || s.Shards > maxShards || s.CPUs < 0 || s.AtMost < 0:
		return s, nil, nil, scenarios.Badf("--shards %d, --cpus %d, --at-most %d: wanted at least 0 and at most %d shards", s.Shards, s.CPUs, s.AtMost, maxShards)
	case s.Shards == 0 && e.script == "":
		s.Shards = 1
	case s.Shards == 0:
		s.Shards = min(defaultShards, p.Cells)
	}
	if e.script != "" {
		s.CPUs = max(1, s.CPUs)
	}
	ids, err := p.ids()
	if err != nil {
		return s, nil, nil, err
	}
	have, err := p.find(ids, Shard{0, 1}, true)
	if err != nil {
		return s, nil, nil, err
	}
	return s, p, have.missingShards(ids, s.Shards, s.RetryFailed), nil
}

// Script is what Submit gives to the engine.
func (s Submission) Script(p *Plan, shards []int) (string, error) {
	e := engines[s.Engine]
	if e.script == "" {
		return "", scenarios.Badf("--engine %s: runs the shards itself and has no script", s.Engine)
	}
	program, err1 := os.Executable()
	plan, err2 := filepath.Abs(p.dir)
	if err := errors.Join(err1, err2); err != nil {
		return "", err
	}
	j := &job{Submission: s, Name: label(p.Study), Program: program, Plan: plan, Logs: filepath.Join(plan, logsFolder), List: list(shards), Count: len(shards)}
	for _, in := range p.Inputs {
		j.inputs = append(j.inputs, in.Name)
	}
	if j.Memory != "" && !memory.MatchString(j.Memory) {
		return "", scenarios.Badf("--memory %s: wanted a number and a unit, such as 4G for Slurm and 4Gi for Kubernetes", j.Memory)
	}
	for _, path := range []string{program, plan} {
		if i := strings.IndexFunc(path, special); i >= 0 {
			return "", scenarios.Badf("%s: read %q, wanted a path of letters, digits and /._+-=@,: that every shell and engine takes", path, path[i:i+1])
		}
	}
	if err := e.values(j); err != nil {
		return "", err
	}
	t, err := template.New("").Funcs(template.FuncMap{"quote": quote}).Parse(e.script)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = t.Execute(&b, j)
	return b.String(), err
}

var memory = regexp.MustCompile(`^[0-9]+[A-Za-z]*$`)

// special tells the characters of a path that some shell or engine changes.
func special(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._+-=@,:", r))
}

// quote writes a JSON string, which YAML reads too.
func quote(s string) (string, error) {
	text, err := json.Marshal(s)
	return string(text), err
}

// label makes a DNS label of a name, with room for a suffix.
func label(name string) string {
	const most = 40
	s := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	return strings.Trim(s[:min(most, len(s))], "-")
}

// Submit gives the shards to the engine and returns what it calls them.
func (s Submission) Submit(ctx context.Context, p *Plan, shards []int, stderr io.Writer) (string, error) {
	script, err := s.Script(p, shards)
	if err != nil {
		return "", err
	}
	if err := writeJSON(filepath.Join(p.dir, submitFile), s); err != nil {
		return "", err
	}
	command := append(slices.Clone(engines[s.Engine].command), s.Args...)
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Stdin, c.Stderr = strings.NewReader(script), stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w; nothing was submitted (sites limit the size and the number of submitted jobs: fewer --shards may help)", strings.Join(command, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Submitted is the last submission of a plan; ok is false if there was none.
func Submitted(dir string) (s Submission, ok bool, err error) {
	path := filepath.Join(dir, submitFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return s, false, scenarios.Badf("%s: %v, wanted it as submit wrote it, or to be absent", path, err)
	}
	return s, true, nil
}
