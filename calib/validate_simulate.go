package calib

import (
	"fmt"
	"math"

	"cacheroute/engine"
	"cacheroute/policies"
	"cacheroute/results"
	"cacheroute/sim"
	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// roundsOfBench is how many requests each client of a bench sends on average
// when the row does not say: InferenceMAX, the source of most public rows, runs
// num_prompts = 10 x concurrency.
const roundsOfBench = 10

// Simulated is what a simulated run of a bench row gives, in the row's units.
type Simulated struct {
	TTFTMean, TPOTMean float64 // seconds; TPOT is NaN for answers of one token
	OutputTokensPerS   float64
	RequestsPerS       float64
	Completed, Refused int64
	Preemptions        int64
	// MeanTokens and PeakTokens are the tokens of the KV blocks that sequences
	// hold: the mean over the run, and the most.
	MeanTokens, PeakTokens float64
	// FreeTTFTMean is what TTFTMean would be if blocks were never short.
	FreeTTFTMean float64
}

// KVBound reports whether requests wait long for KV blocks.
func (s Simulated) KVBound() bool { return s.TTFTMean > ttftJump*s.FreeTTFTMean }

// SimulateRow runs a row as the bench did, on one idle destination cfg: its
// clients start at once, each sends the next request of the row's lengths as
// soon as it has its answer, no two prompts share a token, and the run is
// measured from its first request to the last answer. A row that does not say
// how many requests it had gets 10 for each client. The overhead is added to
// each TTFT and delays the client.
func SimulateRow(cfg engine.Config, overhead clock.Time, row BenchRow, seed uint64) (Simulated, error) {
	cfg = row.engine(cfg)
	s, err := simulateOn(cfg, overhead, row, seed)
	if err != nil {
		return s, err
	}
	s.FreeTTFTMean = s.TTFTMean
	capacity := float64(cfg.Blocks) * float64(cfg.BlockTokens)
	if slack := row.Input.Max + float64(row.Concurrency*cfg.BlockTokens); s.PeakTokens+slack > capacity {
		cfg.Blocks = row.Concurrency * (int(row.Input.Max+row.Output.Max)/cfg.BlockTokens + 2)
		free, err := simulateOn(cfg, overhead, row, seed)
		if err != nil {
			return s, err
		}
		s.FreeTTFTMean = free.TTFTMean
	}
	return s, nil
}

func simulateOn(cfg engine.Config, overhead clock.Time, row BenchRow, seed uint64) (Simulated, error) {
	source, err := rowSource(row, seed)
	if err != nil {
		return Simulated{}, err
	}
	var w *watched
	collector := results.NewCollector(results.Window{To: clock.Never}, 1, 1, source.left)
	out, err := sim.Run(sim.Config{
		Destinations: 1, Engine: cfg, Source: source, Policy: onlyOne{}, Collector: collector,
		TTFTOverhead: overhead, End: clock.Never,
		NewDestination: func(c engine.Config) engine.Destination {
			w = &watched{Engine: engine.New(c), tokens: float64(c.Blocks) * float64(c.BlockTokens)}
			return w
		},
	})
	if err != nil {
		return Simulated{}, err
	}
	cell := collector.Cell(out.Totals)
	seconds := (out.Totals.End + overhead).Seconds()
	s := Simulated{
		TTFTMean: float64(cell.TTFTMean), TPOTMean: float64(cell.TPOTMean),
		Completed: cell.Completed, Refused: cell.RefusedPrompt + cell.RefusedGrowth, Preemptions: cell.Preemptions,
		PeakTokens: w.peak, MeanTokens: w.area / seconds,
	}
	if s.Completed > 0 {
		s.RequestsPerS = float64(s.Completed) / seconds
		s.OutputTokensPerS = s.RequestsPerS * float64(cell.RealisedOutputTokens)
	}
	return s, nil
}

// engine is cfg with what the row says of the engine's settings.
func (r BenchRow) engine(cfg engine.Config) engine.Config {
	if r.Waiting > 0 {
		cfg.MaxSeqs = min(cfg.MaxSeqs, max(1, r.Concurrency-r.Waiting))
	}
	if r.OnePrompt {
		cfg.MaxSeqs = min(cfg.MaxSeqs, r.Concurrency)
		cfg.MaxBatchedTokens = int(r.Input.Max) + r.Concurrency
	}
	cfg.NoPrefixCaching = cfg.NoPrefixCaching || r.NoPrefixCaching
	return cfg
}

// rowSource is the clients of a row.
func rowSource(row BenchRow, seed uint64) (*limited, error) {
	input, output := row.Input.length(), row.Output.length()
	w, err := workload.NewSynthetic(workload.Spec{
		Keys:     &workload.ZipfKeys{Count: 1},
		Arrivals: workload.ArrivalSpecs["closed"](),
		Prompt:   workload.PromptSpec{TurnTokens: input},
		Output:   output,
	})
	if err != nil {
		return nil, err
	}
	if row.Concurrency < 1 {
		return nil, fmt.Errorf("concurrency: must be at least 1, got %d", row.Concurrency)
	}
	source, err := w.Open(float64(row.Concurrency), clock.Streams{Seed: seed})
	if err != nil {
		return nil, err
	}
	requests := row.Requests
	if requests == 0 {
		requests = roundsOfBench * row.Concurrency
	}
	return &limited{source.(workload.Closed), requests}, nil
}

// length is uniform over what is known of the lengths.
func (l Lengths) length() workload.Length {
	lo, hi := int(math.Round(l.Min)), int(math.Round(l.Max))
	if lo >= hi {
		return workload.Tokens(int(math.Round(l.Mean)))
	}
	return workload.Length{Dist: &workload.UniformLength{Name: "uniform", Min: lo, Max: hi}}
}

// limited ends a closed source after a number of requests.
type limited struct {
	workload.Closed
	left int
}

func (l *limited) NextAt() clock.Time {
	if l.left == 0 {
		return clock.Never
	}
	return l.Closed.NextAt()
}

func (l *limited) Next(r *workload.Request) bool {
	if l.left == 0 {
		return false
	}
	l.left--
	return l.Closed.Next(r)
}

// onlyOne routes everything to the one destination there is.
type onlyOne struct{}

func (onlyOne) Route(*workload.Request, *policies.View) int { return 0 }

// watched is a destination of which the use of its KV blocks is recorded.
type watched struct {
	*engine.Engine
	tokens float64 // of all blocks

	began clock.Time
	held  float64 // tokens of the blocks in use at began

	area, peak float64 // token-seconds; tokens
}

// Start notes the blocks in use as the span begins.
func (w *watched) Start(now clock.Time, out []engine.Outcome) (clock.Time, []engine.Outcome) {
	ends, out := w.Engine.Start(now, out)
	w.began, w.held = now, w.inUse(now)
	return ends, out
}

// Finish adds the span that ends; blocks in use grow evenly inside it.
func (w *watched) Finish(now clock.Time, out []engine.Outcome) []engine.Outcome {
	held := w.inUse(now)
	w.area += (now - w.began).Seconds() * (w.held + held) / 2
	w.peak = max(w.peak, w.held, held)
	return w.Engine.Finish(now, out)
}

func (w *watched) inUse(now clock.Time) float64 {
	_, _, usage := w.Load(now)
	return usage * w.tokens
}
