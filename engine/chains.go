package engine

// chainTable maps the chain of a segment to the index of its node: open
// addressing with linear probing, at most half full. Chains are mixed 64-bit
// hashes, so their low bits serve as they are.
type chainTable struct {
	keys  []uint64 // 0: free slot
	nodes []int32
	count int
}

func newChainTable() chainTable {
	return chainTable{keys: make([]uint64, 64), nodes: make([]int32, 64)}
}

// find returns the node of a chain, or 0.
func (t *chainTable) find(chain uint64) int32 {
	mask := uint64(len(t.keys) - 1)
	for i := chain & mask; t.keys[i] != 0; i = (i + 1) & mask {
		if t.keys[i] == chain {
			return t.nodes[i]
		}
	}
	return 0
}

// insert adds a chain that is not in the table.
func (t *chainTable) insert(chain uint64, node int32) {
	if t.count++; 2*t.count > len(t.keys) {
		old := *t
		t.keys, t.nodes = make([]uint64, 2*len(old.keys)), make([]int32, 2*len(old.keys))
		for i, k := range old.keys {
			if k != 0 {
				t.place(k, old.nodes[i])
			}
		}
	}
	t.place(chain, node)
}

func (t *chainTable) place(chain uint64, node int32) {
	mask := uint64(len(t.keys) - 1)
	i := chain & mask
	for t.keys[i] != 0 {
		i = (i + 1) & mask
	}
	t.keys[i], t.nodes[i] = chain, node
}

// remove deletes a chain that is in the table and closes the gap, so that no
// probe ever crosses a grave.
func (t *chainTable) remove(chain uint64) {
	mask := uint64(len(t.keys) - 1)
	gap := chain & mask
	for t.keys[gap] != chain {
		gap = (gap + 1) & mask
	}
	t.count--
	for i := (gap + 1) & mask; t.keys[i] != 0; i = (i + 1) & mask {
		// A key may fill the gap unless its home lies behind the gap.
		if home := t.keys[i] & mask; (i-home)&mask >= (i-gap)&mask {
			t.keys[gap], t.nodes[gap] = t.keys[i], t.nodes[i]
			gap = i
		}
	}
	t.keys[gap] = 0
}
