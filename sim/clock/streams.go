package clock

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// Streams derives independent random streams from one seed by name. A stream
// depends on nothing but seed and name: drawing more from one never shifts
// another. Workload streams never carry a policy's name, so that every policy
// of a study meets the same requests (common random numbers).
type Streams struct{ Seed uint64 }

// Rand returns a new generator at the start of the named stream. Two calls with
// one name return equal generators.
func (s Streams) Rand(name string) *rand.Rand {
	hi, lo := s.words(name)
	return rand.New(rand.NewPCG(hi, lo))
}

// Uint64 returns one fixed word of the named stream, to seed a hash.
func (s Streams) Uint64(name string) uint64 {
	hi, _ := s.words(name)
	return hi
}

// words hashes seed and name, so that adjacent seeds and similar names share
// nothing.
func (s Streams) words(name string) (hi, lo uint64) {
	b := binary.LittleEndian.AppendUint64(nil, s.Seed)
	sum := sha256.Sum256(append(b, name...))
	return binary.LittleEndian.Uint64(sum[0:]), binary.LittleEndian.Uint64(sum[8:])
}
