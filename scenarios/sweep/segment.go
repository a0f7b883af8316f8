package sweep

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/zeebo/xxh3"
)

// A segment is a file of results that one process writes and no other ever
// opens for writing. A line is a result:
//
//	ID KIND WHEN LENGTH SUM PAYLOAD
//
// ID names the cell, KIND is + for a result and ! for a failure, WHEN is the
// millisecond at which it was written, LENGTH (hexadecimal) is that of PAYLOAD,
// SUM is the XXH3 of ID, KIND and PAYLOAD. PAYLOAD is JSON on one line. A result
// is there if its sum is right, wherever the writing was cut off: files need no
// temporary name, and a cell no file.
const (
	headLength = 32 + 1 + 1 + 1 + 13 + 1 + 8 + 1 + 16 + 1
	sumStart   = headLength - 17
)

const (
	done   = '+'
	failed = '!'
)

// syncEvery is how long a result may wait for the disk. A killed process loses
// nothing that it has written; a machine that dies may lose what ended in this
// span.
const syncEvery = time.Second

// segment writes results. It is safe for concurrent use.
type segment struct {
	dir, name string // name of the file without what makes it unique

	mu     sync.Mutex
	f      *os.File // nil until there is a result
	size   int64
	synced time.Time
	broken error // what made it unusable
}

// add appends a result. After an error nothing more is written, as a line could
// begin within another.
func (s *segment) add(cell id, kind byte, payload []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		s.broken = s.append(cell, kind, payload)
	}
	return s.broken
}

func (s *segment) append(cell id, kind byte, payload []byte) error {
	if s.f == nil {
		if err := s.create(); err != nil {
			return err
		}
	}
	line := make([]byte, 0, headLength+len(payload)+1)
	line = fmt.Appendf(line, "%s %c %013d %08x %016x ", cell[:], kind, time.Now().UnixMilli(), len(payload), sumOf(cell, kind, payload))
	line = append(append(line, payload...), '\n')
	if _, err := s.f.Write(line); err != nil {
		return errors.Join(err, s.f.Truncate(s.size)) // a torn line harms nobody, no line is tidier
	}
	s.size += int64(len(line))
	if time.Since(s.synced) < syncEvery {
		return nil
	}
	s.synced = time.Now()
	return s.f.Sync()
}

// create makes a file of a name that no other process has.
func (s *segment) create() error {
	var unique [6]byte
	if _, err := rand.Read(unique[:]); err != nil {
		return err
	}
	path := filepath.Join(s.dir, s.name+"."+hex.EncodeToString(unique[:]))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	s.f, s.synced = f, time.Now()
	return nil
}

// close makes all that was added last.
func (s *segment) close() error {
	if s.f == nil {
		return nil
	}
	return errors.Join(s.f.Sync(), s.f.Close())
}

func sumOf(cell id, kind byte, payload []byte) uint64 {
	h := xxh3.New()
	h.Write(cell[:])
	h.Write([]byte{kind})
	h.Write(payload)
	return h.Sum64()
}

// record is a line of a segment without its payload.
type record struct {
	cell   id
	kind   byte
	when   time.Time
	sum    uint64
	at     int64 // where the payload begins
	length int
}

// readHead reads the head of a line.
func readHead(head []byte) (r record, ok bool) {
	for _, space := range []int{32, 34, 48, 57, headLength - 1} {
		if head[space] != ' ' {
			return r, false
		}
	}
	when, err1 := strconv.ParseInt(string(head[35:48]), 10, 64)
	length, err2 := strconv.ParseUint(string(head[49:57]), 16, 31)
	sum, err3 := strconv.ParseUint(string(head[sumStart:headLength-1]), 16, 64)
	r = record{cell: id(head[:32]), kind: head[33], when: time.UnixMilli(when), sum: sum, length: int(length)}
	return r, err1 == nil && err2 == nil && err3 == nil && (r.kind == done || r.kind == failed)
}

// scan visits the whole results of a segment. Those that check wants are
// compared with their sum; of the others only the head is read. It returns how
// many lines are damaged; one that is cut off at the end is the rule when a
// process is killed, and is not counted.
func scan(path string, check func(id) bool, visit func(record)) (damaged int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	s := scanner{f: f, r: bufio.NewReaderSize(f, 4096), size: info.Size()}
	for s.size-s.at > headLength {
		start := s.at
		r, ok, err := s.next(check)
		if err != nil {
			return damaged, fmt.Errorf("%s: %w", path, err)
		}
		if ok {
			visit(r)
			continue
		}
		found, err := s.resume(start)
		if err != nil {
			return damaged, fmt.Errorf("%s: %w", path, err)
		}
		if found {
			damaged++
		}
	}
	return damaged, nil
}

// scanner reads a file that may still grow: it stops at the size it had.
type scanner struct {
	f        *os.File
	r        *bufio.Reader
	at, size int64
	payload  []byte
}

// next reads a line; it is not ok if the line is damaged or not whole.
func (s *scanner) next(check func(id) bool) (r record, ok bool, err error) {
	head, err := s.r.Peek(headLength)
	if err != nil {
		return r, false, err
	}
	if r, ok = readHead(head); !ok {
		return r, false, nil
	}
	r.at = s.at + headLength
	end := r.at + int64(r.length) + 1
	if end > s.size {
		return r, false, nil
	}
	if !check(r.cell) {
		return r, true, s.seek(end)
	}
	if _, err := s.r.Discard(headLength); err != nil {
		return r, false, err
	}
	s.payload = append(s.payload[:0], make([]byte, r.length+1)...)
	if _, err := io.ReadFull(s.r, s.payload); err != nil {
		return r, false, err
	}
	s.at = end
	payload := s.payload[:r.length]
	return r, s.payload[r.length] == '\n' && sumOf(r.cell, r.kind, payload) == r.sum, nil
}

// seek goes on at another place.
func (s *scanner) seek(at int64) (err error) {
	if n := at - s.at; n >= 0 && n <= int64(s.r.Buffered()) {
		_, err = s.r.Discard(int(n))
	} else {
		_, err = s.f.Seek(at, io.SeekStart)
		s.r.Reset(s.f)
	}
	s.at = at
	return err
}

// resume goes on at the line after the one that begins at start; there may be
// none.
func (s *scanner) resume(start int64) (found bool, err error) {
	if err := s.seek(start); err != nil {
		return false, err
	}
	for s.at < s.size {
		part, err := s.r.ReadSlice('\n')
		s.at += int64(len(part))
		switch {
		case err == nil:
			return s.at <= s.size, nil
		case errors.Is(err, io.EOF):
			return false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return false, err
		}
	}
	return false, nil
}

// readPayload reads and checks the payload of a record.
func readPayload(f *os.File, r record) ([]byte, error) {
	payload := make([]byte, r.length)
	if _, err := f.ReadAt(payload, r.at); err != nil {
		return nil, err
	}
	if sumOf(r.cell, r.kind, payload) != r.sum || bytes.IndexByte(payload, '\n') >= 0 {
		return nil, errors.New("changed since it was looked at")
	}
	return payload, nil
}
