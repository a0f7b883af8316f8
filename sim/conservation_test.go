package sim_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"cacheroute/engine"
	"cacheroute/policies"
	"cacheroute/results"
	"cacheroute/sim"
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// corrupt is a destination that changes what the engine reports.
type corrupt struct {
	engine.Destination
	finish func([]engine.Outcome) []engine.Outcome
	check  error
}

func (c *corrupt) Finish(now clock.Time, out []engine.Outcome) []engine.Outcome {
	out = c.Destination.Finish(now, out)
	if c.finish != nil {
		out = c.finish(out)
	}
	return out
}

func (c *corrupt) Check() error { return errors.Join(c.Destination.Check(), c.check) }

// onceAt changes the n-th outcome of a kind.
func onceAt(n int, kind engine.OutcomeKind, change func(o engine.Outcome) []engine.Outcome) func([]engine.Outcome) []engine.Outcome {
	return func(out []engine.Outcome) []engine.Outcome {
		var changed []engine.Outcome
		for _, o := range out {
			if o.Kind == kind {
				if n--; n == 0 {
					changed = append(changed, change(o)...)
					continue
				}
			}
			changed = append(changed, o)
		}
		return changed
	}
}

// Every way to lose, double or falsify a request makes the run fail: an error
// or, where a broken count is met on the way, a panic.
func TestConservationCanFail(t *testing.T) {
	const fine = ""
	lose := func(engine.Outcome) []engine.Outcome { return nil }
	double := func(o engine.Outcome) []engine.Outcome { return []engine.Outcome{o, o} }
	edit := func(change func(j *engine.Job)) func(engine.Outcome) []engine.Outcome {
		return func(o engine.Outcome) []engine.Outcome {
			change(o.Job)
			return []engine.Outcome{o}
		}
	}
	for _, c := range []struct {
		name   string
		want   string
		finish func([]engine.Outcome) []engine.Outcome
		check  error
		policy func(c *results.Collector, r *workload.Request)
		each   func(c *results.Collector, r *results.Record)
	}{
		{name: "nothing", want: fine},
		{name: "completion lost", want: "10 requests arrived, 9 ended, 1 are open", finish: onceAt(4, engine.Completed, lose)},
		{name: "completion twice", want: "ended", finish: onceAt(4, engine.Completed, double)},
		{name: "last completion twice", want: "ended", finish: onceAt(10, engine.Completed, double)},
		{name: "first token lost", want: "conservation", finish: onceAt(4, engine.FirstToken, lose)},
		{name: "completed too early", want: "contradict", finish: onceAt(4, engine.Completed, edit(func(j *engine.Job) { j.Emitted-- }))},
		{name: "more hits than prompt", want: "contradict", finish: onceAt(4, engine.Completed, edit(func(j *engine.Job) { j.Hit[workload.Turn] = 1000 }))},
		{name: "completed without admission", want: "contradict", finish: onceAt(4, engine.Completed, edit(func(j *engine.Job) { j.Admitted = false }))},
		{name: "blocks leaked", want: "destination 0: leak", check: errors.New("leak")},
		{name: "collector misses an end", want: "11 requests arrived, 10 ended", policy: func(c *results.Collector, r *workload.Request) {
			if r.Index == 3 {
				c.Arrived(r)
			}
		}},
		{name: "collector counts an end twice", want: "10 requests arrived, 11 ended", each: func(c *results.Collector, r *results.Record) {
			if r.Index == 3 {
				c.Add(r)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := tenRequests(c.finish, c.check)
			if c.policy != nil {
				cfg.Policy = &nosy{route: func(r *workload.Request, _ *policies.View) int {
					c.policy(cfg.Collector, r)
					return 0
				}}
			}
			if c.each != nil {
				cfg.Each = func(r *results.Record) { c.each(cfg.Collector, r) }
			}
			err := outcomeOf(cfg)
			switch {
			case c.want == fine && err != nil:
				t.Errorf("the run fails: %v", err)
			case c.want != fine && err == nil:
				t.Error("the run passes")
			case c.want != fine && !strings.Contains(err.Error(), c.want):
				t.Errorf("the run fails for another reason than %q: %v", c.want, err)
			default:
				t.Log(err)
			}
		})
	}
}

// tenRequests is a run over one corrupt destination.
func tenRequests(finish func([]engine.Outcome) []engine.Outcome, check error) sim.Config {
	var requests []workload.Request
	for i := range 10 {
		requests = append(requests, ask(clock.Time(1+12*i), 10, 3))
	}
	return sim.Config{
		Engine: lone(40), Source: &script{requests: numbered(requests...)},
		Collector:      results.NewCollector(results.Window{To: clock.Never}, 1, 1, 0),
		NewDestination: func(e engine.Config) engine.Destination { return &corrupt{engine.New(e), finish, check} },
	}
}

// outcomeOf is the error or the panic of a run.
func outcomeOf(cfg sim.Config) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	_, err = tryReplay(cfg)
	return err
}

// A policy or a source that breaks its contract is stopped at once.
func TestBrokenContractsPanic(t *testing.T) {
	for name, c := range map[string]struct {
		requests []workload.Request
		route    int
	}{
		"choice beyond the fleet": {[]workload.Request{ask(0, 5, 1)}, 1},
		"choice below zero":       {[]workload.Request{ask(0, 5, 1)}, -1},
		"arrival in the past":     {[]workload.Request{ask(9, 5, 1), ask(8, 5, 1)}, 0},
		"empty prompt":            {[]workload.Request{ask(0, 0, 1)}, 0},
		"no output":               {[]workload.Request{ask(0, 5, 0)}, 0},
	} {
		cfg := sim.Config{Engine: lone(40), Source: &script{requests: numbered(c.requests...)}}
		cfg.Policy = &nosy{route: func(*workload.Request, *policies.View) int { return c.route }}
		if err := outcomeOf(cfg); err == nil || !strings.HasPrefix(err.Error(), "panic: sim: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Bad configurations are refused before anything runs.
func TestRunRefusesBadConfigurations(t *testing.T) {
	good := func() sim.Config {
		return sim.Config{
			Destinations: 1, Engine: lone(40), Source: &script{}, Policy: byKey{}, End: clock.Second,
			Collector: results.NewCollector(results.Window{To: clock.Never}, 1, 1, 0),
		}
	}
	if _, err := sim.Run(good()); err != nil {
		t.Errorf("a good configuration is refused: %v", err)
	}
	for _, c := range []struct {
		want  string
		spoil func(*sim.Config)
	}{
		{"destinations: ", func(c *sim.Config) { c.Destinations = 0 }},
		{"source", func(c *sim.Config) { c.Source = nil }},
		{"policy", func(c *sim.Config) { c.Policy = nil }},
		{"collector", func(c *sim.Config) { c.Collector = nil }},
		{"span of the run is negative", func(c *sim.Config) { c.TTFTOverhead = -1 }},
		{"span of the run is negative", func(c *sim.Config) { c.ClientOverhead = -1 }},
		{"span of the run is negative", func(c *sim.Config) { c.SignalInterval = -1 }},
		{"span of the run is negative", func(c *sim.Config) { c.Deadline = -1 }},
		{"span of the run is negative", func(c *sim.Config) { c.Limit = -1 }},
		{"must have an end", func(c *sim.Config) { c.End = 0 }},
		{"deadline: ", func(c *sim.Config) { c.Deadline, c.TTFTOverhead = 5, 5 }},
		{"block_tokens: ", func(c *sim.Config) { c.Engine.BlockTokens = 0 }},
		{"kv_blocks: ", func(c *sim.Config) { c.Engine.Blocks = -1 }},
		{"max_num_batched_tokens: ", func(c *sim.Config) { c.Engine.MaxBatchedTokens = 7 }},
		{"max_num_seqs: ", func(c *sim.Config) { c.Engine.MaxSeqs = 0 }},
		{"cost: ", func(c *sim.Config) { c.Engine.Cost = nil }},
	} {
		cfg := good()
		c.spoil(&cfg)
		if _, err := sim.Run(cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("wanted an error about %q, got %v", c.want, err)
		}
	}
}
