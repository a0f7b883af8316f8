package fit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Parameter is one coordinate of the search: a number of the study between two
// bounds, or a choice among words.
type Parameter struct {
	// Path is the field of the study, as --set takes it.
	Path string `yaml:"path"`
	// Also are fields that have the same value.
	Also []string `yaml:"also"`
	// From and To are the bounds.
	From float64 `yaml:"from"`
	To   float64 `yaml:"to"`
	// Scale is linear (default) or log.
	Scale string `yaml:"scale"`
	// Step rounds to its multiples; 0: to three significant digits.
	Step float64 `yaml:"step"`
	// Choices replace bounds.
	Choices []string `yaml:"choices"`
	// Why says where the bounds come from.
	Why string `yaml:"why"`
}

func (p *Parameter) check() error {
	switch {
	case p.Path == "":
		return fmt.Errorf("path: missing")
	case len(p.Choices) > 0 && (p.From != 0 || p.To != 0 || p.Scale != "" || p.Step != 0):
		return fmt.Errorf("%s: has choices and bounds, wanted one of them", p.Path)
	case len(p.Choices) == 1:
		return fmt.Errorf("%s: one choice, wanted two or more", p.Path)
	case len(p.Choices) > 0:
		return nil
	case !(p.From < p.To) || math.IsInf(p.From, 0) || math.IsInf(p.To, 0):
		return fmt.Errorf("%s: from %v to %v, wanted rising bounds", p.Path, p.From, p.To)
	case p.Scale != "" && p.Scale != "log" && p.Scale != "linear":
		return fmt.Errorf("%s: scale %q, wanted linear or log", p.Path, p.Scale)
	case p.Scale == "log" && !(p.From > 0):
		return fmt.Errorf("%s: from %v, wanted more than 0 on a log scale", p.Path, p.From)
	case !(p.Step >= 0 && p.Step < p.To-p.From):
		return fmt.Errorf("%s: step %v, wanted less than the bounds are apart", p.Path, p.Step)
	}
	return nil
}

// folded brings a coordinate into [0, 1], which the bounds span, by reflection:
// the search may step over a bound.
func folded(u float64) float64 {
	u = math.Mod(math.Abs(u), 2)
	return min(u, 2-u)
}

// value is the parameter at a coordinate, as YAML.
func (p *Parameter) value(u float64) string {
	u = folded(u)
	if n := len(p.Choices); n > 0 {
		return p.Choices[min(int(u*float64(n)), n-1)]
	}
	x := p.From + u*(p.To-p.From)
	if p.Scale == "log" {
		x = p.From * math.Pow(p.To/p.From, u)
	}
	if p.Step > 0 {
		x = min(max(math.Round(x/p.Step)*p.Step, p.From), p.To)
		return strconv.FormatFloat(x, 'g', 12, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// coordinate is where a value of the spec lies between the bounds.
func (p *Parameter) coordinate(v any) (float64, error) {
	if n := len(p.Choices); n > 0 {
		i := slices.Index(p.Choices, fmt.Sprint(v))
		if i < 0 {
			return 0, fmt.Errorf("%s: read %v, wanted one of %v", p.Path, v, p.Choices)
		}
		return (float64(i) + 0.5) / float64(n), nil
	}
	x, err := strconv.ParseFloat(fmt.Sprint(v), 64)
	if err != nil || !(x >= p.From && x <= p.To) {
		return 0, fmt.Errorf("%s: read %v, wanted a number between %v and %v", p.Path, v, p.From, p.To)
	}
	if p.Scale == "log" {
		return math.Log(x/p.From) / math.Log(p.To/p.From), nil
	}
	return (x - p.From) / (p.To - p.From), nil
}
