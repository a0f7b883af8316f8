package sweep

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"cacheroute/results"
	"cacheroute/scenarios"
)

// CollectOptions say how to make folders of results of a plan.
type CollectOptions struct {
	Out     string // folder; of several variants each has its own below it
	Partial bool   // with what there is
	Build   scenarios.Build
	Note    func(format string, args ...any)
	// Each is told of each folder.
	Each func(r *scenarios.Runner, s *results.Summary, dir string) error
}

// Collect makes the folder that a run on one machine would have made, for each
// variant. One variant at a time is in memory.
func Collect(dir string, o CollectOptions) error {
	p, err := Open(dir)
	if err != nil {
		return err
	}
	if err := p.sameCode(o.Build); err != nil {
		return err
	}
	ids, err := p.ids()
	if err != nil {
		return err
	}
	have, err := p.find(ids, Shard{0, 1}, true)
	if err != nil {
		return err
	}
	if err := p.whole(ids, have, o.Partial); err != nil {
		return err
	}
	damaged, err := p.damagedRequests(ids, have)
	if err != nil {
		return err
	}
	if len(damaged) > 0 {
		return scenarios.Badf("%s", p.damageWords(damaged))
	}
	for i := range p.Variants {
		v := &p.Variants[i]
		if err := p.collect(v, ids[:v.Cells], have, &o); err != nil {
			return err
		}
		ids = ids[v.Cells:]
	}
	return nil
}

// whole refuses results that lack cells, unless they may, and those that
// contradict each other.
func (p *Plan) whole(ids []id, have *found, partial bool) error {
	for _, files := range have.conflicts {
		return scenarios.Badf("%s: two results of a cell differ, in %s and %s: remove the file of the machine that is wrong", p.dir, files[0], files[1])
	}
	missing := len(have.missing(ids, Shard{0, 1}, false))
	without := len(have.missing(ids, Shard{0, 1}, true))
	switch {
	case without == len(ids):
		return scenarios.Badf("%s: no cell has a result: cacheroute sweep submit %s runs them", p.dir, p.dir)
	case without == 0 || partial:
		return nil
	case missing > 0:
		return scenarios.Badf("%s: %d of %d cells are missing and %d have failed: cacheroute sweep resume %s runs the missing ones, collect --partial does without",
			p.dir, missing, len(ids), without-missing, p.dir)
	}
	return scenarios.Badf("%s: %d of %d cells have failed: cacheroute sweep status %s says why, collect --partial does without", p.dir, without, len(ids), p.dir)
}

func (p *Plan) collect(v *PlanVariant, ids []id, have *found, o *CollectOptions) error {
	runner, err := p.reopen(v)
	if err != nil {
		return err
	}
	identity, err := runner.Identify(p.Code)
	if err != nil {
		return err
	}
	if runner.Cells() != len(ids) || identity(0) != string(ids[0][:]) {
		return p.changed(v)
	}
	cells, profiles, lost, err := read(runner, ids, have)
	if err != nil {
		return err
	}
	if len(cells) == 0 {
		o.Note("%s: no cell has a result", v.Label)
		return nil
	}
	if len(lost) > 0 {
		runner.Notices = append(runner.Notices, fmt.Sprintf("%d of %d cells are missing: %s", len(lost), len(ids), excerpt(lost)))
	}
	study := runner.Study
	summary := results.SummarisePart(study.Name, cells, study.LoadsQPS, len(study.Seeds), study.Measure.SLOs, study.Measure.MaxFailureRate)
	dir := filepath.Join(o.Out, v.Label)
	if err := runner.Collect(scenarios.SweepOptions{Dir: dir, Build: o.Build, Note: o.Note}, &summary, profiles, p.requestsOf(ids, have)); err != nil {
		return err
	}
	return o.Each(runner, &summary, dir)
}

// read returns the results of a variant in the order of its cells, reading each
// segment once, and names the cells that have none.
func read(runner *scenarios.Runner, ids []id, have *found) (cells []results.Cell, profiles []results.CellProfile, lost []string, err error) {
	got := make([]stored, len(ids))
	var order []int
	for i := range ids {
		if have.done(ids[i]) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := have.at[ids[i]], have.at[ids[j]]
		return cmp.Or(cmp.Compare(a.segment, b.segment), cmp.Compare(a.at, b.at))
	})
	for len(order) > 0 {
		segment, n := have.at[ids[order[0]]].segment, 1
		for n < len(order) && have.at[ids[order[n]]].segment == segment {
			n++
		}
		if err := have.readSegment(segment, order[:n], ids, got); err != nil {
			return nil, nil, nil, err
		}
		order = order[n:]
	}
	for i := range got {
		c := runner.Cell(i)
		if got[i].Cell == nil {
			lost = append(lost, fmt.Sprintf("%s at %v requests/s, seed %d", c.Policy.Label, c.LoadQPS, c.Seed))
			continue
		}
		cells = append(cells, *got[i].Cell)
		if got[i].Profile != nil {
			profiles = append(profiles, results.CellProfile{Policy: c.Policy.Label, LoadQPS: c.LoadQPS, Seed: c.Seed, Profile: *got[i].Profile})
		}
	}
	return cells, profiles, lost, nil
}

// readSegment reads the results of some cells from one segment.
func (a *found) readSegment(segment int, cells []int, ids []id, got []stored) error {
	f, err := os.Open(a.segments[segment])
	if err != nil {
		return err
	}
	defer f.Close()
	for _, i := range cells {
		if got[i], err = decode(f, a.at[ids[i]].record); err != nil {
			return err
		}
	}
	return nil
}
