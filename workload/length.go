package workload

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// MaxTokens bounds each length that a study or trace may give, so that sums of
// a few lengths fit in an int32.
const MaxTokens = 1 << 26

// Lengths is the table of length distributions, with the defaults of each.
var Lengths = map[string]func() LengthDist{
	"constant":  func() LengthDist { return &ConstantLength{Name: "constant"} },
	"lognormal": func() LengthDist { return &LognormalLength{Name: "lognormal"} },
	"uniform":   func() LengthDist { return &UniformLength{Name: "uniform"} },
	"empirical": func() LengthDist { return &EmpiricalLength{Name: "empirical"} },
}

// LengthDist is the parameters of one distribution of a number of tokens.
type LengthDist interface {
	// About is one line for a list.
	About() string
	// Check returns nil or an error that begins with the parameter's name and a
	// colon. It reads no file.
	Check() error
	// Build makes the sampler. The parameters have passed Check.
	Build() (Lengther, error)
}

// Lengther draws lengths. It is immutable.
type Lengther interface {
	Draw(rng *rand.Rand) int32
	Mean() float64 // of the distribution before clamping
}

// Length is a number of tokens with a distribution. In YAML it is a whole
// number or {name: <distribution>, <its parameters>}. The zero Length is 0.
type Length struct{ Dist LengthDist }

// Tokens is a constant length.
func Tokens(n int) Length { return Length{&ConstantLength{Name: "constant", Tokens: n}} }

// IsZero reports whether the length was not given.
func (l Length) IsZero() bool { return l.Dist == nil }

// Build makes the sampler of l, which has been checked.
func (l Length) Build() (Lengther, error) {
	if l.Dist == nil {
		return constant(0), nil
	}
	return l.Dist.Build()
}

// check checks the length called name, which may draw no length below least (0
// or 1). All distributions but the constant draw 1 or more.
func (l Length) check(name string, least int) error {
	d, constant := l.Dist.(*ConstantLength)
	if l.Dist == nil || constant && d.Check() == nil && d.Tokens < least {
		if least > 0 {
			return fmt.Errorf("%s: must be at least %d token", name, least)
		}
		return nil
	}
	if err := l.Dist.Check(); err != nil {
		return under(name, err)
	}
	return nil
}

// UnmarshalYAML decodes a plain number as a constant, and else the parameters
// of the named distribution.
func (l *Length) UnmarshalYAML(unmarshal func(any) error) error {
	var raw any
	if err := unmarshal(&raw); err != nil {
		return err
	}
	switch v := raw.(type) {
	case int:
		*l = Tokens(v)
		return nil
	case map[string]any:
		name, _ := v["name"].(string)
		build := Lengths[name]
		if build == nil {
			return fmt.Errorf("name: read %q, wanted one of %s", name, strings.Join(lengthNames(), ", "))
		}
		d := build()
		if err := unmarshal(d); err != nil {
			return err
		}
		l.Dist = d
		return nil
	}
	return errors.New("wanted a whole number of tokens or {name: ..., parameters}")
}

// MarshalYAML writes what UnmarshalYAML reads.
func (l Length) MarshalYAML() (any, error) {
	if l.Dist == nil {
		return 0, nil
	}
	if c, ok := l.Dist.(*ConstantLength); ok {
		return c.Tokens, nil
	}
	return l.Dist, nil
}

func lengthNames() []string {
	var names []string
	for name := range Lengths {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// ConstantLength is always the same length.
type ConstantLength struct {
	Name string `yaml:"name"`
	// Tokens is the length.
	Tokens int `yaml:"tokens" jsonschema:"minimum=0,maximum=67108864"`
}

// About implements LengthDist.
func (c *ConstantLength) About() string { return "always the same: tokens (or a plain number)" }

// Check implements LengthDist.
func (c *ConstantLength) Check() error { return checkTokens("tokens", c.Tokens, 0) }

// Build implements LengthDist.
func (c *ConstantLength) Build() (Lengther, error) { return constant(c.Tokens), nil }

type constant int32

func (c constant) Draw(*rand.Rand) int32 { return int32(c) }
func (c constant) Mean() float64         { return float64(c) }

// LognormalLength is lognormal with the given mean, rounded to whole tokens,
// then clamped: the mean is that of the distribution before clamping.
type LognormalLength struct {
	Name string `yaml:"name"`
	// Mean is the mean in tokens, before clamping.
	Mean float64 `yaml:"mean" jsonschema:"required,minimum=1,maximum=67108864"`
	// Sigma of the logarithm; 0: always the mean.
	Sigma float64 `yaml:"sigma" jsonschema:"minimum=0,maximum=10"`
	// Min is the least length in tokens, at which shorter ones are clamped; 0: 1.
	Min int `yaml:"min,omitempty" jsonschema:"minimum=0,maximum=67108864"`
	// Max is the greatest length in tokens, at which longer ones are clamped; 0:
	// no limit of its own.
	Max int `yaml:"max,omitempty" jsonschema:"minimum=0,maximum=67108864"`
}

// About implements LengthDist.
func (l *LognormalLength) About() string { return "lognormal: mean, sigma, min, max" }

// Check implements LengthDist.
func (l *LognormalLength) Check() error {
	if l.Max != 0 && l.Max < l.Min {
		return fmt.Errorf("max: must not be below min = %d, got %d", l.Min, l.Max)
	}
	return first(between("mean", l.Mean, 1, MaxTokens), between("sigma", l.Sigma, 0, 10),
		checkTokens("min", l.Min, 0), checkTokens("max", l.Max, 0))
}

// Build implements LengthDist.
func (l *LognormalLength) Build() (Lengther, error) {
	b := &lognormal{mean: l.Mean, sigma: l.Sigma, least: float64(max(1, l.Min)), most: MaxTokens}
	b.mu = math.Log(l.Mean) - float64(l.Sigma*l.Sigma)/2
	if l.Max != 0 {
		b.most = float64(l.Max)
	}
	return b, nil
}

type lognormal struct{ mu, sigma, least, most, mean float64 }

func (l *lognormal) Draw(rng *rand.Rand) int32 {
	x := math.Exp(l.mu + float64(l.sigma*rng.NormFloat64()))
	return int32(min(max(x, l.least), l.most) + 0.5)
}

func (l *lognormal) Mean() float64 { return l.mean }

// UniformLength is uniform over the whole numbers from min to max.
type UniformLength struct {
	Name string `yaml:"name"`
	// Min is the least length in tokens.
	Min int `yaml:"min" jsonschema:"required,minimum=1,maximum=67108864"`
	// Max is the greatest length in tokens, not below min.
	Max int `yaml:"max" jsonschema:"required,minimum=1,maximum=67108864"`
}

// About implements LengthDist.
func (u *UniformLength) About() string { return "uniform over whole numbers: min, max" }

// Check implements LengthDist.
func (u *UniformLength) Check() error {
	if u.Max < u.Min {
		return fmt.Errorf("max: must not be below min = %d, got %d", u.Min, u.Max)
	}
	return first(checkTokens("min", u.Min, 1), checkTokens("max", u.Max, 1))
}

// Build implements LengthDist.
func (u *UniformLength) Build() (Lengther, error) { return &uniform{*u}, nil }

type uniform struct{ UniformLength }

func (u *uniform) Draw(rng *rand.Rand) int32 {
	return int32(u.Min) + rng.Int32N(int32(u.Max-u.Min)+1)
}

func (u *uniform) Mean() float64 { return float64(u.Min+u.Max) / 2 }

func checkTokens(name string, n, least int) error {
	if n < least || n > MaxTokens {
		return fmt.Errorf("%s: must be between %d and %d tokens, got %d", name, least, MaxTokens, n)
	}
	return nil
}
