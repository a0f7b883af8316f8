package calib

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// or fills in what f does not know.
func (f Facts) or(g Facts) Facts {
	if f.LengthRatio == 0 {
		f.LengthRatio = g.LengthRatio
	}
	if f.RequestsPerClient == 0 {
		f.RequestsPerClient = g.RequestsPerClient
	}
	if f.Waiting < 0 {
		f.Waiting = g.Waiting
	}
	f.OnePrompt = f.OnePrompt || g.OnePrompt
	f.NoPrefixCaching = f.NoPrefixCaching || g.NoPrefixCaching
	return f
}

// choose picks the runs of the preset's setup. Where there are none it gives up
// the fields that matter least, one by one, and warns.
func (v *Validation) choose(p *Preset, b *Bench, want Setup) (Group, error) {
	of := p.Bench.Setup
	asked := want
	want = want.or(of)
	for _, give := range []func(){
		func() {},
		func() { want.EngineVersion = asked.EngineVersion },
		func() { want.Engine, want.Precision = asked.Engine, asked.Precision },
		func() { want.GPU = asked.GPU },
		func() { want = asked },
	} {
		give()
		groups, err := b.Groups(want)
		if err != nil {
			continue
		}
		if len(groups) > 1 {
			_, err = b.Groups(Setup{Model: "one of them, chosen with --only"}) // lists them
			return Group{}, badBench("%s: %d setups fit preset %s; %v", b.File, len(groups), p.Name, err)
		}
		v.warnOfSetup(p.Name, of, groups[0].Setup)
		return groups[0], nil
	}
	_, err := b.Groups(asked)
	return Group{}, err
}

// or fills in what s does not say.
func (s Setup) or(t Setup) Setup {
	s.Model, s.Engine = cmp.Or(s.Model, t.Model), cmp.Or(s.Engine, t.Engine)
	s.EngineVersion, s.GPU = cmp.Or(s.EngineVersion, t.EngineVersion), cmp.Or(s.GPU, t.GPU)
	s.Precision, s.TensorParallel = cmp.Or(s.Precision, t.Precision), cmp.Or(s.TensorParallel, t.TensorParallel)
	return s
}

// warnOfSetup tells what differs between the preset and the runs.
func (v *Validation) warnOfSetup(preset string, of, rows Setup) {
	if of == (Setup{}) {
		v.Warnings = append(v.Warnings, fmt.Sprintf("preset %s does not say of which model and hardware it is; the runs are of %s", preset, rows))
		return
	}
	var unsaid []string
	ran := rows.fields()
	for i, f := range of.fields() {
		switch said := ran[i].value; {
		case f.value == "":
		case said == "":
			unsaid = append(unsaid, f.column)
		case !strings.EqualFold(modelName(said), modelName(f.value)) || f.column != "model" && !strings.EqualFold(said, f.value):
			v.Warnings = append(v.Warnings, fmt.Sprintf("preset %s is for %s %s, the runs say %q", preset, f.column, f.value, said))
		}
	}
	if unsaid != nil {
		v.Warnings = append(v.Warnings, fmt.Sprintf("the runs do not say %s: they are taken for those of the preset (--describe says it)", strings.Join(unsaid, ", ")))
	}
}

// markKVBound tells of the measured runs which wait for KV blocks: those whose
// TTFT grows far more than their clients, from the largest run of the shape that
// does not wait. For the smallest run of a shape, which has none to be held
// against, the simulation must say so too.
func (v *Validation) markKVBound() {
	last := map[Shape]*Check{}
	for _, i := range v.byClients() {
		c := &v.Rows[i]
		before := last[c.row.Shape()]
		if before != nil {
			c.Measured.KVBound = c.row.TTFTMean > ttftJump*before.row.TTFTMean*float64(c.Concurrency)/float64(before.Concurrency)
		} else {
			c.Measured.KVBound = c.Simulated.KVBound && c.row.TTFTMean > ttftJump*c.free
		}
		if !c.Measured.KVBound {
			last[c.row.Shape()] = c
		}
	}
}

func (v *Validation) byClients() []int {
	order := make([]int, len(v.Rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v.Rows[a].Concurrency, v.Rows[b].Concurrency) })
	return order
}

// contradiction is how much less a run's TPOT may be than that of a run with
// less to do.
const contradiction = 0.9

// markContradictions finds runs that cannot be of the same setup as the others:
// they take less time a token although they have more to do. Of two runs that
// contradict each other the one with more contradictions is the odd one.
func (v *Validation) markContradictions() {
	odd := map[int]bool{}
	for {
		against := make([]int, len(v.Rows))
		worst := 0
		for i := range v.Rows {
			for j := range v.Rows {
				if !odd[i] && !odd[j] && v.Rows[i].contradicts(v.Rows[j]) {
					against[i]++
					against[j]++
				}
			}
		}
		for i := range against {
			if against[i] > against[worst] {
				worst = i
			}
		}
		if len(v.Rows) == 0 || against[worst] < 2 {
			break
		}
		odd[worst] = true
	}
	for i := range v.Rows {
		for j := range v.Rows {
			if odd[i] && !odd[j] && (v.Rows[i].contradicts(v.Rows[j]) || v.Rows[j].contradicts(v.Rows[i])) {
				v.Rows[i].Contradicts = append(v.Rows[i].Contradicts, v.Rows[j].Line)
			}
		}
	}
}

// contradicts tells whether c is faster than a run that has no more to do.
func (c Check) contradicts(less Check) bool {
	return !c.Measured.KVBound && !less.Measured.KVBound && c.Concurrency >= less.Concurrency && c.Input >= less.Input &&
		c.Output <= less.Output && c.row.TPOTMean < contradiction*less.row.TPOTMean
}
