package workload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"cacheroute/workload/lines"
)

// RatesKeys reads the rate of each key from a file. Rates are relative here:
// only their proportions count. Keys of rate 0 never arrive and are dropped.
type RatesKeys struct {
	// File is a CSV file (also compressed with gzip or zstd) or a Parquet file with
	// the columns key and rate.
	File string `yaml:"file" jsonschema:"required,minLength=1"`
	// Top is how many of the most frequent keys are kept, with all of the
	// traffic; 0: all.
	Top int `yaml:"top" jsonschema:"minimum=0"`
	// Seed of what belongs to a key, such as its context.
	Seed uint64 `yaml:"seed" jsonschema:"minimum=0"`
}

// About implements KeySpec.
func (s *RatesKeys) About() string {
	return "rates of a CSV or Parquet file with columns key, rate: file, top, seed"
}

func (s *RatesKeys) file() *string { return &s.File }

// Check implements KeySpec.
func (s *RatesKeys) Check() error {
	if s.File == "" {
		return errors.New("file: missing")
	}
	if s.Top < 0 {
		return fmt.Errorf("top: must be 0 (all) or more, got %d", s.Top)
	}
	return nil
}

// Build implements KeySpec.
func (s *RatesKeys) Build() (*Keys, error) {
	r, err := ReadRates(s.File)
	if err != nil {
		return nil, err
	}
	k, err := selectTop(r.Rates, r.Names, s.Top, s.Seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.File, err)
	}
	return k, nil
}

// Rates is a file of rates by key, in the order of the file.
type Rates struct {
	Names []string
	Rates []float64 // >= 0, at least one above 0
	// Requests is how many the rates were estimated from; 0: they were given.
	Requests float64

	seen map[string]int // row of each name
}

// ReadRates reads a CSV file (also compressed with gzip or zstd) or a Parquet
// file with the columns key and rate; other columns are ignored. It refuses
// repeated keys, and rates that are negative, not finite or all 0.
func ReadRates(path string) (*Rates, error) {
	f, err := lines.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var magic [4]byte
	f.ReadAt(magic[:], 0)
	if string(magic[:]) == "PAR1" {
		return readRatesParquet(path, f)
	}
	l, err := lines.New(path, f)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return readRatesCSV(l)
}

// check ends the reading.
func (r *Rates) check(path string) (*Rates, error) {
	r.seen = nil
	for _, rate := range r.Rates {
		if rate > 0 {
			return r, nil
		}
	}
	return nil, fmt.Errorf("%s: read %d keys, wanted at least one with a rate above 0", path, len(r.Rates))
}

// add takes one row; what says how rows are counted ("line", "row").
func (r *Rates) add(name string, rate float64, what string, number int) error {
	if name == "" || len(name) > 1<<10 || !printable(name) {
		return fmt.Errorf("read the key %s, wanted 1 to 1024 bytes of printable text", lines.Excerpt([]byte(name)))
	}
	if !(rate >= 0 && rate <= 1e100) {
		return fmt.Errorf("read the rate %v, wanted a number from 0 to 1e+100", rate)
	}
	if before, ok := r.seen[name]; ok {
		return fmt.Errorf("read the key %s, which %s %d has already", lines.Excerpt([]byte(name)), what, before)
	}
	if len(r.Names) == maxKeys {
		return fmt.Errorf("wanted at most %d keys", maxKeys)
	}
	r.seen[name] = number
	r.Names, r.Rates = append(r.Names, name), append(r.Rates, rate)
	return nil
}

func readRatesCSV(l *lines.Reader) (*Rates, error) {
	line, err := l.Next()
	if err == io.EOF {
		return nil, fmt.Errorf("%s: the file is empty, wanted the header key,rate", l.Path)
	}
	if err != nil {
		return nil, err
	}
	header, err := lines.Fields(line)
	if err != nil {
		return nil, l.Errorf("%w", err)
	}
	key, rate, columns := column(header, "key"), column(header, "rate"), len(header)
	if key < 0 || rate < 0 {
		return nil, l.Errorf("read %s, wanted a header with one column key and one column rate", lines.Excerpt(line))
	}
	r := &Rates{seen: map[string]int{}}
	for {
		line, err := l.Next()
		if err == io.EOF {
			return r.check(l.Path)
		}
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := r.addFields(line, key, rate, columns, l.Number); err != nil {
			return nil, l.Errorf("%w", err)
		}
	}
}

func (r *Rates) addFields(line []byte, key, rate, columns, number int) error {
	row, err := lines.Fields(line)
	if err != nil {
		return err
	}
	if len(row) != columns {
		return fmt.Errorf("read %d fields, wanted %d as in the header", len(row), columns)
	}
	value, err := strconv.ParseFloat(strings.TrimSpace(row[rate]), 64)
	if err != nil {
		return fmt.Errorf("read the rate %s, wanted a finite number of at least 0", lines.Excerpt([]byte(row[rate])))
	}
	return r.add(strings.TrimSpace(row[key]), value, "line", number)
}

// column finds the only column of a name, whatever its case; -1 if there is
// none or more than one.
func column(header []string, name string) int {
	at := -1
	for i, h := range header {
		if strings.EqualFold(strings.TrimSpace(h), name) {
			if at >= 0 {
				return -1
			}
			at = i
		}
	}
	return at
}

func printable(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, c := range s {
		if !unicode.IsPrint(c) {
			return false
		}
	}
	return true
}
