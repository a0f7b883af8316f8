package workload

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"

	"cacheroute/workload/lines"
)

// EmpiricalLength draws from recorded lengths: those of a file with one length
// a line, or a list of values, by default all alike, else with weights.
type EmpiricalLength struct {
	Name string `yaml:"name"`
	// File is a text file with one length in tokens a line; it or values.
	File string `yaml:"file,omitempty" jsonschema:"minLength=1"`
	// Values are lengths in tokens.
	Values []int `yaml:"values,omitempty" jsonschema:"minItems=1,minimum=1,maximum=67108864"`
	// Weights of the values, as many; not given: all alike.
	Weights []float64 `yaml:"weights,omitempty" jsonschema:"exclusiveMinimum=0,maximum=1e100"`
}

// About implements LengthDist.
func (e *EmpiricalLength) About() string {
	return "recorded lengths: file (one length a line) or values, weights"
}

func (e *EmpiricalLength) file() *string { return &e.File }

// Check implements LengthDist.
func (e *EmpiricalLength) Check() error {
	if (e.File == "") == (len(e.Values) == 0) {
		return errors.New("file: give either a file or values")
	}
	if e.Weights != nil && len(e.Weights) != len(e.Values) {
		return fmt.Errorf("weights: must be as many as values = %d, got %d", len(e.Values), len(e.Weights))
	}
	for _, v := range e.Values {
		if err := checkTokens("values", v, 1); err != nil {
			return err
		}
	}
	for _, w := range e.Weights {
		if !(w > 0 && w <= 1e100) {
			return fmt.Errorf("weights: must be above 0 and finite, got %v", w)
		}
	}
	return nil
}

// Build implements LengthDist.
func (e *EmpiricalLength) Build() (Lengther, error) {
	values := make([]int32, len(e.Values))
	for i, v := range e.Values {
		values[i] = int32(v)
	}
	if e.File != "" {
		var err error
		if values, err = readLengths(e.File); err != nil {
			return nil, err
		}
	}
	b := &empirical{values: values}
	var sum, weights float64
	for i, v := range values {
		w := 1.0
		if e.Weights != nil {
			w = e.Weights[i]
		}
		sum += float64(w * float64(v))
		weights += w
	}
	b.mean = sum / weights
	if e.Weights != nil {
		b.pick = newAlias(e.Weights)
	}
	return b, nil
}

type empirical struct {
	values []int32
	pick   alias // nil: all values alike
	mean   float64
}

func (e *empirical) Draw(rng *rand.Rand) int32 {
	if e.pick != nil {
		return e.values[e.pick.draw(rng)]
	}
	return e.values[rng.IntN(len(e.values))]
}

func (e *empirical) Mean() float64 { return e.mean }

func readLengths(path string) ([]int32, error) {
	var values []int32
	err := lines.Each(path, func(line []byte) error {
		n, err := strconv.Atoi(string(line))
		if err != nil || n < 1 || n > MaxTokens {
			return fmt.Errorf("read %s, wanted a whole number of tokens from 1 to %d", lines.Excerpt(line), MaxTokens)
		}
		values = append(values, int32(n))
		return nil
	})
	if err == nil && len(values) == 0 {
		err = fmt.Errorf("%s: no line read, wanted one length a line", path)
	}
	return values, err
}
