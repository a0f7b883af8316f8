package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cacheroute/scenarios"
)

// screen is what a terminal shows of an output: it knows the carriage return
// and the erasing of the rest of a line.
func screen(output string) []string {
	lines, column := []string{""}, 0
	for output != "" {
		last := len(lines) - 1
		switch {
		case strings.HasPrefix(output, "\x1b[K"):
			lines[last] = string([]rune(lines[last])[:column])
			output = output[len("\x1b[K"):]
			continue
		case output[0] == '\r':
			column = 0
		case output[0] == '\n':
			lines, column = append(lines, ""), 0
		default:
			r, _ := utf8.DecodeRuneInString(output)
			old := []rune(lines[last])
			lines[last] = string(append(append([]rune{}, old[:column]...), r)) + string(old[min(len(old), column+1):])
			column++
			output = output[utf8.RuneLen(r):]
			continue
		}
		output = output[1:]
	}
	return lines
}

func half() *scenarios.Tally {
	t := &scenarios.Tally{}
	t.Cells.Store(4)
	t.Done.Store(2)
	t.Expected.Store(2000)
	t.Requests.Store(1000)
	t.Current.Store(&scenarios.Cell{Policy: &scenarios.Policy{Label: "cacheroute"}, LoadQPS: 120})
	return t
}

// tallied is the bar of a sweep.
func tallied(t *scenarios.Tally, elapsed time.Duration, most int) string {
	return bar(t.Requests.Load(), t.Expected.Load(), status(t, elapsed), most)
}

// A sweep that is a part of a larger whole says which.
func TestStatusOfAPart(t *testing.T) {
	whole, part := half(), half()
	part.Part = "variant 2/6"
	if got, want := status(part, time.Second), "variant 2/6: "+status(whole, time.Second); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		most int
		want string
	}{
		{200, "50% ██████████░░░░░░░░░░  2/4 cells, 500 requests/s, 2 s left, cacheroute at 120/s"},
		{79, "50% ███░░░░  2/4 cells, 500 requests/s, 2 s left, cacheroute at 120/s"},
		{20, "50% ███░░░  2/4 cell"},
		{0, ""},
	} {
		if got := tallied(half(), 2*time.Second, c.most); got != c.want {
			t.Errorf("%d columns: %q, want %q", c.most, got, c.want)
		}
	}
	if got := tallied(&scenarios.Tally{}, time.Second, 79); !strings.HasPrefix(got, "0% ░░░░░░░  0/0 cells") {
		t.Errorf("nothing to do: %q", got)
	}
}

// A bar leaves nothing behind, and notes stand on lines of their own.
func TestBarLeavesNoTrace(t *testing.T) {
	var stderr bytes.Buffer
	a := &app{stderr: &stderr}
	a.note("before")
	for range 3 {
		a.drawBar(tallied(half(), time.Second, 79))
	}
	if last := screen(stderr.String())[1]; !strings.Contains(last, "2/4 cells") {
		t.Errorf("no bar on the line: %q", last)
	}
	a.note("while")
	a.drawBar("a shorter one")
	a.drawBar("")
	a.note("after")
	want := "cacheroute: before\ncacheroute: while\ncacheroute: after\n"
	if got := strings.Join(screen(stderr.String()), "\n"); got != want {
		t.Errorf("the terminal shows\n%s\nwant\n%s", got, want)
	}
}

func TestDuration(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		want    string
	}{{0.2, "0 s"}, {99, "99 s"}, {100, "2 min"}, {5900, "98 min"}, {7200, "2.0 h"}} {
		if got := duration(c.seconds); got != c.want {
			t.Errorf("%v: %s, want %s", c.seconds, got, c.want)
		}
	}
}
