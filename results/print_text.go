package results

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable keeps text that a file brought from steering a terminal or turning
// the text around it: what cannot be printed becomes U+FFFD.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// width is the number of columns that a text takes.
func width(text string) int { return utf8.RuneCountInString(text) }

// pad sets text to the right of a column.
func pad(text string, columns int) string {
	return strings.Repeat(" ", max(0, columns-width(text))) + text
}

// padRight sets text to the left of a column.
func padRight(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-width(text)))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// seconds prints a latency to three digits or so.
func seconds(f Float) string {
	v := float64(f)
	switch {
	case math.IsNaN(v):
		return "-"
	case math.IsInf(v, 1):
		return "inf"
	case v < 9.995:
		return fmt.Sprintf("%.2f", v)
	case v < 99.95:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func percent(f Float) string {
	if !f.Finite() {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100*float64(f))
}

// short prints three digits, more before the point if there are more.
func short(v float64) string {
	if v >= 99.95 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
