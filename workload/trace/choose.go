package trace

import (
	"context"
	"fmt"

	"cacheroute/workload/lines"
)

// Reasons of the rows that are left out as asked.
const (
	outsideWindow = "outside the window"
	thinnedOut    = "key not kept"
)

// chooser keeps a window of a trace, and whole keys of it.
type chooser struct {
	h        *Header
	windowed bool
	from, to int64 // microseconds of the recording
	thinned  bool
	most     uint64 // a key is kept if its hash with the seed is below
	seed     uint64
	rule     KeyRule
	chains   []uint64
}

// prepare reads the file a first time where the choice needs it: a window
// begins at the earliest arrival, and automatic keys need the whole trace.
func (c *chooser) prepare(ctx context.Context, r *Reader, again func() (*lines.Reader, error)) error {
	o := &r.opt
	rule, err := ParseKey(o.Key)
	if err != nil {
		return err
	}
	*c = chooser{h: &r.header, windowed: o.From > 0 || o.To > 0, thinned: o.Keep > 0 && o.Keep < 1, seed: o.Seed, rule: rule}
	if c.thinned {
		c.most = uint64(o.Keep * (1 << 63) * 2)
	}
	if !c.windowed && !(c.thinned && rule.Kind == KeyAuto) {
		return nil
	}
	in, err := again()
	if err != nil {
		return err
	}
	all := *o
	all.From, all.To, all.Keep, all.Format, all.Force = 0, 0, 0, r.header.Format, true
	first := &Reader{opt: all, in: in}
	defer first.Close()
	if err := first.begin(all); err != nil {
		return err
	}
	stats, err := first.Stats(ctx)
	if err != nil {
		return err
	}
	c.from = stats.earliest + int64(o.From*1e6)
	c.to = stats.earliest + int64(o.To*1e6)
	if o.To == 0 {
		c.to = maxMicros
	}
	if rule.Kind == KeyAuto {
		c.rule = stats.Rule(&first.header)
	}
	if c.windowed {
		r.header.note("only requests from %.6g s to %s after the first arrival are read; what came before it is not in the caches", o.From, endWords(o.To))
	}
	return nil
}

func endWords(to float64) string {
	if to == 0 {
		return "the end"
	}
	return fmt.Sprintf("%.6g s", to)
}

// judge returns why a row is left out, if it is.
func (c *chooser) judge(r *Row) string {
	if c.windowed && (r.At < c.from || r.At >= c.to) {
		return outsideWindow
	}
	if c.thinned {
		c.chains = c.h.Chains(r, c.chains[:0])
		if Chain(c.rule.Hash(r, c.chains), 0, c.seed) >= c.most {
			return thinnedOut
		}
	}
	return ""
}
