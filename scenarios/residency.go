package scenarios

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"cacheroute/policies"
	"cacheroute/results"
	"cacheroute/scenarios/residency"
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// Residency compares the KV hit rates that package residency predicts with the
// simulated ones, on a grid of policies, loads and cache sizes.
type Residency struct {
	Study   string          `json:"study"`
	Seeds   int             `json:"seeds"`
	Rows    []ResidencyRow  `json:"rows"`
	Steady  ResidencyErrors `json:"steady"`   // a cache that has served for ever
	Window  ResidencyErrors `json:"window"`   // from an empty cache at the start of the run, in its window
	LeftOut []string        `json:"left_out"` // policies whose routing is not known beforehand
}

// ResidencyRow is one point of the grid, mean over the seeds. Hits are
// fractions of the prompt tokens.
type ResidencyRow struct {
	Policy    string        `json:"policy"`
	LoadQPS   float64       `json:"load_qps"`
	KVBlocks  int           `json:"kv_blocks"`
	TimeS     results.Float `json:"characteristic_time_s"` // shortest of a destination
	Simulated results.Float `json:"simulated"`
	Steady    results.Float `json:"steady"`
	Window    results.Float `json:"window"`
}

// ResidencyErrors is how far a prediction lies from the simulated hits, in
// points, and how well it orders the points of the grid (Kendall's tau).
type ResidencyErrors struct {
	MedianPoints results.Float `json:"median_points"`
	P90Points    results.Float `json:"p90_points"`
	Tau          results.Float `json:"tau"`
}

// Residency runs the study with each number of KV blocks and predicts it. Hits
// are of what arrives in the window, whatever the study says, as the prediction
// is.
func (r *Runner) Residency(ctx context.Context, blocks []int, o SearchOptions) (*Residency, error) {
	if err := r.checkResidency(); err != nil {
		return nil, err
	}
	out := &Residency{Study: r.Study.Name, Seeds: len(r.Study.Seeds), Rows: []ResidencyRow{}, LeftOut: []string{}}
	study := *r.Study
	study.Policies = nil
	study.Measure.HitsOf = hitsArrived
	for i := range r.Study.Policies {
		p := r.Study.Policies[i]
		built, err := r.policy(Cell{&p, r.Study.LoadsQPS[0], r.Study.Seeds[0]}, clock.Streams{})
		if err != nil {
			return nil, err
		}
		if _, ok := built.(policies.Spreader); ok {
			study.Policies = append(study.Policies, p)
		} else {
			out.LeftOut = append(out.LeftOut, p.Label)
		}
	}
	if study.Policies == nil {
		return nil, Badf("%s: no policy whose routing is known beforehand, wanted flat-lb, random, sticky or cacheroute", study.Name)
	}
	sized := make([]*Runner, len(blocks))
	for i, n := range blocks {
		s := study
		s.Fleet.KVBlocks = n
		if err := s.Check(); err != nil {
			return nil, err
		}
		var err error
		if sized[i], err = Prepare(&s, nil); err != nil {
			return nil, err
		}
		o.Tally.Cells.Add(int64(sized[i].Cells()))
		for cell := range sized[i].Cells() {
			o.Tally.Expected.Add(int64(sized[i].Requests(cell)))
		}
	}
	for _, r := range sized {
		rows, err := r.residencyRows(ctx, o)
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, rows...)
	}
	out.sum()
	return out, nil
}

// checkResidency refuses what the prediction has no notion of.
func (r *Runner) checkResidency() error {
	s := r.Study
	prompt := &s.Workload.Synthetic.Prompt
	switch {
	case r.trace != nil:
		return Badf("%s: read a trace, wanted generated requests", s.Name)
	case prompt.Thread != nil || prompt.Cycle != "":
		return Badf("%s: read prompt.thread or prompt.cycle, wanted prompts without history, drawn at random", s.Name)
	case s.Workload.Synthetic.Drift != nil || s.Measure.ByStage:
		return Badf("%s: read drift or by_stage, wanted rates that hold for the whole run", s.Name)
	case math.IsNaN(r.load.Asked(s.LoadsQPS[0]).QPS):
		return Badf("%s: read arrivals of name %s, wanted offered loads", s.Name, s.Workload.Synthetic.Arrivals.Name)
	}
	return nil
}

// residencyRows runs and predicts all cells of a study, and averages seeds.
func (r *Runner) residencyRows(ctx context.Context, o SearchOptions) ([]ResidencyRow, error) {
	study := r.Study
	cells, err := r.Simulate(ctx, o)
	if err != nil {
		return nil, err
	}
	streams := r.streams()
	var rows []ResidencyRow
	seeds := len(study.Seeds)
	for i := range cells {
		if i%seeds == 0 {
			rows = append(rows, ResidencyRow{Policy: cells[i].Policy, LoadQPS: cells[i].LoadQPS, KVBlocks: study.Fleet.KVBlocks, TimeS: results.Float(math.Inf(1))})
		}
		p, err := r.predict(r.Cell(i), streams)
		if err != nil {
			return nil, err
		}
		row, n := &rows[len(rows)-1], results.Float(seeds)
		row.TimeS = min(row.TimeS, results.Float(p.time))
		row.Simulated += cells[i].KVHit / n
		row.Steady += results.Float(p.steady.Rate()) / n
		row.Window += results.Float(p.window.Rate()) / n
	}
	return rows, nil
}

// streams is each key's requests as the prediction sees them, without rates.
func (r *Runner) streams() []residency.Stream {
	w := r.load.(*workload.Synthetic)
	spec := &r.Study.Workload.Synthetic.Prompt
	size := float64(r.Study.Fleet.BlockTokens)
	whole := func(tokens int32) float64 { return math.Floor(float64(tokens) / size) }
	streams := make([]residency.Stream, w.Keys())
	for key := range streams {
		s := w.Shape(key)
		head, retrieved := s.Template+s.Context, 0.0
		x := residency.Stream{Variants: len(s.Retrieved), Stay: spec.StayProbability, Context: whole(head) - whole(s.Template)}
		for _, tokens := range s.Retrieved {
			retrieved += float64(tokens) / float64(len(s.Retrieved))
			x.Retrieved += (whole(head+tokens) - whole(head)) / float64(len(s.Retrieved))
		}
		x.PromptTokens = float64(head) + retrieved + s.Turn
		// The last token has no KV; the last block is half full in the mean.
		x.Unique = max(0, (x.PromptTokens+s.Output-1)/size+0.5-whole(head)-x.Retrieved)
		streams[key] = x
	}
	return streams
}

// prediction is that of a cell.
type prediction struct {
	time           float64 // shortest of a destination
	steady, window residency.Hit
}

// predict applies the model to each destination of a cell.
func (r *Runner) predict(c Cell, keys []residency.Stream) (prediction, error) {
	streams := clock.Streams{Seed: c.Seed}
	policy, err := r.policy(c, streams)
	if err != nil {
		return prediction{}, err
	}
	rates, err := r.load.Rates(c.LoadQPS)
	if err != nil {
		return prediction{}, err
	}
	f, m := &r.Study.Fleet, &r.Study.Measure
	template := float64(r.Study.Workload.Synthetic.Prompt.TemplateTokens / f.BlockTokens)
	cache := residency.Cache{BlockTokens: f.BlockTokens, Blocks: float64(f.KVBlocks), Template: template}
	p := prediction{time: math.Inf(1)}
	for _, at := range spread(policy.(policies.Spreader), rates, keys, f.Destinations) {
		time := cache.Time(at)
		p.time = min(p.time, time)
		p.steady.Add(cache.Steady(at, time))
		p.window.Add(cache.Window(at, time, m.warmup(c.LoadQPS), m.span(c.LoadQPS)))
	}
	return p, nil
}

// spread deals the keys to the destinations. If all keys go everywhere, one
// destination stands for all.
func spread(policy policies.Spreader, rates []float64, keys []residency.Stream, destinations int) [][]residency.Stream {
	everywhere := make([]int32, destinations)
	for d := range everywhere {
		everywhere[d] = int32(d)
	}
	at, told := make([][]residency.Stream, destinations), false
	for key, rate := range rates {
		set := policy.Spread(int32(key))
		if told = told || set != nil; len(set) == 0 {
			set = everywhere
		}
		x, share := keys[key], 1/float64(len(set))
		x.Rate, x.Stay = rate*share, residency.Thinned(x.Stay, x.Variants, share)
		for _, d := range set {
			at[d] = append(at[d], x)
		}
	}
	if !told {
		return at[:1]
	}
	return at
}

// sum works out the errors over the grid.
func (x *Residency) sum() {
	simulated := make([]float64, len(x.Rows))
	for i := range x.Rows {
		simulated[i] = float64(x.Rows[i].Simulated)
	}
	errors := func(predicted func(*ResidencyRow) results.Float) ResidencyErrors {
		off, values := make([]float64, len(x.Rows)), make([]float64, len(x.Rows))
		for i := range x.Rows {
			values[i] = float64(predicted(&x.Rows[i]))
			off[i] = 100 * math.Abs(values[i]-simulated[i])
		}
		slices.Sort(off)
		return ResidencyErrors{
			MedianPoints: results.Float(stat.Quantile(0.5, stat.Empirical, off, nil)),
			P90Points:    results.Float(stat.Quantile(0.9, stat.Empirical, off, nil)),
			Tau:          results.Float(stat.Kendall(values, simulated, nil)),
		}
	}
	x.Steady = errors(func(r *ResidencyRow) results.Float { return r.Steady })
	x.Window = errors(func(r *ResidencyRow) results.Float { return r.Window })
}
