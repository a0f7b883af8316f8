package scenarios

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"cacheroute/results"
)

// CompareOptions say how two results are compared.
type CompareOptions struct {
	Pairs    []string // of policies, "of A=of B"; none: those of equal name
	Unpaired bool     // seeds are no pairs
}

// side is one of the two results.
type side struct {
	dir    string
	report *results.Report
	study  *yaml.Node // study.yaml, input files by their sums
}

// Compare reads two folders of results and compares them. It refuses, and says
// why, what cannot be compared.
func Compare(dirA, dirB string, o CompareOptions) (*results.Comparison, error) {
	if sameFile(dirA, dirB) && o.Pairs == nil {
		return nil, Badf("%s and %s: identical, use --pair X=Y to compare two policies of one result", dirA, dirB)
	}
	a, err := readSide(dirA)
	if err != nil {
		return nil, err
	}
	b, err := readSide(dirB)
	if err != nil {
		return nil, err
	}
	c := &results.Comparison{A: a.about(), B: b.about(), Differences: differences(a, b), LeftOut: []string{}}
	if err := pairable(c, o, a.requests() != "" && a.requests() == b.requests()); err != nil {
		return nil, err
	}
	sel := results.Selection{Paired: !o.Unpaired}
	out := &leftOut{a: a, b: b}
	if sel.Policies, err = out.policies(o.Pairs); err != nil {
		return nil, err
	}
	sel.Loads = shared(out, "loads", a.loads(), b.loads())
	if sel.Paired {
		sel.Seeds = shared(out, "seeds", a.seeds(), b.seeds())
	}
	if len(sel.Loads) == 0 {
		return nil, Badf("no load in common: A has %s, B has %s", joined(a.loads()), joined(b.loads()))
	}
	if sel.Paired && len(sel.Seeds) == 0 {
		return nil, Badf("no seed in common: A has %s, B has %s; --unpaired compares the means", joined(a.seeds()), joined(b.seeds()))
	}
	if err := out.sameRequests(sel); err != nil {
		return nil, err
	}
	sel.SLOs = out.objectives()
	c.Compare(&a.report.Summary, &b.report.Summary, sel)
	if len(c.Rows) == 0 {
		return nil, Badf("no cell in common: the policies have no load and seeds that both have run")
	}
	c.LeftOut = append(c.LeftOut, out.notes...)
	return c, nil
}

// sameFile reports whether two paths lead to one folder.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && infoA.IsDir() && os.SameFile(infoA, infoB)
}

func readSide(dir string) (*side, error) {
	report, err := results.ReadReport(dir)
	if err != nil {
		return nil, bad(err)
	}
	d, err := parse(filepath.Join(dir, studyFile), []byte(report.Study))
	if err != nil {
		return nil, err
	}
	eachFile(d.root, func(path string) string {
		if in := inputOf(report.Manifest.Inputs, path); in != nil {
			return fmt.Sprintf("%s (sha256 %.12s)", filepath.Base(path), in.SHA256)
		}
		return path
	})
	return &side{dir: dir, report: report, study: d.root}, nil
}

// inputOf is the input that a study names by its path, from the root; a manifest
// has the name that the user gave. Nil if that may be one of several.
func inputOf(inputs []results.FileSum, path string) *results.FileSum {
	var alike []*results.FileSum
	for i := range inputs {
		in := &inputs[i]
		if in.Name == path {
			return in
		}
		if filepath.Base(in.Name) == filepath.Base(path) {
			alike = append(alike, in)
		}
	}
	if len(alike) != 1 {
		return nil
	}
	return alike[0]
}

func (s *side) about() results.Side {
	m := &s.report.Manifest
	return results.Side{Dir: s.dir, Study: m.Study, Version: m.Version, Commit: m.Commit}
}

// requests names those of the recording that was replayed, empty if none was.
func (s *side) requests() string {
	for _, in := range s.report.Manifest.Inputs {
		if in.Requests != "" {
			return in.Requests
		}
	}
	return ""
}

func (s *side) loads() []float64 {
	var all []float64
	for i := range s.report.Summary.Cells {
		all = append(all, s.report.Summary.Cells[i].LoadQPS)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (s *side) seeds() []uint64 {
	var all []uint64
	for i := range s.report.Summary.Cells {
		all = append(all, s.report.Summary.Cells[i].Seed)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (s *side) policies() []string {
	var all []string
	for i := range s.report.Summary.Cells {
		if p := s.report.Summary.Cells[i].Policy; !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// differences lists what the two do not share, in the order of the studies.
func differences(a, b *side) []results.Difference {
	d := &differ{all: []results.Difference{}}
	d.compare("", a.study, b.study)
	ma, mb := &a.report.Manifest, &b.report.Manifest
	d.add("version", ma.Version, mb.Version)
	d.add("commit", ma.Commit, mb.Commit)
	d.add("go", ma.Go, mb.Go)
	return d.all
}

// differ gathers differences.
type differ struct{ all []results.Difference }

func (d *differ) add(field, a, b string) {
	if a != b {
		d.all = append(d.all, results.Difference{Field: field, A: a, B: b})
	}
}

// compare goes down where both have fields, of the same choice if it is one.
// Policies are told apart by their labels.
func (d *differ) compare(path string, a, b *yaml.Node) {
	switch {
	case path == "policies":
		d.add(path, flowText(labels(a)), flowText(labels(b)))
		for i, label := range labels(a).Content {
			for j, other := range labels(b).Content {
				if label.Value == other.Value {
					d.compare(path+"."+label.Value, a.Content[i], b.Content[j])
				}
			}
		}
	case a != nil && b != nil && a.Kind == yaml.MappingNode && b.Kind == yaml.MappingNode &&
		(path == "" || flowText(field(a, "name")) == flowText(field(b, "name"))):
		below := strings.TrimPrefix(path+".", ".")
		for i := 0; i+1 < len(a.Content); i += 2 {
			key := a.Content[i].Value
			d.compare(below+key, a.Content[i+1], field(b, key))
		}
		for i := 0; i+1 < len(b.Content); i += 2 {
			if key := b.Content[i].Value; field(a, key) == nil {
				d.compare(below+key, nil, b.Content[i+1])
			}
		}
	default:
		d.add(path, flowText(a), flowText(b))
	}
}

// labels are what results call the policies of a list.
func labels(n *yaml.Node) *yaml.Node {
	all := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for i := 0; n != nil && i < len(n.Content); i++ {
		known := names(n.Content[i])
		all.Content = append(all.Content, text(known[len(known)-1]))
	}
	return all
}

// flowText is a node on one line, empty if there is none.
func flowText(n *yaml.Node) string {
	if n == nil {
		return ""
	}
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return parameters(n)
}

// pairable refuses to pair the seeds of studies whose requests are not the same.
// Recordings that come to the same may be read from other files in other ways.
func pairable(c *results.Comparison, o CompareOptions, sameRecording bool) error {
	if o.Unpaired {
		return nil
	}
	b := &BadInput{}
	for _, d := range c.Differences {
		if sameRecording && strings.HasPrefix(d.Field, "workload.trace.") {
			continue
		}
		if strings.HasPrefix(d.Field, "workload") || d.Field == "measure.warmup_s" || d.Field == "measure.warmup_qps" || d.Field == "measure.settle_s" || d.Field == "measure.duration_s" {
			b.Lines = append(b.Lines, oneLine(fmt.Sprintf("%s: %s in A, %s in B", d.Field, orNothing(d.A), orNothing(d.B))))
		}
	}
	if b.Lines == nil {
		return nil
	}
	b.Lines = append(b.Lines, "so equal seeds are not the same requests and cannot be paired; --unpaired compares the means of the seeds (Welch)")
	return b
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

// leftOut gathers what is not compared.
type leftOut struct {
	a, b  *side
	notes []string
}

func (l *leftOut) note(format string, args ...any) {
	l.notes = append(l.notes, fmt.Sprintf(format, args...))
}

// shared returns what both have and notes what one has.
func shared[T comparable](l *leftOut, what string, a, b []T) []T {
	var both, onlyA, onlyB []T
	for _, x := range a {
		if slices.Contains(b, x) {
			both = append(both, x)
		} else {
			onlyA = append(onlyA, x)
		}
	}
	for _, x := range b {
		if !slices.Contains(a, x) {
			onlyB = append(onlyB, x)
		}
	}
	for i, only := range [][]T{onlyA, onlyB} {
		if len(only) > 0 {
			l.note("%s %s, which only %s has", what, joined(only), []string{"A", "B"}[i])
		}
	}
	return both
}

// policies pairs those of equal name, or as asked for.
func (l *leftOut) policies(asked []string) ([][2]string, error) {
	a, b := l.a.policies(), l.b.policies()
	var pairs [][2]string
	for _, pair := range asked {
		of, with, ok := strings.Cut(pair, "=")
		switch {
		case !ok:
			return nil, Badf("--pair %s: wanted a policy of A, =, a policy of B", pair)
		case !slices.Contains(a, of):
			return nil, Badf("--pair %s: A has no policy %s, wanted one of %s", pair, quote(of), list(a))
		case !slices.Contains(b, with):
			return nil, Badf("--pair %s: B has no policy %s, wanted one of %s", pair, quote(with), list(b))
		}
		pairs = append(pairs, [2]string{of, with})
	}
	if pairs != nil {
		return pairs, nil
	}
	for _, name := range shared(l, "policies", a, b) {
		pairs = append(pairs, [2]string{name, name})
	}
	if pairs == nil {
		return nil, Badf("no policy in common: A has %s, B has %s; --pair X=Y compares two of different names", list(a), list(b))
	}
	return pairs, nil
}

// sameRequests makes sure that equal loads and seeds are the same requests,
// which different programs may draw in different ways.
func (l *leftOut) sameRequests(sel results.Selection) error {
	if !sel.Paired {
		return nil
	}
	type cell struct {
		load float64
		seed uint64
	}
	type requests struct {
		n                                   int64
		qps, gapCV, gini, promptTok, answer results.Float
	}
	seen := map[cell]requests{}
	for _, s := range []*side{l.a, l.b} {
		for i := range s.report.Summary.Cells {
			c := &s.report.Summary.Cells[i]
			if !slices.Contains(sel.Loads, c.LoadQPS) || !slices.Contains(sel.Seeds, c.Seed) {
				continue
			}
			at, is := cell{c.LoadQPS, c.Seed}, requests{c.Requests, c.RealisedQPS, c.RealisedGapCV, c.RealisedGini, c.RealisedPromptTokens, c.RealisedOutputTokens}
			for _, f := range []*results.Float{&is.qps, &is.gapCV, &is.gini, &is.promptTok, &is.answer} {
				if !f.Finite() {
					*f = 0 // undefined for both, or the number of requests differs
				}
			}
			if was, ok := seen[at]; ok && was != is {
				return Badf("at %.6g requests/s, seed %d: %d requests in one and %d in the other, or others: not the same requests, as if the programs drew them in different ways; --unpaired compares the means",
					c.LoadQPS, c.Seed, was.n, is.n)
			}
			seen[at] = is
		}
	}
	return nil
}

// objectives are those for which both have a capacity on the same ladder.
func (l *leftOut) objectives() []float64 {
	of := func(s *side) (all []float64, failures string) {
		for i := range s.report.Summary.Capacity {
			r := &s.report.Summary.Capacity[i]
			if !slices.Contains(all, r.SLO) {
				all = append(all, r.SLO)
			}
			failures = fmt.Sprint(r.MaxFailureRate)
		}
		return all, failures
	}
	a, failuresA := of(l.a)
	b, failuresB := of(l.b)
	switch {
	case !slices.Equal(l.a.loads(), l.b.loads()):
		l.note("capacities, as the ladders of loads differ")
		return nil
	case failuresA != failuresB:
		l.note("capacities, as max_failure_rate differs (%s in A, %s in B)", failuresA, failuresB)
		return nil
	}
	both := shared(l, "objectives", a, b)
	if len(both) == 0 {
		l.note("capacities, as no objective is the same")
	}
	return both
}
