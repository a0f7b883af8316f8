package main

import (
	"io"
	"os"
	"slices"

	"golang.org/x/term"

	"cacheroute/results"
	"cacheroute/scenarios"
)

// terminal returns the file if w is a terminal that moves its cursor.
func terminal(w io.Writer) (f *os.File, ok bool) {
	f, ok = w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// columns is the width of a terminal.
func columns(w io.Writer) int {
	if f, ok := terminal(w); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 80
}

// style says how to print tables to standard output. In auto there is colour on
// a terminal, unless NO_COLOR (no-color.org) asks for none.
func (a *app) style() results.Style {
	if a.color != "auto" {
		return results.Style{Color: a.color == "always"}
	}
	_, ok := terminal(a.stdout)
	return results.Style{Color: ok && os.Getenv("NO_COLOR") == ""}
}

// checkColor refuses another value of --color.
func (a *app) checkColor() error {
	if slices.Contains([]string{"auto", "always", "never"}, a.color) {
		return nil
	}
	return scenarios.Badf("--color %s: wanted auto, always or never", a.color)
}
