package workload

import (
	"fmt"
	"io"
	"math"
	"slices"

	"cacheroute/workload/trace"
)

// Header says what was read from a trace, dropped and derived.
type Header struct {
	*trace.Header

	Requests      string // names what is replayed, whatever the form of the file
	T0US          int64  // recorded time of the first arrival, microseconds
	Inversions    int    // rows that arrive before the row above them
	DistinctTimes int
	ResolutionUS  int64 // of the recorded times, microseconds
	Spread        bool  // arrivals are spread inside the resolution, with Seed
	Seed          uint64

	SpanS    float64 // from the first to the last arrival
	QPS      float64 // (n-1)/span
	KeyRule  string
	Figures  Figures // of the rows kept, at the recorded rate
	IdealHit float64 // IdealHit(16) as a fraction of all prompt tokens; NaN: not known
	RevisitS float64 // median time from a request of a key to its next; NaN: no key comes twice
	Closed   bool
	Observed Observed
}

// Print writes the header for a reader, a few lines.
func (h Header) Print(w io.Writer) error {
	if err := h.Header.Print(w); err != nil {
		return err
	}
	hit := "unknown (the trace does not say what prompts share)"
	if !math.IsNaN(h.IdealHit) {
		hit = fmt.Sprintf("%.2f %% of prompt tokens (blocks of %d)", 100*h.IdealHit, trace.HitBlock)
	}
	_, err := fmt.Fprintf(w, `  arrivals: %.6g s, mean %.4f/s, gap CV %.3f, %d distinct times, resolution %.6g s%s, %d out of order
  keys: %s: %d keys, Gini %.3f, top key %.2f %%, top 4 %% of keys %.1f %%
  tokens: prompt mean %.1f, output mean %.1f; ideal hit of an infinite cache %s
`,
		h.SpanS, h.QPS, h.Figures.GapCV, h.DistinctTimes, float64(h.ResolutionUS)/1e6, h.spreading(), h.Inversions,
		h.KeyRule, h.Figures.Keys, h.Figures.Gini, 100*h.Figures.TopShare, 100*h.Figures.Top4Share,
		h.Figures.PromptTokens, h.Figures.OutputTokens, hit)
	return err
}

func (h Header) spreading() string {
	if h.Spread {
		return fmt.Sprintf(" (spread inside it, seed %d)", h.Seed)
	}
	return ""
}

// SpeedWords says what replaying at other speeds does to the times between
// requests of a key, on which hits depend; empty if there is nothing to say.
func (h Header) SpeedWords(loads []float64) string {
	text := ""
	for _, qps := range loads {
		if speed := qps / h.QPS; math.Abs(speed-1) > 1e-9 && !math.IsNaN(h.RevisitS) {
			text += fmt.Sprintf(", %.4g s at speed %.4g", h.RevisitS/speed, speed)
		}
	}
	if text == "" {
		return ""
	}
	return fmt.Sprintf("median time between requests of a key: %.4g s as recorded%s; hits change with it", h.RevisitS, text)
}

// figures describes the recording, after spreading.
func (t *Trace) figures() Figures {
	var f Figures
	f.popularity(t.counts)
	var input, output, sum, squares float64
	for i, row := range t.rows {
		input += float64(row.input)
		output += float64(max(1, row.output))
		if i > 0 {
			gap := float64(row.at - t.rows[i-1].at)
			sum += gap
			squares += float64(gap * gap)
		}
	}
	n := float64(len(t.rows))
	f.PromptTokens, f.OutputTokens = input/n, output/n
	mean := sum / (n - 1)
	f.GapCV = math.Sqrt(max(0, squares/(n-1)/mean/mean-1))
	return f
}

// revisit is the median time from a request of a key to its next, in seconds.
func (t *Trace) revisit() float64 {
	last := make([]int64, len(t.hashes))
	for i := range last {
		last[i] = -1
	}
	gaps := make([]int64, 0, len(t.rows))
	for _, row := range t.rows {
		if before := last[row.key]; before >= 0 {
			gaps = append(gaps, row.at-before)
		}
		last[row.key] = row.at
	}
	if len(gaps) == 0 {
		return math.NaN()
	}
	slices.Sort(gaps)
	return float64(gaps[len(gaps)/2]) / 1e6
}
