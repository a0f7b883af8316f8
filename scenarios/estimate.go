package scenarios

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"
)

// estimate is what a study takes.
type estimate struct {
	Seconds float64
	Rate    float64 // simulated requests per second of one CPU
	Bytes   float64 // of memory, about
}

// sampleFor is how long a sample of a cell runs.
const sampleFor = 25 * time.Millisecond

// expected is about how many requests all cells have.
func (r *Runner) expected() float64 {
	m := &r.Study.Measure
	sum := 0.0
	for _, q := range r.Study.LoadsQPS {
		sum += r.requests(q, m.span(q))
	}
	return sum * float64(len(r.Study.Policies)*len(r.Study.Seeds))
}

// estimate runs the beginning of each policy at the lowest and the highest load
// and reckons from its speed. What a run allocates it allocates at its start,
// so that the largest sample tells the memory of a worker.
func (r *Runner) estimate(ctx context.Context, workers int) (estimate, error) {
	s := r.Study
	m := &s.Measure
	loads := []float64{slices.Min(s.LoadsQPS), slices.Max(s.LoadsQPS)}
	var e estimate
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	base, most := float64(before.Sys), 0.0
	requests, seconds := 0.0, 0.0
	for i := range s.Policies {
		var pace []float64 // seconds a request at the lowest and the highest load
		for _, load := range loads {
			runtime.ReadMemStats(&before)
			n, took, err := r.sample(ctx, Cell{Policy: &s.Policies[i], LoadQPS: load, Seed: s.Seeds[0]})
			if err != nil {
				return e, err
			}
			runtime.ReadMemStats(&after)
			most = max(most, float64(after.TotalAlloc-before.TotalAlloc))
			pace = append(pace, took/n)
			requests, seconds = requests+n, seconds+took
		}
		for _, load := range s.LoadsQPS {
			part := 0.5
			if loads[1] > loads[0] {
				part = (load - loads[0]) / (loads[1] - loads[0])
			}
			e.Seconds += r.requests(load, m.span(load)) * (pace[0]*(1-part) + pace[1]*part)
		}
	}
	e.Rate = requests / seconds
	e.Seconds *= float64(len(s.Seeds)) / float64(min(workers, runtime.GOMAXPROCS(0)))
	e.Bytes = base + float64(workers)*most
	return e, nil
}

// sample runs the beginning of a cell and returns how many requests it ran in
// how many seconds.
func (r *Runner) sample(ctx context.Context, c Cell) (requests, seconds float64, err error) {
	inner, stop := context.WithTimeout(ctx, sampleFor)
	defer stop()
	var tally Tally
	start := time.Now()
	_, _, err = r.Run(inner, c, &tally, nil)
	if err != nil && (ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)) {
		return 0, 0, err
	}
	return max(1, float64(tally.Requests.Load())), time.Since(start).Seconds(), nil
}
