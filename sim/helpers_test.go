package sim_test

import (
	"slices"

	"pgregory.net/rapid"

	"cacheroute/engine"
	"cacheroute/policies"
	"cacheroute/results"
	"cacheroute/sim"
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// price is a linear cost model with coefficients in picoseconds.
func price(base, sequence, context, prefill, attention float64) engine.CostModel {
	const ps = 1e-9 // in milliseconds
	l := engine.Linear{
		BaseMS: base * ps, SequenceMS: sequence * ps, ContextMS: context * ps,
		PrefillMS: prefill * ps, AttentionMS: attention * ps,
	}
	return l.Build()
}

// lone is a destination of the given number of blocks of 4 tokens with a price
// that only counts steps and prompt tokens: 10 ps and 1 ps.
func lone(blocks int) engine.Config {
	return engine.Config{BlockTokens: 4, Blocks: blocks, MaxBatchedTokens: 64, MaxSeqs: 8, Cost: price(10, 0, 0, 1, 0)}
}

// ask is a request with a unique prompt.
func ask(at clock.Time, prompt, output int32) workload.Request {
	r := workload.Request{At: at}
	r.Append(0, workload.Turn, prompt)
	r.SetOutput(0, output)
	return r
}

// numbered gives the requests their places as indices.
func numbered(requests ...workload.Request) []workload.Request {
	for i := range requests {
		requests[i].Index = int64(i)
	}
	return requests
}

// history is what a run leaves.
type history struct {
	records     []results.Record // by index
	fingerprint uint64
	totals      results.FleetTotals
	cell        results.Cell
}

// replay runs a configuration, with the missing parts filled in, to the end.
func replay(t rapid.TB, cfg sim.Config) history {
	t.Helper()
	h, err := tryReplay(cfg)
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	return h
}

func tryReplay(cfg sim.Config) (history, error) {
	const keys = 100
	if cfg.Destinations == 0 {
		cfg.Destinations = 1
	}
	if cfg.Policy == nil {
		cfg.Policy = byKey{}
	}
	if cfg.End == 0 {
		cfg.End = clock.Never
	}
	if cfg.Collector == nil {
		cfg.Collector = results.NewCollector(results.Window{To: clock.Never}, keys, cfg.Destinations, 0)
	}
	var h history
	each := cfg.Each
	cfg.Each = func(r *results.Record) {
		h.records = append(h.records, *r)
		if each != nil {
			each(r)
		}
	}
	res, err := sim.Run(cfg)
	if err != nil {
		return h, err
	}
	slices.SortFunc(h.records, func(a, b results.Record) int { return int(a.Index - b.Index) })
	h.fingerprint, h.totals, h.cell = res.Fingerprint, res.Totals, cfg.Collector.Cell(res.Totals)
	return h, nil
}

// nosy is a policy that tells what it is asked and told.
type nosy struct {
	route func(r *workload.Request, v *policies.View) int
	first func(r *workload.Request, destination int, now clock.Time)
	done  func(r *workload.Request, destination int, now clock.Time)
}

func (p *nosy) Route(r *workload.Request, v *policies.View) int {
	if p.route == nil {
		return 0
	}
	return p.route(r, v)
}

// Looks implements policies.Insider for those policies inside that need it.
func (p *nosy) Looks() {}

func (p *nosy) FirstToken(r *workload.Request, d int, now clock.Time) {
	if p.first != nil {
		p.first(r, d, now)
	}
}

func (p *nosy) Done(r *workload.Request, d int, now clock.Time) {
	if p.done != nil {
		p.done(r, d, now)
	}
}
