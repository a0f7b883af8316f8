package results

import (
	"encoding/json"
	"math"
)

// Float is a figure that may be infinite (a p99 of which a failed request is
// part) or undefined (the mean of nothing). In JSON both are null. In Parquet
// it is a plain DOUBLE: +Inf is infinite, NaN undefined.
type Float float64

var (
	infinite  = Float(math.Inf(1))
	undefined = Float(math.NaN())
)

// Finite reports whether f is a number.
func (f Float) Finite() bool { return !math.IsNaN(float64(f)) && !math.IsInf(float64(f), 0) }

// MarshalJSON writes null for what JSON cannot say.
func (f Float) MarshalJSON() ([]byte, error) {
	if !f.Finite() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

// UnmarshalJSON reads null as undefined; ReadSummary restores the infinite.
func (f *Float) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*f = undefined
		return nil
	}
	return json.Unmarshal(b, (*float64)(f))
}

// ratio is a/b, undefined where b is 0.
func ratio(a, b int64) Float {
	if b == 0 {
		return undefined
	}
	return Float(float64(a) / float64(b))
}
