package workload

import (
	"fmt"
	"strconv"
	"strings"
)

// Depths of the key rule that are no number of blocks.
const (
	autoDepth = -1
	noneDepth = 0
	maxDepth  = 16 // the deepest that auto tries
	fairShare = 0.1
)

// parseKeyRule returns the number of leading blocks whose identity is the key.
func parseKeyRule(rule string) (int, error) {
	switch rule {
	case "", "auto":
		return autoDepth, nil
	case "none":
		return noneDepth, nil
	}
	number, ok := strings.CutPrefix(rule, "prefix:")
	depth, err := strconv.Atoi(number)
	if !ok || err != nil || depth < 1 || depth > 1<<20 {
		return 0, fmt.Errorf("key: read %s, wanted auto, none or prefix:<number of blocks, at least 1>", excerpt([]byte(rule)))
	}
	return depth, nil
}

// assignKeys gives each row the key of its first depth blocks (all, if it has
// fewer) and returns the rule. The rule none puts all rows in one key. The rule
// auto takes the smallest depth at which no key has more than a tenth of the
// requests: the blocks before it are common to most. Where no depth does, it
// takes the one with the smallest top share.
func (t *Trace) assignKeys(depth int) string {
	if depth != autoDepth {
		t.assignDepth(depth)
		if depth == noneDepth {
			return "none"
		}
		return "prefix:" + strconv.Itoa(depth)
	}
	best, bestShare := 1, 2.0
	for depth = 1; depth <= maxDepth; depth++ {
		t.assignDepth(depth)
		if share := TopShare(t.counts, 0); share < bestShare {
			best, bestShare = depth, share
		}
		if bestShare <= fairShare {
			break
		}
	}
	if depth != best {
		t.assignDepth(best)
	}
	return fmt.Sprintf("prefix:%d (auto)", best)
}

// assignDepth numbers keys in order of their first arrival.
func (t *Trace) assignDepth(depth int) {
	dense := map[uint32]int32{}
	t.hashes, t.counts = nil, nil
	for i := range t.rows {
		row := &t.rows[i]
		n := row.leaf
		for int(t.nodes[n].depth) > depth {
			n = t.nodes[n].parent
		}
		key, ok := dense[n]
		if !ok {
			key = int32(len(t.hashes))
			dense[n] = key
			t.hashes = append(t.hashes, fold(t.nodes[n].hash^0x9fb21c651e98df25, 0x8ebc6af09c88c6e3))
			t.counts = append(t.counts, 0)
		}
		row.key = key
		t.counts[key]++
	}
}
