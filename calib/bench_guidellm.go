package calib

import (
	"bytes"
	"fmt"
	"math"
)

// guideFile is the part of a benchmarks.json of GuideLLM that counts. Times are
// seconds since an epoch.
type guideFile struct {
	Metadata struct {
		Version float64 `json:"version"`
	} `json:"metadata"`
	Benchmarks []guideBenchmark `json:"benchmarks"`
}

type guideBenchmark struct {
	Config struct {
		Strategy guideStrategy `json:"strategy"`
	} `json:"config"`
	Scheduler struct {
		Strategy guideStrategy `json:"strategy"`
	} `json:"scheduler"`
	Requests struct {
		Successful []guideRequest `json:"successful"`
		Errored    []struct{}     `json:"errored"`
		Incomplete []struct{}     `json:"incomplete"`
	} `json:"requests"`
}

// guideStrategy says how requests were sent.
type guideStrategy struct {
	Type    string   `json:"type_"`
	Streams *float64 `json:"streams"`
	Clients *float64 `json:"max_concurrency"`
}

type guideRequest struct {
	Info struct {
		Timings struct {
			Start *float64 `json:"request_start"`
			First *float64 `json:"first_token_iteration"`
			Last  *float64 `json:"last_token_iteration"`
			End   *float64 `json:"request_end"`
		} `json:"timings"`
	} `json:"info"`
	Input  guideMetrics `json:"input_metrics"`
	Output guideMetrics `json:"output_metrics"`
}

type guideMetrics struct {
	Text  *float64 `json:"text_tokens"`
	Total *float64 `json:"total_tokens"`
}

func (m guideMetrics) tokens() float64 {
	switch {
	case m.Total != nil:
		return *m.Total
	case m.Text != nil:
		return *m.Text
	}
	return math.NaN()
}

func sniffGuideLLM(head []byte) bool {
	return len(head) > 0 && head[0] == '{' && bytes.Contains(head, []byte(`"benchmarks"`))
}

func readGuideLLM(s *benchSource) error {
	return readJSON(s, func(line int, f *guideFile) {
		if f.Metadata.Version != 2 {
			s.bad(line, "metadata.version: read %g, wanted 2: other versions of GuideLLM lay out their times otherwise", f.Metadata.Version)
			return
		}
		for i := range f.Benchmarks {
			if row, ok := f.Benchmarks[i].row(s, i+1); ok {
				s.Rows = append(s.Rows, row)
			}
		}
	})
}

// row turns a benchmark into a row; its line is its place in the file.
func (b *guideBenchmark) row(s *benchSource, place int) (BenchRow, bool) {
	strategy := b.Config.Strategy
	if strategy.Type == "" {
		strategy = b.Scheduler.Strategy
	}
	clients := strategy.clients()
	if clients == 0 {
		s.note("left out: benchmark %d of strategy %s, which is not a closed loop", place, cut(strategy.Type))
		return BenchRow{}, false
	}
	if !(clients >= 1 && clients <= maxClients) || clients != math.Trunc(clients) {
		s.bad(place, "benchmark %d: read %g streams, wanted a whole number from 1 to %g", place, clients, maxClients)
		return BenchRow{}, false
	}
	got, from, to, problem := b.sample()
	if problem == "" && len(got.ttft) > 0 {
		problem = implausible(1e3*mean(got.ttft), 1e3*mean(got.tpot), mean(got.output))
	}
	if problem == "" && len(got.ttft) == 0 {
		problem = "no successful request, wanted at least one"
	}
	if problem != "" {
		s.bad(place, "benchmark %d: %s", place, problem)
		return BenchRow{}, false
	}
	if n := len(b.Requests.Errored) + len(b.Requests.Incomplete); n > 0 {
		s.note("left out: %d errored and incomplete requests of benchmark %d", n, place)
	}
	n := float64(len(got.ttft))
	return BenchRow{
		Line: place, Input: lengthsOf(got.input), Output: lengthsOf(got.output),
		Concurrency: int(clients), Requests: len(got.ttft), TTFTMean: mean(got.ttft), TPOTMean: mean(got.tpot),
		RequestsPerS: n / (to - from), OutputTokensPerS: n * mean(got.output) / (to - from),
	}, true
}

// clients is the number of requests kept in flight; 0 for an open loop.
func (g guideStrategy) clients() float64 {
	switch {
	case g.Type == "synchronous":
		return 1
	case g.Type == "concurrent" && g.Streams != nil:
		return *g.Streams
	case g.Type == "throughput" && g.Clients != nil:
		return *g.Clients
	}
	return 0
}

// sample gathers the successful requests and the span that they took.
func (b *guideBenchmark) sample() (got sample, from, to float64, problem string) {
	from, to = math.Inf(1), math.Inf(-1)
	for i, r := range b.Requests.Successful {
		t := r.Info.Timings
		if t.Start == nil || t.First == nil || t.Last == nil || t.End == nil {
			return got, 0, 0, inRequest(i, "a time is missing, wanted request_start, first_token_iteration, last_token_iteration, request_end")
		}
		in, out := r.Input.tokens(), r.Output.tokens()
		if !(in >= 1 && in <= maxTokens && out >= 1 && out <= maxTokens) {
			return got, 0, 0, inRequest(i, "no count of input or output tokens, wanted positive numbers")
		}
		if !(*t.Start > 0 && *t.First > *t.Start && *t.Last >= *t.First && *t.End >= *t.Last && *t.End < 1e11) {
			return got, 0, 0, inRequest(i, "times out of order, wanted start < first token <= last token <= end in epoch seconds")
		}
		got.input, got.output, got.ttft = append(got.input, in), append(got.output, out), append(got.ttft, *t.First-*t.Start)
		if out > 1 {
			got.tpot = append(got.tpot, (*t.Last-*t.First)/(out-1))
		}
		from, to = min(from, *t.Start), max(to, *t.End)
	}
	return got, from, to, ""
}

func inRequest(i int, problem string) string {
	return fmt.Sprintf("successful request %d: %s", i+1, problem)
}
