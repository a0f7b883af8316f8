package policies

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// oneOf refuses a value that is not among those a parameter allows.
func oneOf(param, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s: unknown value %q, allowed: %s", param, value, strings.Join(allowed, ", "))
}

// within refuses a number outside lo..hi, NaN included.
func within(param string, value, lo, hi float64) error {
	if value >= lo && value <= hi {
		return nil
	}
	return fmt.Errorf("%s: must be between %g and %g, got %g", param, lo, hi, value)
}

// millionths is a load factor as an integer, so that comparisons with whole
// requests are exact: 1.1*300/30 must be 11, not a little more.
func millionths(factor float64) int64 { return int64(math.Round(factor * million)) }

const million = 1_000_000
