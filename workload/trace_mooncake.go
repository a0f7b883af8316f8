package workload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// mooncake is the JSONL of the Mooncake traces (kvcache-ai/Mooncake): one
// request a line with timestamp (ms), input_length, output_length (tokens) and
// hash_ids, one for each block of 512 prompt tokens, the last of which may be
// partial. An id names all blocks up to its own.
type mooncake struct {
	dec   *jsontext.Decoder
	text  bytes.Reader
	wrong []string // first rows whose number of ids does not fit their length
}

const (
	mooncakeBlock = 512
	wrongIDs      = "wrong number of ids"
	maxTimestamp  = 1 << 52 // ms: sums of two in microseconds fit in an int64
)

var mooncakeMembers = [...]string{"timestamp", "input_length", "output_length", "hash_ids"}

// About implements TraceFormat.
func (*mooncake) About() string {
	return "Mooncake JSONL: timestamp (ms), input_length, output_length, hash_ids (chained ids of 512-token blocks)"
}

// Detect implements TraceFormat: the line is an object with all members.
func (m *mooncake) Detect(line []byte) bool {
	m.reset(line)
	if m.dec.PeekKind() != '{' {
		return false
	}
	m.dec.ReadToken()
	found := map[string]bool{}
	for m.dec.PeekKind() == '"' {
		name, err := m.dec.ReadToken()
		if err != nil {
			break
		}
		found[name.String()] = true
		if m.dec.SkipValue() != nil {
			break
		}
	}
	for _, name := range mooncakeMembers {
		if !found[name] {
			return false
		}
	}
	return true
}

func (m *mooncake) reset(line []byte) {
	m.text.Reset(line)
	if m.dec == nil {
		m.dec = jsontext.NewDecoder(&m.text)
		return
	}
	m.dec.Reset(&m.text)
}

func (m *mooncake) read(in *lines, t *traceReader) error {
	h := &t.header
	h.Unit, h.IDKind, h.Tail, h.InputKind = "ms", "chained", "ceil", "full"
	h.BlockTokens = t.blockTokens(mooncakeBlock)
	var r record
	for {
		line, err := in.Next()
		if err == io.EOF {
			return m.mismatch(in.path, h.Dropped[wrongIDs])
		}
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := m.row(line, &r, h); err != nil {
			return in.Errorf("%w", err)
		}
		h.RowsRead++
		blocks := (int(r.input) + int(h.BlockTokens) - 1) / int(h.BlockTokens)
		switch {
		case len(r.ids) != blocks:
			if t.drop(wrongIDs); len(m.wrong) < 3 {
				m.wrong = append(m.wrong, fmt.Sprintf("%d: read %d hash_ids for %d input tokens, wanted %d", in.number, len(r.ids), r.input, blocks))
			}
		case r.input == 0:
			t.drop("no input")
		default:
			t.keep(&r)
		}
	}
}

// mismatch names the first rows whose ids do not cover their prompt: such a
// file has another block size or rule for the tail, and no row can be trusted.
func (m *mooncake) mismatch(path string, rows int) error {
	if rows == 0 {
		return nil
	}
	return fmt.Errorf("%s:%s = ceil(tokens/block) (%d such rows)", path, strings.Join(m.wrong, "; line "), rows)
}

// row reads one line strictly: all members once, whole numbers in range.
// Members that it does not know are counted.
func (m *mooncake) row(line []byte, r *record, h *Header) error {
	m.reset(line)
	if kind := m.dec.PeekKind(); kind != '{' && kind != 0 {
		return fmt.Errorf("read %s, wanted a JSON object", excerpt(line))
	}
	if _, err := m.dec.ReadToken(); err != nil {
		return syntax(err)
	}
	*r = record{ids: r.ids[:0]}
	var found [len(mooncakeMembers)]bool
	for m.dec.PeekKind() == '"' {
		name, err := m.dec.ReadToken()
		if err != nil {
			return syntax(err)
		}
		member := slices.Index(mooncakeMembers[:], name.String())
		if member < 0 {
			h.UnknownMembers++
			err = m.dec.SkipValue()
		} else {
			found[member] = true
			err = m.member(member, r)
		}
		if err != nil {
			return syntax(err)
		}
	}
	if _, err := m.dec.ReadToken(); err != nil {
		return syntax(err)
	}
	if rest := bytes.TrimSpace(line[m.dec.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("read %s after the object, wanted one object a line", excerpt(rest))
	}
	if i := slices.Index(found[:], false); i >= 0 {
		return fmt.Errorf("no member %s", mooncakeMembers[i])
	}
	return nil
}

// member reads the value of one known member.
func (m *mooncake) member(i int, r *record) error {
	name := mooncakeMembers[i]
	if name == "hash_ids" {
		return m.ids(r)
	}
	most := uint64(MaxTokens)
	if name == "timestamp" {
		most = maxTimestamp
	}
	v, err := m.whole(name, most)
	switch name {
	case "timestamp":
		r.at = int64(v) * 1000
	case "input_length":
		r.input = int32(v)
	case "output_length":
		r.output = int32(v)
	}
	return err
}

func (m *mooncake) ids(r *record) error {
	if m.dec.PeekKind() != '[' {
		value, err := m.dec.ReadValue()
		if err != nil {
			return err
		}
		return fmt.Errorf("hash_ids: read %s, wanted a list of whole numbers", excerpt(value))
	}
	if _, err := m.dec.ReadToken(); err != nil {
		return err
	}
	for m.dec.PeekKind() != ']' {
		id, err := m.whole("hash_ids", math.MaxUint64)
		if err != nil {
			return err
		}
		r.ids = append(r.ids, id)
	}
	_, err := m.dec.ReadToken()
	return err
}

// whole reads a whole number digit by digit: no float64 on the way, so that
// 64-bit ids stay apart.
func (m *mooncake) whole(name string, most uint64) (uint64, error) {
	value, err := m.dec.ReadValue()
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseUint(string(value), 10, 64)
	if err != nil || v > most {
		return 0, fmt.Errorf("%s: read %s, wanted a whole number from 0 to %d", name, excerpt(value), most)
	}
	return v, nil
}

// syntax rewrites an error of the decoder, which may quote names of any length.
func syntax(err error) error {
	var se *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("the line is cut short, wanted a whole JSON object")
	case errors.Is(err, jsontext.ErrDuplicateName):
		return errors.New("a member occurs twice, wanted each once")
	case errors.As(err, &se):
		return fmt.Errorf("not JSON near byte %d of the line", max(1, se.ByteOffset))
	}
	return err
}
