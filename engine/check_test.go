package engine

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// inUse is an engine between two steps with everything in it: two sequences
// that decode behind one prefix, one in mid-prefill, one waiting, and cached
// blocks of two more prefixes in the free list.
func inUse(t *testing.T) *Engine {
	cost := Linear{BaseMS: 1e-8, PrefillMS: 1e-9}
	e := New(Config{BlockTokens: 4, Blocks: 60, MaxBatchedTokens: 32, MaxSeqs: 3, Cost: cost.Build()})
	index := int64(0)
	now := clock.Time(0)
	enqueue := func(id uint64, shared, own, output int32) {
		r := &workload.Request{Index: index}
		index++
		r.Append(id, workload.Context, shared)
		r.Append(0, workload.Turn, own)
		r.SetOutput(0, output)
		j := &Job{}
		j.Reset(r)
		if !e.Enqueue(j) {
			t.Fatal("refused")
		}
	}
	step := func() {
		var ends clock.Time
		ends, _ = e.Start(now, nil)
		now = e.Cut(now)
		if now != ends && e.length != 1 {
			t.Fatalf("cut at %v to a span of %d steps", now, e.length)
		}
		e.Finish(now, nil)
	}
	enqueue(1, 12, 3, 1)
	enqueue(2, 9, 2, 1)
	step()
	enqueue(3, 16, 1, 50)
	enqueue(3, 8, 2, 50)
	step()
	enqueue(4, 60, 1, 1)
	enqueue(5, 4, 1, 1)
	step()
	if len(e.decoders) != 2 || e.prefilling == nil || e.waiting.len() != 1 {
		t.Fatalf("%d decode, %v prefills, %d wait", len(e.decoders), e.prefilling, e.waiting.len())
	}
	return e
}

// resident is the node of context id, as a prompt begins with it.
func resident(e *Engine, id uint64) *node {
	return &e.cache.nodes[e.cache.table.find(workload.Chained(0, 0, id))]
}

// Check finds every field that is one off, and every link that is cut.
func TestCheckFindsCorruption(t *testing.T) {
	if err := inUse(t).Check(); err != nil {
		t.Fatalf("an engine in order fails: %v", err)
	}
	for name, spoil := range map[string]func(e *Engine){
		"free count":                func(e *Engine) { e.cache.free++ },
		"free list ends early":      func(e *Engine) { e.cache.extents[0].next = 0 },
		"free list skips an extent": func(e *Engine) { x := &e.cache.extents[0]; x.next = e.cache.extents[x.next].next },
		"extent too long":           func(e *Engine) { e.cache.extents[resident(e, 1).shallow].hi++ },
		"extent too deep":           func(e *Engine) { x := &e.cache.extents[resident(e, 1).shallow]; x.lo++; x.hi++ },
		"extent of another node":    func(e *Engine) { e.cache.extents[resident(e, 1).shallow].node++ },
		"extent lost to its node":   func(e *Engine) { resident(e, 2).shallow = 0 },
		"node too long":             func(e *Engine) { resident(e, 1).resident++ },
		"held node too short":       func(e *Engine) { resident(e, 3).resident-- },
		"node of another chain":     func(e *Engine) { resident(e, 1).chain++ },
		"holder forgotten":          func(e *Engine) { resident(e, 4).top = holders{} },
		"holder too short":          func(e *Engine) { resident(e, 3).top.length-- },
		"hold forgotten":            func(e *Engine) { e.prefilling.holds = nil },
		"hold too short":            func(e *Engine) { e.prefilling.holds[0].length-- },
		"published miscounted":      func(e *Engine) { e.decoders[0].job.published-- },
		"decoder lost":              func(e *Engine) { e.decoders = e.decoders[1:] },
		"prefill lost":              func(e *Engine) { e.prefilling = nil },
		"computed too much":         func(e *Engine) { e.prefilling.computed += 4 },
		"decoder ahead":             func(e *Engine) { e.decoders[0].job.computed++ },
		"context":                   func(e *Engine) { e.context-- },
		"step":                      func(e *Engine) { e.step++ },
		"blocks":                    func(e *Engine) { e.cfg.Blocks-- },
		"prefilled":                 func(e *Engine) { e.counters.Prefilled++ },
		"reused":                    func(e *Engine) { e.counters.Reused-- },
		"demanded":                  func(e *Engine) { e.counters.Demanded++ },
		"abandoned":                 func(e *Engine) { e.counters.Abandoned++ },
	} {
		e := inUse(t)
		spoil(e)
		if err := e.Check(); err == nil {
			t.Errorf("%s: not found", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}

// The holders of a node are a multiset of lengths that knows its longest.
func TestHoldersAreAMultiset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCache(4, 100)
		var nodes [3]node
		var held [3][]int32
		for range rapid.IntRange(1, 60).Draw(t, "changes") {
			n := rapid.IntRange(0, 2).Draw(t, "node")
			if k := len(held[n]); k > 0 && rapid.Bool().Draw(t, "leave") {
				i := rapid.IntRange(0, k-1).Draw(t, "holder")
				c.remove(&nodes[n], held[n][i])
				held[n] = slices.Delete(held[n], i, i+1)
			} else {
				length := int32(rapid.IntRange(1, 6).Draw(t, "length"))
				c.add(&nodes[n], length)
				held[n] = append(held[n], length)
			}
			for n := range nodes {
				longest := slices.Max(append([]int32{0}, held[n]...))
				if nodes[n].held() != longest {
					t.Fatalf("the longest of %v is %d, not %d", held[n], longest, nodes[n].held())
				}
			}
		}
	})
}
