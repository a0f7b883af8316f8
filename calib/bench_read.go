package calib

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/klauspost/compress/gzip"
)

// BenchFormat is a kind of bench file.
type BenchFormat struct {
	About string
	// sniff tells from the first bytes of a file whether it is of this kind,
	// even if something is missing.
	sniff func(head []byte) bool
	read  func(s *benchSource) error
}

// BenchFormats are the kinds of bench files by name.
var BenchFormats = map[string]BenchFormat{
	"closed-loop-csv":  {"closed-loop runs, a row each: mean TTFT and TPOT by lengths and concurrency", sniffRowsCSV, readRowsCSV},
	"vllm-bench-serve": {"result JSON of vllm bench serve, plain or with --save-detailed, one or several appended", sniffVLLM, readVLLM},
	"guidellm":         {"benchmarks.json of GuideLLM, version 2", sniffGuideLLM, readGuideLLM},
	"step-log-csv":     {"steps of an engine, a row each: prompt tokens, decoding sequences, their context, milliseconds", sniffStepsCSV, readStepsCSV},
}

// BenchOptions say how to read a bench file.
type BenchOptions struct {
	Format string // a name in BenchFormats; empty: known from the content
	// Describe fills in columns of the setup that the file lacks.
	Describe Setup
}

// BadBench is what is wrong with a bench: one line a mistake, each of the form
// "file:line: what was read, what was wanted".
type BadBench struct{ Lines []string }

func (e *BadBench) Error() string { return strings.Join(e.Lines, "\n") }

func badBench(format string, args ...any) error {
	return &BadBench{[]string{plainText(fmt.Sprintf(format, args...))}}
}

// plainText keeps an error on its line, whatever the input held.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// cut quotes a value of the input, shortened.
func cut(s string) string {
	const most = 24
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "..."
	}
	return fmt.Sprintf("%q", s)
}

// mostMistakes is how many mistakes of one file are listed.
const mostMistakes = 20

// benchSource is a bench file while it is read.
type benchSource struct {
	Bench
	opt      BenchOptions
	in       io.Reader
	mistakes []string
	more     int // mistakes that are not listed
}

// bad notes a mistake; reading goes on, so that a user sees them all at once.
func (s *benchSource) bad(line int, format string, args ...any) {
	if len(s.mistakes) == mostMistakes {
		s.more++
		return
	}
	s.mistakes = append(s.mistakes, plainText(fmt.Sprintf("%s:%d: ", s.File, line)+fmt.Sprintf(format, args...)))
}

func (s *benchSource) note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

// err is the mistakes so far.
func (s *benchSource) err() error {
	if s.mistakes == nil {
		return nil
	}
	if s.more > 0 {
		s.mistakes[mostMistakes-1] += fmt.Sprintf(" (and %d more mistakes)", s.more)
	}
	return &BadBench{s.mistakes}
}

// ReadBench reads a bench file. Notes say which format it was taken for and
// what was assumed; nothing else is.
func ReadBench(path string, o BenchOptions) (*Bench, error) {
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		var info fs.FileInfo
		if info, err = f.Stat(); err == nil && info.IsDir() {
			err = errors.New("is a directory, wanted a bench file")
		}
	}
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, badBench("%s: %v", path, err)
	}
	return readBench(path, f, o)
}

// ReadBenches reads files of one kind as one bench: vllm bench serve writes a
// file for each run.
func ReadBenches(paths []string, o BenchOptions) (*Bench, error) {
	all, err := ReadBench(paths[0], o)
	if err != nil {
		return nil, err
	}
	for _, path := range paths[1:] {
		b, err := ReadBench(path, o)
		if err != nil {
			return nil, err
		}
		if (b.Steps == nil) != (all.Steps == nil) {
			return nil, badBench("%s:1: read %s, wanted %s as in %s", path, b.Format, all.Format, paths[0])
		}
		// Lines name the place in all files together.
		for _, r := range b.Rows {
			r.Line += all.last()
			all.Rows = append(all.Rows, r)
		}
		all.Steps = append(all.Steps, b.Steps...)
		all.Notes = append(all.Notes, b.Notes...)
	}
	all.dropRepeats()
	return all, nil
}

// last is the largest line of a row.
func (b *Bench) last() int {
	last := 0
	for _, r := range b.Rows {
		last = max(last, r.Line)
	}
	return last
}

// readBench reads a bench from r; name is what errors call it.
func readBench(name string, r io.Reader, o BenchOptions) (*Bench, error) {
	const sniffed = 64 << 10
	in := bufio.NewReaderSize(r, sniffed)
	if magic, _ := in.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, badBench("%s:1: damaged gzip data, wanted a bench", name)
		}
		in = bufio.NewReaderSize(z, sniffed)
	}
	if mark, _ := in.Peek(3); string(mark) == "\xef\xbb\xbf" {
		in.Discard(3)
	}
	head, _ := in.Peek(sniffed)
	if len(bytes.TrimSpace(head)) == 0 {
		return nil, badBench("%s:1: nothing in the file, wanted a bench", name)
	}
	s := &benchSource{Bench: Bench{File: name, Format: o.Format}, opt: o, in: in}
	if err := s.detect(head); err != nil {
		return nil, err
	}
	if err := BenchFormats[s.Format].read(s); err != nil {
		return nil, err
	}
	if err := s.err(); err != nil {
		return nil, err
	}
	if len(s.Rows)+len(s.Steps) == 0 {
		return nil, badBench("%s:1: no measured run in the file, wanted at least one", name)
	}
	s.Ran = o.Describe
	for i := range s.Rows {
		s.Rows[i].describe(o.Describe)
	}
	s.dropRepeats()
	return &s.Bench, nil
}

// dropRepeats leaves out runs that repeat another in every figure: a copy of a
// run is no second measurement and would make a fit look surer than it is.
func (b *Bench) dropRepeats() {
	first := map[string]int{}
	var copies []string
	b.Rows = slices.DeleteFunc(b.Rows, func(r BenchRow) bool {
		line := r.Line
		r.Line = 0
		key := fmt.Sprintf("%#v", r) // NaN is no key of a map by itself
		at, again := first[key]
		if again {
			copies = append(copies, fmt.Sprintf("%d (as %d)", line, at))
		} else {
			first[key] = line
		}
		return again
	})
	if copies != nil {
		b.Notes = append(b.Notes, fmt.Sprintf("left out, as they repeat another run in every figure: lines %s", shortList(copies)))
	}
}

// detect settles the format.
func (s *benchSource) detect(head []byte) error {
	names := slices.Sorted(maps.Keys(BenchFormats))
	wanted := strings.Join(names, ", ")
	if s.Format != "" {
		if _, ok := BenchFormats[s.Format]; !ok {
			return badBench("--format %s: wanted one of %s", s.Format, wanted)
		}
		s.note("read as %s, as asked", s.Format)
		return nil
	}
	var fits []string
	for _, name := range names {
		if BenchFormats[name].sniff(head) {
			fits = append(fits, name)
		}
	}
	if len(fits) != 1 {
		first, _, _ := bytes.Cut(head, []byte("\n"))
		if other := strings.NewReplacer(";", ",", "\t", ",").Replace(string(first)); sniffRowsCSV([]byte(other)) || sniffStepsCSV([]byte(other)) {
			return badBench("%s:1: read %s, wanted commas between the columns", s.File, cut(string(first)))
		}
		return badBench("%s:1: read %s, wanted a bench of one of the formats %s", s.File, cut(strings.TrimSpace(string(first))), wanted)
	}
	s.Format = fits[0]
	s.note("read as %s, from its content", s.Format)
	return nil
}
