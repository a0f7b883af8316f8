package workload

import (
	"fmt"

	"cacheroute/workload/share"
	"cacheroute/workload/trace"
)

// assignKeys gives each row its key by the rule and the trace the keys; auto is
// the key that the file states, else the best prefix, else the session, else
// none.
func (b *traceBuilder) assignKeys(t *Trace) error {
	rule, err := trace.ParseKey(b.opt.Key)
	if err != nil {
		return err
	}
	auto := ""
	if rule.Kind == trace.KeyAuto {
		rule, auto = b.settle(t), " (auto)"
	}
	if rule.Kind == trace.KeyField && !b.stated {
		return fmt.Errorf("%s: the key is to be %s, but no row has one", b.header.Path, rule)
	}
	b.assign(t, rule)
	b.header.KeyRule = rule.String() + auto
	return nil
}

func (b *traceBuilder) settle(t *Trace) trace.KeyRule {
	h := b.header.Header
	switch {
	case b.stated:
		return trace.KeyRule{Kind: trace.KeyField}
	case h.PromptsKnown():
		return trace.KeyRule{Kind: trace.KeyPrefix, Depth: trace.BestDepth(func(d int) float64 {
			b.assign(t, trace.KeyRule{Kind: trace.KeyPrefix, Depth: d})
			return share.Top(t.counts, 0)
		})}
	case h.InSessions > 0:
		return trace.KeyRule{Kind: trace.KeySession}
	}
	return trace.KeyRule{Kind: trace.KeyNone}
}

// assign numbers keys in order of their first arrival.
func (b *traceBuilder) assign(t *Trace, rule trace.KeyRule) {
	dense := map[uint64]int32{}
	t.hashes, t.counts = nil, nil
	for i := range b.rows {
		row := &b.rows[i]
		hash := b.keyOf(row, rule)
		key, ok := dense[hash]
		if !ok {
			key = int32(len(t.hashes))
			dense[hash] = key
			t.hashes = append(t.hashes, hash)
			t.counts = append(t.counts, 0)
		}
		row.key = key
		t.counts[key]++
	}
}

// keyOf is KeyRule.Hash for a row whose blocks are in the tree.
func (b *traceBuilder) keyOf(row *builtRow, rule trace.KeyRule) uint64 {
	switch {
	case rule.Kind == trace.KeyField:
		return row.stated
	case rule.Kind == trace.KeySession, rule.Kind == trace.KeyPrefix && !row.known:
		return row.session
	case rule.Kind == trace.KeyPrefix:
		n := row.leaf
		for int(b.tree.at(n).depth) > rule.Depth {
			n = b.tree.at(n).parent
		}
		return trace.PrefixKey(b.tree.at(n).hash)
	}
	return trace.PrefixKey(0)
}
