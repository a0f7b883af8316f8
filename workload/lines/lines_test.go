package lines

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
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
