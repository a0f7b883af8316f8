package engine

// chainTable maps the chain of a segment to the index of its node: open
// addressing with linear probing, at most half full. Chains are mixed 64-bit
// hashes, so their low bits serve as they are.
type chainTable struct {
	slots []chainSlot
	count int
}

type chainSlot struct {
	chain uint64 // 0: free
	node  int32
}

func newChainTable() chainTable { return chainTable{slots: make([]chainSlot, 64)} }

// find returns the node of a chain, or 0.
func (t *chainTable) find(chain uint64) int32 {
	mask := uint64(len(t.slots) - 1)
	for i := chain & mask; ; i = (i + 1) & mask {
		switch t.slots[i].chain {
		case chain:
			return t.slots[i].node
		case 0:
			return 0
		}
	}
}

// insert adds a chain that is not in the table.
func (t *chainTable) insert(chain uint64, node int32) {
	if t.count++; 2*t.count > len(t.slots) {
		old := t.slots
		t.slots = make([]chainSlot, 2*len(old))
		for _, s := range old {
			if s.chain != 0 {
				t.place(s)
			}
		}
	}
	t.place(chainSlot{chain, node})
}

func (t *chainTable) place(s chainSlot) {
	mask := uint64(len(t.slots) - 1)
	i := s.chain & mask
	for t.slots[i].chain != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = s
}

// remove deletes a chain that is in the table and closes the gap, so that no
// probe ever crosses a grave.
func (t *chainTable) remove(chain uint64) {
	mask := uint64(len(t.slots) - 1)
	gap := chain & mask
	for t.slots[gap].chain != chain {
		gap = (gap + 1) & mask
	}
	t.count--
	for i := (gap + 1) & mask; t.slots[i].chain != 0; i = (i + 1) & mask {
		// A chain may fill the gap unless its home lies behind the gap.
		if home := t.slots[i].chain & mask; (i-home)&mask >= (i-gap)&mask {
			t.slots[gap] = t.slots[i]
			gap = i
		}
	}
	t.slots[gap] = chainSlot{}
}
