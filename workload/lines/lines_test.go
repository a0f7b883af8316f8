package lines

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	text := "\xef\xbb\xbfone\r\n\n" + long + "\nlast"
	l, err := New("f", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if head := string(l.Head(3)); head != "one" {
		t.Errorf("head %q", head)
	}
	if line, err := l.Peek(); string(line) != "one" || err != nil || l.Number != 1 {
		t.Errorf("peeked %q, %v, line %d", line, err, l.Number)
	}
	for i, want := range []string{"one", "", long, "last"} {
		line, err := l.Next()
		if string(line) != want || err != nil || l.Number != i+1 {
			t.Errorf("line %d: %.20q, %v, wanted %.20q", l.Number, line, err, want)
		}
		if err := l.Errorf("%w", io.ErrNoProgress); !errors.Is(err, io.ErrNoProgress) || !strings.HasPrefix(err.Error(), fmt.Sprintf("f:%d: ", i+1)) {
			t.Errorf("error %v", err)
		}
	}
	if _, err := l.Next(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
	sum, err := l.Sum()
	if want := fmt.Sprintf("%x", sha256.Sum256([]byte(text))); sum != want || err != nil {
		t.Errorf("sum %s, %v, wanted %s", sum, err, want)
	}
}

// The sum is of the whole file, however little of it was read.
func TestSumOfAFileThatIsNotReadToItsEnd(t *testing.T) {
	text := strings.Repeat("line\n", 100_000)
	l, err := New("f", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Next(); err != nil {
		t.Fatal(err)
	}
	if sum, err := l.Sum(); sum != fmt.Sprintf("%x", sha256.Sum256([]byte(text))) || err != nil {
		t.Errorf("sum %s, %v", sum, err)
	}
}

// all reads the lines of a file up to an error.
func all(l *Reader) (got []string, err error) {
	for {
		line, err := l.Next()
		if err != nil {
			return got, err
		}
		got = append(got, string(line))
	}
}

// What follows compressed data is more of them, zeros after gzip, or a mistake.
func TestAfterCompressedData(t *testing.T) {
	packed := func(kind string) string {
		var b bytes.Buffer
		var z io.WriteCloser = gzip.NewWriter(&b)
		if kind == "zstd" {
			z, _ = zstd.NewWriter(&b)
		}
		if _, err := io.WriteString(z, "a\nb\n"); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, kind := range []string{"gzip", "zstd"} {
		data := packed(kind)
		for _, c := range []struct{ rest, want string }{
			{"", "a b EOF"},
			{data, "a b a b EOF"},
			{strings.Repeat("\x00", 600), map[string]string{"gzip": "a b EOF", "zstd": "a b f:3: something else follows the zstd data"}[kind]},
			{"rest of the file", "a b f:3: something else follows the " + kind + " data"},
			{"\x00rest", "a b f:3: something else follows the " + kind + " data"},
			{data[:12], "a b f:3: the compressed file is cut short"},
		} {
			l, err := New("f", strings.NewReader(data+c.rest))
			if err != nil {
				t.Fatal(err)
			}
			got, err := all(l)
			l.Close()
			if text := strings.Join(append(got, err.Error()), " "); !strings.HasPrefix(text, c.want) {
				t.Errorf("%s, then %.10q: read %s, wanted %s", kind, c.rest, text, c.want)
			}
		}
	}
}

// Lines end in newlines; more returns than one before it are the doing of some
// editors, one elsewhere is a line end that nobody else knows.
func TestCarriageReturns(t *testing.T) {
	for text, want := range map[string]string{
		"a\r\nb\r\r\n": "a b EOF",
		"a\rb\r":       "f:1: read a carriage return without a newline at byte 2",
		"a\nbb\rc\n":   "a f:2: read a carriage return without a newline at byte 3",
	} {
		l, err := New("f", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := all(l)
		if text := strings.Join(append(got, err.Error()), " "); !strings.HasPrefix(text, want) {
			t.Errorf("read %s, wanted %s", text, want)
		}
	}
}

func TestFields(t *testing.T) {
	for line, want := range map[string]string{"a,b,": "a|b|", `"a,b",c`: "a,b|c", `"a""b",`: `a"b|`, "": ""} {
		got, err := Fields([]byte(line))
		if strings.Join(got, "|") != want || err != nil {
			t.Errorf("%q: %q, %v", line, got, err)
		}
	}
	for _, line := range []string{`"a`, `a"b,c`, `"a"b`} {
		if got, err := Fields([]byte(line)); err == nil {
			t.Errorf("%q is read as %q", line, got)
		}
	}
}

func TestExcerptIsShortAndPrintable(t *testing.T) {
	for text, want := range map[string]string{"a\x1b[1m": `"a\x1b[1m"`, strings.Repeat("é", 30): `"` + strings.Repeat(`\u00e9`, 12) + `"...`} {
		if got := Excerpt([]byte(text)); got != want {
			t.Errorf("%q: %s, wanted %s", text, got, want)
		}
	}
}
