package scenarios

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"cacheroute/policies"
)

// Bounds that keep a study from asking for absurd time or memory.
const (
	maxDestinations = 100_000
	maxCells        = 1_000_000
	maxRequests     = 1e9 // of one cell
	maxSpanS        = 1e6 // seconds; the clock ends after 9.2e6
)

var (
	studyName   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._=,-]{0,99}$`)
	policyLabel = regexp.MustCompile(`^[^\s,"'=.\x00-\x1f\x7f](?:[^,"'=.\x00-\x1f\x7f]{0,62}[^\s,"'=.\x00-\x1f\x7f])?$`)
)

// checker gathers mistakes as "path: what was read, what was wanted".
type checker struct{ mistakes []string }

func (c *checker) want(ok bool, format string, args ...any) {
	if !ok {
		c.mistakes = append(c.mistakes, fmt.Sprintf(format, args...))
	}
}

// under notes an error that starts with a parameter of the given parent.
func (c *checker) under(parent string, err error) {
	if err != nil {
		c.mistakes = append(c.mistakes, parent+"."+err.Error())
	}
}

// within notes a number outside lo..hi, NaN included.
func (c *checker) within(path string, x, lo, hi float64) {
	c.want(x >= lo && x <= hi, "%s: must be between %v and %v, got %v", path, lo, hi, x)
}

// Check returns nil or what is wrong with the study, one line a mistake, each
// beginning with the path of the field and a colon. It reads no file.
func (s *Study) Check() error {
	c := &checker{}
	c.want(studyName.MatchString(s.Name), "name: %s, wanted letters, digits, '.', '_', '-', '=' and ',', as it names a folder", quote(s.Name))
	c.want(strings.IndexFunc(s.Description, func(r rune) bool { return unprintable(r) && r != '\n' && r != '\t' }) < 0,
		"description: %s holds characters that cannot be seen, wanted text", quote(s.Description))
	s.checkFleet(c)
	s.checkWorkload(c)
	s.checkPolicies(c)
	s.checkLadder(c)
	s.checkMeasure(c)
	if c.mistakes == nil {
		return nil
	}
	return &BadInput{Lines: c.mistakes}
}

func (s *Study) checkFleet(c *checker) {
	f := &s.Fleet
	if f.Cost.Spec == nil {
		c.want(false, "fleet: missing, wanted destinations and preset")
		return
	}
	c.within("fleet.destinations", float64(f.Destinations), 1, maxDestinations)
	c.within("fleet.ttft_overhead_s", f.TTFTOverheadS, 0, 1000)
	c.within("fleet.client_overhead_s", f.ClientOverheadS, 0, 1000)
	c.within("fleet.signal_interval_s", f.SignalIntervalS, 0, maxSpanS)
	if err := f.Cost.Spec.Check(); err != nil {
		c.under("fleet.cost", err)
		return
	}
	cfg := f.Engine()
	if err := cfg.Check(); err != nil {
		c.under("fleet", err)
	}
}

func (s *Study) checkWorkload(c *checker) {
	if t := s.Workload.Trace; t != nil {
		c.want(t.File != "", "workload.trace.file: missing")
		o := t.Options()
		for _, err := range o.Check() {
			c.under("workload.trace", err)
		}
		c.under("workload.trace.prompt", t.Prompt.Check())
		return
	}
	if s.Workload.Synthetic.Keys.Spec == nil {
		c.want(false, "workload: missing, wanted keys, prompt and output_tokens, or a trace")
		return
	}
	if err := s.Workload.Synthetic.spec().Check(); err != nil {
		c.under("workload", err)
	}
}

func (s *Study) checkPolicies(c *checker) {
	c.want(len(s.Policies) > 0, "policies: empty list, wanted at least one of %s", listed(policies.Policies))
	seen := map[string]bool{}
	for i, p := range s.Policies {
		path := fmt.Sprintf("policies.%d", i)
		c.want(policyLabel.MatchString(p.Label), "%s.label: read %s, wanted up to 64 characters without commas, quotes, '=' and '.', at which --policies X,Y, --pair X=Y and --set policies.X.slots split", path, quote(p.Label))
		c.want(strings.IndexFunc(p.Label, unprintable) < 0, "%s.label: %s holds characters that cannot be seen, wanted text", path, quote(p.Label))
		c.want(!seen[p.Label], "%s: second policy called %s, wanted label: to tell them apart", path, quote(p.Label))
		seen[p.Label] = true
		if err := p.Spec.Check(); err != nil {
			c.under(path, err)
		}
	}
}

// checkLadder checks loads, seeds and how much they ask for.
func (s *Study) checkLadder(c *checker) {
	c.want(len(s.LoadsQPS) > 0 || s.Workload.Trace != nil || s.Measure.ByStage, "loads_qps: missing, wanted a list of requests per second")
	loads := map[float64]bool{}
	for i, q := range s.LoadsQPS {
		path := fmt.Sprintf("loads_qps.%d", i)
		c.within(path, q, 1e-6, 1e9)
		c.want(!loads[q], "%s: %v is listed twice", path, q)
		loads[q] = true
		requests := q * s.Measure.span(q)
		c.want(s.Workload.Trace != nil || !(requests > maxRequests), "%s: %.3g requests in a run, wanted at most %.0e", path, requests, maxRequests)
	}
	c.want(len(s.Seeds) > 0, "seeds: empty list, wanted at least one")
	seeds := map[uint64]bool{}
	for i, seed := range s.Seeds {
		c.want(!seeds[seed], "seeds.%d: %d is listed twice", i, seed)
		seeds[seed] = true
	}
	cells := float64(len(s.Policies)) * float64(max(1, len(s.LoadsQPS))) * float64(len(s.Seeds))
	c.want(cells <= maxCells, "loads_qps: %.0f cells (policies x loads x seeds), wanted at most %d", cells, maxCells)
}

func (s *Study) checkMeasure(c *checker) {
	m := &s.Measure
	c.within("measure.warmup_s", m.WarmupS, 0, maxSpanS)
	s.checkWarmup(c)
	c.want(m.HitsOf == "" || m.HitsOf == hitsArrived || m.HitsOf == hitsServed, "measure.hits_of: read %q, wanted arrived or served", m.HitsOf)
	c.within("measure.duration_s", m.DurationS, 0, maxSpanS)
	c.want(m.DurationS == 0 || !(m.DurationS < 1e-6), "measure.duration_s: must be at least a microsecond, got %v", m.DurationS)
	c.want(m.DurationS != 0 || s.Workload.Trace != nil || m.ByStage, "measure.duration_s: must be positive")
	c.within("measure.deadline_s", m.DeadlineS, 0, maxSpanS)
	c.want(m.DeadlineS <= 0 || m.DeadlineS > s.Fleet.TTFTOverheadS,
		"measure.deadline_s: %v is not above fleet.ttft_overhead_s = %v, every request would fail", m.DeadlineS, s.Fleet.TTFTOverheadS)
	c.want(len(m.SLOs) > 0, "measure.slo_ttft_p99_s: empty list, wanted at least one")
	seen := map[float64]bool{}
	for i, slo := range m.SLOs {
		path := fmt.Sprintf("measure.slo_ttft_p99_s.%d", i)
		c.want(slo > 0 && slo <= maxSpanS, "%s: must be positive and at most %v, got %v", path, maxSpanS, slo)
		c.want(!seen[slo], "%s: %v is listed twice", path, slo)
		seen[slo] = true
	}
	s.checkDrift(c)
	if m.ByStage {
		s.checkStages(c)
	}
	c.within("measure.max_failure_rate", m.MaxFailureRate, 0, 1)
}

// AllPolicies is every policy of the table with its defaults, the paper's six
// in the order of its Table 1, others after them.
func AllPolicies() []Policy {
	order := []string{"flat-lb", "sticky", "chwbl", "dualmap", "preble", "cacheroute"}
	for _, name := range slices.Sorted(maps.Keys(policies.Policies)) {
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	var all []Policy
	for _, name := range order {
		if build := policies.Policies[name]; build != nil {
			all = append(all, Policy{Choice[policies.Spec]{name, build()}, name})
		}
	}
	return all
}

// locate puts file and line before the mistakes that Check found.
func (d *document) locate(err error) error {
	var b *BadInput
	if !errors.As(err, &b) {
		return err
	}
	return listMistakes(len(b.Lines), func(i int) string {
		path, _, _ := strings.Cut(b.Lines[i], ": ")
		return d.place(path) + ": " + b.Lines[i]
	})
}

func list(names []string) string { return strings.Join(names, ", ") }
