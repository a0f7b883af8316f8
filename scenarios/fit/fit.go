// Package fit searches the numbers of a study that nobody published for those
// under which the simulated ladder comes nearest to a published table. What it
// finds is a hypothesis about somebody's harness, never a measurement.
package fit

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"cacheroute/scenarios"
)

//go:embed *.yaml
var shipped embed.FS

// Table1 is the name of the shipped spec: the paper's Table 1.
const Table1 = "table-1"

// Spec says what is searched, between which bounds, against which numbers and
// for how long. Equal specs give equal results, to the byte, on one kind of
// machine.
type Spec struct {
	// Study is the shipped scenario whose numbers are searched, or a file, from the
	// spec's folder.
	Study string `yaml:"study"`
	// Set changes the study before the search.
	Set map[string]any `yaml:"set"`
	// Parameters are the coordinates of the search.
	Parameters []Parameter `yaml:"parameters"`
	// Targets is the published table.
	Targets Targets `yaml:"targets"`
	// Starts are the named points from which a search starts, hypotheses about
	// what the harness was like.
	Starts []Start `yaml:"starts"`
	// RandomStarts adds that many drawn between the bounds.
	RandomStarts int `yaml:"random_starts"`
	// Stages follow each other, each with more of the table than the one before.
	Stages []Stage `yaml:"stages"`
	// Population is the number of points of a generation.
	Population int `yaml:"population"`
	// Seed draws starts and points.
	Seed uint64 `yaml:"seed"`

	hash string // of the file
}

// Start is a named point; a parameter that it leaves out is in the middle of
// its bounds.
type Start struct {
	Name string         `yaml:"name"`
	At   map[string]any `yaml:"at"`
}

// Stage is a part of the search with its own price of a point.
type Stage struct {
	// Seeds and LoadsQPS are what of the study is simulated.
	Seeds    []uint64  `yaml:"seeds"`
	LoadsQPS []float64 `yaml:"loads_qps"`
	// Generations is how many.
	Generations int `yaml:"generations"`
	// Step is the first standard deviation in units of the bounds.
	Step float64 `yaml:"step"`
	// Keep is how many of the best starts take part; 0: all.
	Keep int `yaml:"keep"`
}

// Load reads the shipped spec of that name, else the file at that path.
func Load(nameOrPath string) (*Spec, error) {
	s := &Spec{}
	data, err := shipped.ReadFile(nameOrPath + ".yaml")
	ours := err == nil
	if !ours {
		if data, err = os.ReadFile(nameOrPath); err != nil {
			return nil, scenarios.Badf("%v, wanted a spec of a fit or table-1", err)
		}
	}
	if err := scenarios.Decode(nameOrPath, data, s); err != nil {
		return nil, err
	}
	if !ours && filepath.Ext(s.Study) != "" && !filepath.IsAbs(s.Study) {
		s.Study = filepath.Join(filepath.Dir(nameOrPath), s.Study)
	}
	if err := s.check(); err != nil {
		return nil, scenarios.Badf("%s: %v", nameOrPath, err)
	}
	sum := sha256.Sum256(data)
	s.hash = hex.EncodeToString(sum[:])
	return s, nil
}

func (s *Spec) check() error {
	switch {
	case s.Study == "":
		return fmt.Errorf("study: missing, wanted a scenario or a file")
	case len(s.Parameters) < 2:
		return fmt.Errorf("parameters: read %d, wanted two or more", len(s.Parameters))
	case s.Population < 4 || s.Population > 10_000:
		return fmt.Errorf("population: read %d, wanted 4 to 10000", s.Population)
	case len(s.Stages) == 0:
		return fmt.Errorf("stages: missing")
	case s.RandomStarts < 0 || len(s.Starts)+s.RandomStarts == 0 || s.RandomStarts > 1000:
		return fmt.Errorf("starts: wanted one at least, named or random")
	}
	paths := map[string]bool{}
	for i := range s.Parameters {
		if err := s.Parameters[i].check(); err != nil {
			return fmt.Errorf("parameters.%d: %v", i, err)
		}
		for _, path := range append([]string{s.Parameters[i].Path}, s.Parameters[i].Also...) {
			if _, given := s.Set[path]; given || paths[path] {
				return fmt.Errorf("parameters.%d: %s is set twice", i, path)
			}
			paths[path] = true
		}
	}
	for i, g := range s.Stages {
		if len(g.Seeds) == 0 || len(g.LoadsQPS) < 2 || !rising(g.LoadsQPS) {
			return fmt.Errorf("stages.%d: wanted seeds and two or more rising loads_qps", i)
		}
		if seeds := slices.Sorted(slices.Values(g.Seeds)); len(slices.Compact(seeds)) < len(g.Seeds) {
			return fmt.Errorf("stages.%d.seeds: %v has one twice", i, g.Seeds)
		}
		if !slices.Contains(g.LoadsQPS, s.Targets.AtQPS) {
			return fmt.Errorf("stages.%d.loads_qps: without %v, at which the targets are", i, s.Targets.AtQPS)
		}
		if g.Generations < 1 || !(g.Step > 0 && g.Step <= 1) || g.Keep < 0 {
			return fmt.Errorf("stages.%d: wanted generations from 1, step in (0, 1] and keep from 0", i)
		}
	}
	if err := s.Targets.check(); err != nil {
		return fmt.Errorf("targets: %v", err)
	}
	names := map[string]bool{}
	for i := range s.RandomStarts {
		names[randomStart(i)] = true
	}
	for i := range s.Starts {
		if names[s.Starts[i].Name] {
			return fmt.Errorf("starts.%d: another start has the name %q", i, s.Starts[i].Name)
		}
		names[s.Starts[i].Name] = true
		if _, err := s.point(s.Starts[i].At); err != nil {
			return fmt.Errorf("starts.%d: %v", i, err)
		}
	}
	return nil
}

// point is a start in the coordinates of the search.
func (s *Spec) point(at map[string]any) ([]float64, error) {
	u := make([]float64, len(s.Parameters))
	seen := 0
	for i := range s.Parameters {
		p := &s.Parameters[i]
		u[i] = 0.5
		if v, ok := at[p.Path]; ok {
			seen++
			var err error
			if u[i], err = p.coordinate(v); err != nil {
				return nil, err
			}
		}
	}
	if seen < len(at) {
		return nil, fmt.Errorf("at: names a field that is no parameter")
	}
	return u, nil
}

// base identifies the study that the search begins with and its input files.
func (s *Spec) base() ([]byte, error) {
	study, err := scenarios.Load(s.Study, scenarios.Options{Set: s.given()})
	if err != nil {
		return nil, err
	}
	r, err := scenarios.Prepare(study, nil)
	if err != nil {
		return nil, err
	}
	files, err := r.Identity("")
	if err != nil {
		return nil, err
	}
	text, err := study.YAML()
	return append(files, text...), err
}

// given are the overrides that the search leaves alone.
func (s *Spec) given() (all []scenarios.Override) {
	for _, path := range slices.Sorted(maps.Keys(s.Set)) {
		v := fmt.Sprint(s.Set[path])
		all = append(all, scenarios.Override{Path: path, Value: v, Source: fmt.Sprintf("set %s=%s", path, v)})
	}
	return all
}

// settings are the overrides that make the study of a point.
func (s *Spec) settings(u []float64) []scenarios.Override {
	all := s.given()
	for i := range s.Parameters {
		p := &s.Parameters[i]
		v := p.value(u[i])
		for _, path := range append([]string{p.Path}, p.Also...) {
			all = append(all, scenarios.Override{Path: path, Value: v, Source: fmt.Sprintf("fit %s=%s", path, v)})
		}
	}
	return all
}
