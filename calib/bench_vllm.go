package calib

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// vllmResult is the part of a result of vllm bench serve that counts. Means are
// in milliseconds, arrays in seconds. The arrays have a slot for every request,
// failed ones included.
type vllmResult struct {
	Model      string         `json:"model_id"`
	Backend    string         `json:"backend"`
	Clients    *float64       `json:"max_concurrency"`
	Rate       jsontext.Value `json:"request_rate"` // a number or "inf"
	Completed  *float64       `json:"completed"`
	Failed     float64        `json:"failed"`
	Duration   *float64       `json:"duration"`
	Input      *float64       `json:"total_input_tokens"`
	Output     *float64       `json:"total_output_tokens"`
	Tokens     *float64       `json:"output_throughput"`
	TTFT       *float64       `json:"mean_ttft_ms"`
	TPOT       *float64       `json:"mean_tpot_ms"`
	InputLens  []float64      `json:"input_lens"`
	OutputLens []float64      `json:"output_lens"`
	TTFTs      []float64      `json:"ttfts"`
	ITLs       [][]float64    `json:"itls"`
	Errors     []string       `json:"errors"` // empty for an answered request

	// Given with --metadata.
	EngineVersion  jsontext.Value `json:"engine_version"`
	GPU            jsontext.Value `json:"gpu"`
	Precision      jsontext.Value `json:"precision"`
	TensorParallel jsontext.Value `json:"tensor_parallel"`
}

func sniffVLLM(head []byte) bool {
	return len(head) > 0 && (head[0] == '{' || head[0] == '[') && !sniffGuideLLM(head) &&
		(bytes.Contains(head, []byte(`"num_prompts"`)) || bytes.Contains(head, []byte(`"request_throughput"`)) || bytes.Contains(head, []byte(`"mean_ttft_ms"`)))
}

func readVLLM(s *benchSource) error {
	failed, runs := 0, 0
	err := readJSON(s, func(line int, r *vllmResult) {
		runs++
		if row, ok := r.row(s, line); ok {
			s.Rows = append(s.Rows, row)
			failed += int(r.Failed)
		}
	})
	if failed > 0 {
		s.note("left out: %d failed requests of %d runs", failed, runs)
	}
	return err
}

// row turns a result into a row.
func (r *vllmResult) row(s *benchSource, line int) (BenchRow, bool) {
	before := len(s.mistakes) + s.more
	for _, f := range []struct {
		name  string
		value *float64
	}{{"completed", r.Completed}, {"duration", r.Duration}, {"total_input_tokens", r.Input}, {"total_output_tokens", r.Output},
		{"mean_ttft_ms", r.TTFT}, {"mean_tpot_ms", r.TPOT}} {
		switch {
		case f.value == nil:
			s.bad(line, "no %s, wanted a result of vllm bench serve with it", f.name)
		case !(*f.value >= 0 && *f.value < 1e15):
			s.bad(line, "%s: read %g, wanted a number of at least 0", f.name, *f.value)
		}
	}
	r.checkLoop(s, line)
	if len(s.mistakes)+s.more > before {
		return BenchRow{}, false
	}
	if n := *r.Completed; n < 1 || n != math.Trunc(n) {
		s.bad(line, "completed: read %g, wanted a whole number of at least 1", n)
		return BenchRow{}, false
	}
	row := r.plain()
	row.Line = line
	for _, l := range []struct {
		name string
		mean float64
	}{{"total_input_tokens", row.Input.Mean}, {"total_output_tokens", row.Output.Mean}} {
		if !(l.mean >= 1 && l.mean <= maxTokens) {
			s.bad(line, "%s: read %g tokens a request, wanted 1 to %g", l.name, l.mean, maxTokens)
			return BenchRow{}, false
		}
	}
	if r.TTFTs != nil || r.Errors != nil {
		r.detail(s, line, &row)
	}
	if problem := implausible(1e3*row.TTFTMean, 1e3*row.TPOTMean, row.Output.Mean); problem != "" {
		s.bad(line, "%s", problem)
	}
	r.checkLittle(s, line, row)
	return row, len(s.mistakes)+s.more == before
}

// checkLoop refuses a run that was not a closed loop.
func (r *vllmResult) checkLoop(s *benchSource, line int) {
	if r.Clients == nil {
		s.bad(line, "no max_concurrency, wanted a closed loop: vllm bench serve --max-concurrency N --request-rate inf")
	} else if c := *r.Clients; !(c >= 1 && c <= maxClients) || c != math.Trunc(c) {
		s.bad(line, "max_concurrency: read %g, wanted a whole number from 1 to %g", c, maxClients)
	}
	if rate := words(r.Rate); rate != "" && rate != "inf" && rate != "null" {
		s.bad(line, "request_rate: read %s, wanted inf: an open loop does not keep its clients at work", cut(rate))
	}
}

// plain is the row of the summary figures.
func (r *vllmResult) plain() BenchRow {
	n := *r.Completed
	row := BenchRow{
		Model: r.Model, Engine: r.engine(), EngineVersion: words(r.EngineVersion), GPU: words(r.GPU), Precision: words(r.Precision),
		Input: onlyMean(*r.Input / n), Output: onlyMean(*r.Output / n),
		Concurrency: int(*r.Clients), Requests: int(n), TTFTMean: *r.TTFT / 1e3, TPOTMean: *r.TPOT / 1e3,
		RequestsPerS: n / *r.Duration, OutputTokensPerS: *r.Output / *r.Duration,
	}
	var set Setup
	if tp := words(r.TensorParallel); tp != "" && set.set("tensor_parallel", tp) == nil {
		row.TensorParallel = set.TensorParallel
	}
	return row
}

// detail replaces means by those over the answered requests.
func (r *vllmResult) detail(s *benchSource, line int, row *BenchRow) {
	n := len(r.TTFTs)
	for _, a := range []struct {
		name string
		n    int
	}{{"input_lens", len(r.InputLens)}, {"output_lens", len(r.OutputLens)}, {"itls", len(r.ITLs)}, {"errors", len(r.Errors)}} {
		if a.n != n {
			s.bad(line, "read %d values in %s and %d in ttfts, wanted as many in each", a.n, a.name, n)
			return
		}
	}
	got := sample{}
	for i := range r.TTFTs {
		if r.Errors[i] != "" {
			continue // its slot holds zeros, not measurements
		}
		in, out, ttft := r.InputLens[i], r.OutputLens[i], r.TTFTs[i]
		if len(r.ITLs[i]) > 0 && !(slices.Min(r.ITLs[i]) >= 0) {
			s.bad(line, "request %d of itls: read %g, wanted times of at least 0", i, slices.Min(r.ITLs[i]))
			return
		}
		if !(in >= 1 && in <= maxTokens && out >= 1 && out <= maxTokens && ttft > 0) {
			s.bad(line, "request %d of the arrays: read %g input tokens, %g output tokens, TTFT %g, wanted positive numbers or an error", i, in, out, ttft)
			return
		}
		got.input, got.output, got.ttft = append(got.input, in), append(got.output, out), append(got.ttft, ttft)
		if out > 1 {
			got.tpot = append(got.tpot, mean(r.ITLs[i])*float64(len(r.ITLs[i]))/(out-1))
		}
	}
	if len(got.ttft) != row.Requests {
		s.bad(line, "read %d requests without an error in the arrays, wanted %d as in completed", len(got.ttft), row.Requests)
		return
	}
	if m := 1e3 * mean(got.ttft); differ(m, *r.TTFT) {
		s.bad(line, "ttfts: read a mean of %.4g ms if they are seconds, wanted mean_ttft_ms = %.4g", m, *r.TTFT)
	}
	if m := 1e3 * mean(got.tpot); len(got.tpot) > 0 && differ(m, *r.TPOT) {
		s.bad(line, "itls: read a mean TPOT of %.4g ms if they are seconds, wanted mean_tpot_ms = %.4g", m, *r.TPOT)
	}
	row.Input, row.Output = lengthsOf(got.input), lengthsOf(got.output)
	r.Failed = float64(n - len(got.ttft))
}

// checkLittle refuses figures that do not belong together: by Little's law the
// requests in flight are at most the clients.
func (r *vllmResult) checkLittle(s *benchSource, line int, row BenchRow) {
	flying := row.RequestsPerS * (row.TTFTMean + row.TPOTMean*math.Max(0, row.Output.Mean-1))
	if !(flying <= 1.1*float64(row.Concurrency)) {
		s.bad(line, "read %.4g requests in flight (throughput times mean latency), wanted at most max_concurrency = %d: is a unit wrong?", flying, row.Concurrency)
	}
}

// engine is what the client spoke to; the API of OpenAI is that of many engines.
func (r *vllmResult) engine() string {
	if strings.HasPrefix(r.Backend, "openai") {
		return ""
	}
	return r.Backend
}

// words is a JSON value as plain text; empty if it is not there.
func words(v jsontext.Value) string {
	if len(v) == 0 || v.Kind() == 'n' {
		return ""
	}
	return strings.Trim(string(v), `"`)
}
