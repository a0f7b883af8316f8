package scenarios

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"cacheroute/calib"
	"cacheroute/engine"
	"cacheroute/policies"
	"cacheroute/results"
	"cacheroute/sim"
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// Cell names one run of a study.
type Cell struct {
	Policy  *Policy
	LoadQPS float64
	Seed    uint64
}

// Runner is a study made ready: its workload is built once and shared by all
// runs. It is immutable and safe for concurrent use.
type Runner struct {
	Study *Study
	// Notices is what the reader of the results should know about the inputs.
	Notices []string

	load    workload.Workload
	trace   *workload.Trace // load, if it is one
	counted *calib.Counters // of the servers that the trace is of; nil: not known
	inputs  []results.FileSum
	shadow  Shadow
}

// Prepare reads and builds what the study names. A study of a trace gets the
// loads of the given speeds; without speeds and loads it gets the recorded one.
func Prepare(s *Study, atSpeeds []float64) (*Runner, error) {
	r := &Runner{Study: s}
	if err := r.build(atSpeeds); err != nil {
		return nil, bad(err)
	}
	if err := r.sumInputs(); err != nil {
		return nil, bad(err)
	}
	if err := r.rehearse(); err != nil {
		return nil, bad(err)
	}
	return r, r.notice()
}

func (r *Runner) build(atSpeeds []float64) (err error) {
	if c, ok := r.Study.Fleet.Cost.Spec.(engine.CostFiles); ok {
		if err := c.Read(); err != nil {
			return err
		}
	}
	t := r.Study.Workload.Trace
	if t == nil {
		if s := r.Study; s.Measure.ByStage && len(s.LoadsQPS) == 0 {
			s.LoadsQPS = s.stageRates()
		}
		r.load, err = workload.NewSynthetic(r.Study.Workload.Synthetic.spec())
		return err
	}
	r.trace, err = t.read()
	if err != nil {
		return err
	}
	r.load = r.trace
	if len(r.Study.LoadsQPS) == 0 && len(atSpeeds) == 0 {
		atSpeeds = []float64{1}
	}
	if len(atSpeeds) > 0 {
		r.Study.LoadsQPS, err = speeds(r.trace, atSpeeds)
	}
	return err
}

// rehearse opens the workload and builds the policies at the lowest and highest
// load, so that what cannot run is refused before anything does.
func (r *Runner) rehearse() error {
	s := r.Study
	streams := clock.Streams{Seed: s.Seeds[0]}
	for _, q := range []float64{slices.Min(s.LoadsQPS), slices.Max(s.LoadsQPS)} {
		if _, err := r.load.Open(r.offered(q), streams); err != nil {
			return fmt.Errorf("%s: at %v requests/s: %w", s.Name, q, err)
		}
		for i := range s.Policies {
			if _, err := r.policy(Cell{&s.Policies[i], q, s.Seeds[0]}, streams); err != nil {
				return fmt.Errorf("%s: at %v requests/s: %w", s.Name, q, err)
			}
		}
	}
	return nil
}

// sumInputs hashes the files that were read. A trace was hashed while it was.
func (r *Runner) sumInputs() error {
	if r.trace != nil {
		h := r.trace.Header()
		info, err := os.Stat(h.Path)
		if err != nil {
			return err
		}
		r.inputs = []results.FileSum{{Name: h.Path, Bytes: info.Size(), SHA256: h.SHA256, Requests: h.Requests}}
	}
	if preset := r.Study.Fleet.Preset; calib.IsFile(preset) {
		sum, err := results.SumFile(preset, preset)
		if err != nil {
			return err
		}
		r.inputs = append(r.inputs, sum)
	}
	for _, f := range r.Study.files() {
		if r.trace != nil && f == &r.Study.Workload.Trace.File {
			continue
		}
		sum, err := results.SumFile(*f, *f)
		if err != nil {
			return err
		}
		r.inputs = append(r.inputs, sum)
	}
	return nil
}

// notice gathers what a reader should know before believing a number.
func (r *Runner) notice() error {
	p, err := calib.Load(r.Study.Fleet.Preset)
	if err != nil {
		return err
	}
	if p.Count()[results.Fitted] > 0 {
		origins, err := r.Study.originCounts()
		if err != nil {
			return err
		}
		r.Notices = append(r.Notices, fmt.Sprintf("preset %s: %s (numbers of the fleet: %s)", p.Name, p.Description, origins))
	}
	if p.KVEstimate != "" && p.Blocks == r.Study.Fleet.KVBlocks {
		r.Notices = append(r.Notices, fmt.Sprintf("preset %s: kv_blocks %d: %s", p.Name, p.Blocks, p.KVEstimate))
	}
	if ms := 1e3 * calib.PrefillSecondsPerToken(r.Study.Fleet.Cost.Spec.Build()); ms < p.PeakPrefillMS {
		r.Notices = append(r.Notices, fmt.Sprintf("fleet.cost: %.3g ms a prompt token is faster than the hardware of preset %s can be (%.3g ms): hits will save too little",
			ms, p.Name, p.PeakPrefillMS))
	}
	return r.doubts()
}

// Cells is the number of runs.
func (r *Runner) Cells() int {
	return len(r.Study.Policies) * len(r.Study.LoadsQPS) * len(r.Study.Seeds)
}

// Cell returns the i-th run: by policy, then load, then seed, each in the
// study's order.
func (r *Runner) Cell(i int) Cell {
	s := r.Study
	seeds, loads := len(s.Seeds), len(s.LoadsQPS)
	return Cell{Policy: &s.Policies[i/seeds/loads], LoadQPS: s.LoadsQPS[i/seeds%loads], Seed: s.Seeds[i%seeds]}
}

// Run simulates one cell. The result depends on study and cell alone. The cells
// of the study's first seed have a profile, the others nil. each, if not nil, is
// told of every request as it ends.
func (r *Runner) Run(ctx context.Context, c Cell, tally *Tally, each func(*results.Record)) (results.Cell, *results.Profile, error) {
	s := r.Study
	streams := clock.Streams{Seed: c.Seed}
	source, err := r.load.Open(r.offered(c.LoadQPS), streams)
	if err != nil {
		return results.Cell{}, nil, err
	}
	source = s.Measure.warmed(source, c.LoadQPS)
	policy, err := r.policy(c, streams)
	if err != nil {
		return results.Cell{}, nil, err
	}
	window, end := r.window(c)
	collector := results.NewCollector(window, r.load.Keys(), s.Fleet.Destinations, r.room(c.LoadQPS))
	if s.Measure.ByStage {
		collector.UntilDrained()
	}
	if s.Measure.HitsOf == hitsServed {
		collector.HitsServed()
	}
	if interval, edge := s.interval(); edge > 0 {
		collector.ByInterval(interval, edge)
	}
	if r.Profiled(c) {
		collector.ByDestination()
	}
	if r.trace != nil && !r.trace.HitsKnown() {
		collector.HitsUnknown()
	}
	counted := &countedSource{source: source, ctx: ctx, tally: tally}
	source = counted
	if closed, ok := counted.source.(workload.Closed); ok {
		source = &closedSource{counted, closed}
	}
	out, err := sim.Run(sim.Config{
		Destinations:   s.Fleet.Destinations,
		Engine:         s.Fleet.Engine(),
		TTFTOverhead:   clock.FromSeconds(s.Fleet.TTFTOverheadS),
		ClientOverhead: clock.FromSeconds(s.Fleet.ClientOverheadS),
		Source:         source,
		Policy:         policy,
		SignalInterval: clock.FromSeconds(s.Fleet.SignalIntervalS),
		Deadline:       clock.FromSeconds(s.Measure.DeadlineS),
		End:            end,
		Collector:      collector,
		Each:           each,
	})
	counted.report()
	if ctx.Err() != nil {
		return results.Cell{}, nil, ctx.Err()
	}
	if err != nil {
		return results.Cell{}, nil, fmt.Errorf("%s at %v requests/s, seed %d: %w", c.Policy.Label, c.LoadQPS, c.Seed, err)
	}
	cell := collector.Cell(out.Totals)
	cell.Policy, cell.LoadQPS, cell.Seed = c.Policy.Label, c.LoadQPS, c.Seed
	cell.Fingerprint = fmt.Sprintf("%016x", out.Fingerprint)
	cell.SetAsked(r.load.Asked(c.LoadQPS))
	if planned, ok := policy.(interface{ Table() *policies.Table }); ok {
		cell.Warnings = append(cell.Warnings, planned.Table().Warnings(r.keyName)...)
	}
	noteDrift(&cell, policy)
	if !r.Profiled(c) {
		return cell, nil, nil
	}
	profile := collector.Profile(s.Measure.SLOs, out.Totals)
	return cell, &profile, nil
}

// policy builds the policy of a cell from what a router could know.
func (r *Runner) policy(c Cell, streams clock.Streams) (policies.Policy, error) {
	rates, err := r.planRates(c)
	if err != nil {
		return nil, err
	}
	env := policies.Env{
		Destinations:           r.Study.Fleet.Destinations,
		KeyHashes:              r.load.KeyHashes(),
		Rates:                  rates,
		PrefillSecondsPerToken: calib.PrefillSecondsPerToken(r.Study.Fleet.Cost.Spec.Build()),
		Rand:                   streams.Rand("policy"),
		HashSeed:               clock.Streams{Seed: cmp.Or(r.Study.Fleet.HashSeed, c.Seed)}.Uint64("policy/hash"),
	}
	r.drift(&env, r.offered(c.LoadQPS))
	p, err := c.Policy.Spec.Build(env)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", c.Policy.Label, err)
	}
	return p, nil
}

// Trace is the recorded workload, nil if it is generated.
func (r *Runner) Trace() *workload.Trace { return r.trace }

// window is the measured part of a run, and end the instant at which its
// arrivals are closed.
func (r *Runner) window(c Cell) (w results.Window, end clock.Time) {
	if p, ok := r.shadow.Parts[c.Seed]; ok {
		return r.part(p, c.LoadQPS)
	}
	m := &r.Study.Measure
	if m.ByStage {
		return r.Study.stageWindow(c.LoadQPS), clock.Never
	}
	w = m.window()
	return w, w.To
}

// requests is about how many requests arrive in a span at the given load.
func (r *Runner) requests(qps, seconds float64) float64 {
	if r.trace != nil {
		return float64(r.trace.Header().RowsKept)
	}
	if r.Study.Measure.ByStage {
		return r.Study.staged().Requests()
	}
	return qps * seconds
}

// room is how many measured requests to make room for.
func (r *Runner) room(qps float64) int {
	const most = 1 << 22 // beyond, the collector grows as it goes
	return int(min(most, 1.1*r.requests(qps, r.Study.Measure.DurationS)+100))
}

// Tally counts what is done while a sweep runs, for whoever shows progress.
type Tally struct {
	Part     string       // what the cells are a part of; set before the sweep
	Cells    atomic.Int64 // to run
	Done     atomic.Int64
	Expected atomic.Int64 // about how many requests the cells to run have
	Requests atomic.Int64 // simulated so far
	Current  atomic.Pointer[Cell]
}

// countedSource tells the tally how far a run is and ends it when the context
// does. It looks up once in tallyEvery requests.
type countedSource struct {
	source workload.Source
	ctx    context.Context
	tally  *Tally
	n      int64
}

const tallyEvery = 1 << 10

func (s *countedSource) Next(r *workload.Request) bool {
	if s.n == tallyEvery {
		s.report()
		if s.ctx.Err() != nil {
			return false
		}
	}
	if !s.source.Next(r) {
		return false
	}
	s.n++
	return true
}

// closedSource is a countedSource of a closed loop.
type closedSource struct {
	*countedSource
	closed workload.Closed
}

// Next implements workload.Source: what NextAt has announced must come.
func (s *closedSource) Next(r *workload.Request) bool {
	if s.n == tallyEvery {
		s.report()
	}
	s.n++
	return s.closed.Next(r)
}

// NextAt implements workload.Closed. Nothing arrives once the context has ended.
func (s *closedSource) NextAt() clock.Time {
	if s.ctx.Err() != nil {
		return clock.Never
	}
	return s.closed.NextAt()
}

// Ended implements workload.Closed.
func (s *closedSource) Ended(r *workload.Request, at clock.Time) { s.closed.Ended(r, at) }

func (s *countedSource) report() {
	s.tally.Requests.Add(s.n)
	s.n = 0
}
