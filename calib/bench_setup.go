package calib

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Setup is what a bench ran. Rows of one setup share their costs.
type Setup struct {
	Model          string `json:"model"`
	Engine         string `json:"engine"`
	EngineVersion  string `json:"engine_version"`
	GPU            string `json:"gpu"`
	TensorParallel int    `json:"tensor_parallel"` // 0: not said
	Precision      string `json:"precision"`
}

// setupColumns are the names of the fields of a Setup.
var setupColumns = []string{"model", "engine", "engine_version", "gpu", "tensor_parallel", "precision"}

// ParseSetup reads "column=value,column=value".
func ParseSetup(text string) (Setup, error) {
	var s Setup
	for _, part := range strings.Split(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		if !ok || value == "" || !slices.Contains(setupColumns, name) {
			return s, fmt.Errorf("read %s, wanted column=value with a column of %s", cut(part), strings.Join(setupColumns, ", "))
		}
		if err := s.set(name, value); err != nil {
			return s, err
		}
	}
	return s, nil
}

// set fills one field.
func (s *Setup) set(column, value string) error {
	if column == "tensor_parallel" {
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > 1024 {
			return fmt.Errorf("tensor_parallel: read %s, wanted a whole number from 1 to 1024", cut(value))
		}
		s.TensorParallel = n
		return nil
	}
	*map[string]*string{"model": &s.Model, "engine": &s.Engine, "engine_version": &s.EngineVersion, "gpu": &s.GPU, "precision": &s.Precision}[column] = value
	return nil
}

type setupField struct{ column, value string }

// fields lists the setup by column, empty where it does not say.
func (s Setup) fields() []setupField {
	tp := ""
	if s.TensorParallel > 0 {
		tp = strconv.Itoa(s.TensorParallel)
	}
	return []setupField{{"model", s.Model}, {"engine", s.Engine}, {"engine_version", s.EngineVersion}, {"gpu", s.GPU}, {"tensor_parallel", tp}, {"precision", s.Precision}}
}

// String names the setup for a heading.
func (s Setup) String() string {
	tp := ""
	if s.TensorParallel > 0 {
		tp = fmt.Sprintf("TP%d", s.TensorParallel)
	}
	var parts []string
	for _, p := range []string{s.Model, s.Precision, s.GPU, tp, strings.TrimSpace(s.Engine + " " + s.EngineVersion)} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if parts == nil {
		return "unnamed engine"
	}
	return strings.Join(parts, ", ")
}

// modelName is a model without the organisation that publishes it.
func modelName(model string) string { return model[strings.LastIndexByte(model, '/')+1:] }

// fits tells whether the setup has every field that want gives, case and a
// model's organisation aside.
func (s Setup) fits(want Setup) bool {
	same := func(have, want string) bool { return want == "" || strings.EqualFold(have, want) }
	return same(modelName(s.Model), modelName(want.Model)) && same(s.Engine, want.Engine) && same(s.EngineVersion, want.EngineVersion) &&
		same(s.GPU, want.GPU) && same(s.Precision, want.Precision) && (want.TensorParallel == 0 || s.TensorParallel == want.TensorParallel)
}

// Setup is what the row ran on.
func (r *BenchRow) Setup() Setup {
	return Setup{r.Model, r.Engine, r.EngineVersion, r.GPU, r.TensorParallel, r.Precision}
}

// describe fills in what the row does not say.
func (r *BenchRow) describe(d Setup) {
	for _, f := range []struct{ have, say *string }{
		{&r.Model, &d.Model}, {&r.Engine, &d.Engine}, {&r.EngineVersion, &d.EngineVersion}, {&r.GPU, &d.GPU}, {&r.Precision, &d.Precision},
	} {
		if *f.have == "" {
			*f.have = *f.say
		}
	}
	if r.TensorParallel == 0 {
		r.TensorParallel = d.TensorParallel
	}
}

// Group is the rows of one setup of a bench.
type Group struct {
	Setup Setup
	Bench
}

// Groups splits a bench by setup, in the order of the file, and keeps the
// setups that fit want. Without one that fits it is an error that lists what
// there is.
func (b *Bench) Groups(want Setup) ([]Group, error) {
	var all []Group
	for i := range b.Rows {
		setup := b.Rows[i].Setup()
		at := slices.IndexFunc(all, func(g Group) bool { return g.Setup == setup })
		if at < 0 {
			at = len(all)
			all = append(all, Group{Setup: setup, Bench: Bench{File: b.File, Format: b.Format, Notes: b.Notes}})
		}
		all[at].Rows = append(all[at].Rows, b.Rows[i])
	}
	if len(b.Steps) > 0 {
		all = append(all, Group{Setup: b.Ran, Bench: *b})
	}
	kept := slices.DeleteFunc(slices.Clone(all), func(g Group) bool { return !g.Setup.fits(want) })
	if len(kept) == 0 {
		var there []string
		for _, g := range all {
			there = append(there, g.Setup.String())
		}
		return nil, badBench("%s: nothing fits %s, wanted one of: %s", b.File, want, strings.Join(there, "; "))
	}
	return kept, nil
}
