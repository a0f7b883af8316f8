package policies

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"
)

// defaultVnodes is the number of ring points a destination, a convention of
// LLM routers (vLLM router 160, SGLang 150). It decides the balance: at 30
// destinations the largest share of the circle is 1.17 times the mean with
// 160 points, 1.78 times with 10.
const defaultVnodes = 160

// maxVnodes bounds the points of a destination, maxPoints those of a ring: 16
// bytes each.
const (
	maxVnodes = 65536
	maxPoints = 1 << 25
)

// checkRing refuses a ring that takes too much memory.
func checkRing(env Env, vnodes int) error {
	if n := env.Destinations * vnodes; n > maxPoints {
		return fmt.Errorf("vnodes: %d on each of %d destinations make %d ring points, wanted at most %d", vnodes, env.Destinations, n, maxPoints)
	}
	return nil
}

// hashOf mixes a seed and two words.
func hashOf(seed, a, b uint64) uint64 {
	var buf [16]byte
	binary.LittleEndian.PutUint64(buf[0:], a)
	binary.LittleEndian.PutUint64(buf[8:], b)
	return xxh3.HashSeed(buf[:], seed)
}

// keyPoint is the place of a key on a circle of 2^64, given its unseeded hash.
func keyPoint(seed, keyHash uint64) uint64 { return hashOf(seed, keyHash, keyHash) }

// ring is a hash ring (Karger et al. 1997): points by rising place on the
// circle, each owned by the destination in its index.
type ring []keyed

func newRing(destinations, vnodes int, seed uint64) ring {
	points := make(ring, 0, destinations*vnodes)
	for d := range destinations {
		for n := range vnodes {
			points = append(points, keyed{word: hashOf(seed, uint64(d), uint64(n)), index: int32(d)})
		}
	}
	sortByWord(points)
	return points
}

// first is the number of the first point at or clockwise of h.
func (r ring) first(h uint64) int32 {
	i, _ := slices.BinarySearchFunc(r, h, func(p keyed, h uint64) int {
		if p.word < h {
			return -1
		}
		return 1 // the first of equal points is found too
	})
	if i == len(r) {
		i = 0
	}
	return int32(i)
}

// homes remembers the home of each key, looked up once, so that a decision
// costs the same on any fleet.
type homes struct {
	find func(point uint64) int32 // home of a point of the circle
	seed uint64
	hash []uint64 // by key
	home []int32  // by key; -1: not asked yet
}

func newHomes(env Env, seed uint64, find func(point uint64) int32) homes {
	return homes{find: find, seed: seed, hash: env.KeyHashes, home: slices.Repeat([]int32{-1}, len(env.KeyHashes))}
}

func (h *homes) of(key int32) int32 {
	if h.home[key] < 0 {
		h.home[key] = h.find(keyPoint(h.seed, h.hash[key]))
	}
	return h.home[key]
}
