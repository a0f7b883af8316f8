// Package lines reads files of lines in bounded memory, plain or compressed.
package lines

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// MaxLine bounds the memory that one line of a file can take.
const MaxLine = 16 << 20

// Reader reads a file of lines in bounded memory, plain or compressed with gzip
// or zstd. A byte order mark, carriage returns before newlines and a missing
// last newline are accepted. Errors name the file and the line.
type Reader struct {
	Path   string // for messages
	Number int    // of the last line read, from 1

	sum    hash.Hash // of the bytes of the file
	raw    io.Reader // the file, counted into sum
	end    func()    // ends the decompressor and closes the file
	in     *bufio.Reader
	long   []byte // memory for a line that exceeds the buffer of in
	peeked []byte // the line that Next returns again
	again  bool
}

// Open opens a file; the caller closes it.
func Open(path string) (*Reader, error) {
	f, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	l, err := New(path, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	end := l.end
	l.end = func() { end(); f.Close() }
	return l, nil
}

// New reads lines from r; path is for messages only.
func New(path string, r io.Reader) (*Reader, error) {
	l := &Reader{Path: path, sum: sha256.New(), end: func() {}}
	l.raw = io.TeeReader(r, l.sum)
	l.in = bufio.NewReaderSize(l.raw, 64<<10)
	magic, _ := l.in.Peek(4)
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(l.in)
		if err != nil {
			return nil, fmt.Errorf("%s: damaged gzip data", path)
		}
		z.Multistream(false)
		l.in = bufio.NewReaderSize(&members{z, l.in}, 64<<10)
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(l.in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, fmt.Errorf("%s: damaged zstd data", path)
		}
		l.end, l.in = z.Close, bufio.NewReaderSize(z, 64<<10)
	}
	if mark, _ := l.in.Peek(3); string(mark) == "\xef\xbb\xbf" {
		l.in.Discard(3)
	}
	return l, nil
}

// members reads the members of a gzip file. As gzip does it accepts zeros after
// the last, with which some programs fill a block.
type members struct {
	z  *gzip.Reader
	in *bufio.Reader
}

func (m *members) Read(p []byte) (n int, err error) {
	if n, err = m.z.Read(p); err != io.EOF {
		return n, err
	}
	next, _ := m.in.Peek(2)
	if len(next) == 2 && next[0] == 0x1f && next[1] == 0x8b {
		err = m.z.Reset(m.in)
		m.z.Multistream(false)
		return n, err
	}
	for {
		switch b, err := m.in.ReadByte(); {
		case err != nil:
			return n, err
		case b != 0:
			return n, follows("gzip")
		}
	}
}

// follows says that a compressed file goes on as something else.
func follows(kind string) error {
	return fmt.Errorf("something else follows the %s data, wanted more of them or the end of the file", kind)
}

// OpenFile opens a file to read and refuses a directory.
func OpenFile(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err == nil {
		var info fs.FileInfo
		if info, err = f.Stat(); err == nil && info.IsDir() {
			err = errors.New("is a directory, wanted a file")
		}
		if err != nil {
			f.Close()
		}
	}
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Head returns up to n bytes that are not read yet, n at most 64 KiB.
func (l *Reader) Head(n int) []byte {
	head, _ := l.in.Peek(n)
	return head
}

// Close ends the reading.
func (l *Reader) Close() { l.end() }

// Next returns the next line without its end, or io.EOF. The line is valid
// until the next call.
func (l *Reader) Next() ([]byte, error) {
	if l.again {
		l.again = false
		return l.peeked, nil
	}
	l.Number++
	line, err := l.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		line, err = l.rest(line)
	}
	if err == io.EOF && len(line) == 0 {
		l.Number--
		return nil, io.EOF
	}
	if err != nil && err != io.EOF {
		return nil, l.Errorf("%s", Failure(err))
	}
	line = bytes.TrimRight(bytes.TrimSuffix(line, []byte{'\n'}), "\r")
	if i := bytes.IndexByte(line, '\r'); i >= 0 {
		return nil, l.Errorf("read a carriage return without a newline at byte %d, wanted lines that end in a newline, or in both", i+1)
	}
	return line, nil
}

// rest reads on a line that begins with head and fills the buffer.
func (l *Reader) rest(head []byte) ([]byte, error) {
	l.long = append(l.long[:0], head...)
	for {
		more, err := l.in.ReadSlice('\n')
		if len(l.long)+len(more) > MaxLine {
			return nil, fmt.Errorf("the line is longer than %d MiB", MaxLine>>20)
		}
		l.long = append(l.long, more...)
		if err != bufio.ErrBufferFull {
			return l.long, err
		}
	}
}

// Peek returns the line that Next will return.
func (l *Reader) Peek() ([]byte, error) {
	line, err := l.Next()
	l.peeked, l.again = line, err == nil
	return line, err
}

// SkipBlank passes over blank lines.
func (l *Reader) SkipBlank() error {
	for {
		line, err := l.Peek()
		if err == io.EOF || err == nil && len(bytes.TrimSpace(line)) > 0 {
			return nil
		}
		if err != nil {
			return err
		}
		l.again = false
	}
}

// Sum reads what is left of the file and returns its sha256 in hexadecimal.
func (l *Reader) Sum() (string, error) {
	if _, err := io.Copy(io.Discard, l.raw); err != nil {
		return "", fmt.Errorf("%s: %s", l.Path, Failure(err))
	}
	return fmt.Sprintf("%x", l.sum.Sum(nil)), nil
}

// Errorf makes an error that begins with the file and the line last read.
func (l *Reader) Errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", l.Path, l.Number, fmt.Errorf(format, args...))
}

// Failure says in a few words why reading failed.
func Failure(err error) string {
	var pe *fs.PathError
	switch {
	case errors.As(err, &pe):
		return pe.Err.Error()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the compressed file is cut short"
	case errors.Is(err, zstd.ErrMagicMismatch):
		return follows("zstd").Error()
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		return "damaged gzip data"
	}
	return err.Error()
}

// Each calls use for each line of a file that is not blank and puts the
// file and the line before its errors.
func Each(path string, use func(line []byte) error) error {
	l, err := Open(path)
	if err != nil {
		return err
	}
	defer l.Close()
	for {
		line, err := l.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := use(line); err != nil {
			return l.Errorf("%w", err)
		}
	}
}

// Excerpt quotes the beginning of what was read, safe for a terminal.
func Excerpt(b []byte) string {
	const most = 24
	if len(b) > most {
		cut := most
		for cut > most-utf8.UTFMax && !utf8.RuneStart(b[cut]) {
			cut--
		}
		return strconv.QuoteToASCII(string(b[:cut])) + "..."
	}
	return strconv.QuoteToASCII(string(b))
}

// Fields splits one line of CSV. A quoted field cannot hold a line break, so
// that a lost quote costs one line and not the rest of the file.
func Fields(line []byte) ([]string, error) {
	if bytes.IndexByte(line, '"') < 0 {
		return strings.Split(string(line), ","), nil
	}
	row, err := csv.NewReader(bytes.NewReader(line)).Read()
	var pe *csv.ParseError
	if errors.As(err, &pe) {
		err = fmt.Errorf("read %s, wanted quotes around whole fields, closed on their line (%w)", Excerpt(line), pe.Err)
	}
	return row, err
}
