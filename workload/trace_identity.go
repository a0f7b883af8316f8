package workload

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"
)

// identity names what a run takes from the trace: equal requests of equal keys,
// however their file is written.
func (t *Trace) identity() string {
	h := xxh3.New()
	var b []byte
	number := func(values ...uint64) {
		for _, v := range values {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
	}
	flush := func() {
		h.Write(b)
		b = b[:0]
	}
	number(uint64(len(t.rows)), uint64(len(t.hashes)))
	number(t.hashes...)
	flush()
	for i, row := range t.rows {
		number(uint64(row.at), uint64(row.input), uint64(row.output), uint64(row.key), uint64(row.to-row.from))
		for _, s := range t.prompt[row.from:row.to] {
			number(s.ID, uint64(s.Tokens))
		}
		if t.closed {
			number(uint64(t.follow[i]), uint64(t.think[i]))
		}
		flush()
	}
	sum := h.Sum128()
	return fmt.Sprintf("%016x%016x", sum.Hi, sum.Lo)
}
