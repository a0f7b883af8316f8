package calib

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// goodBenches is a small bench of each format, as tests change it.
var goodBenches = map[string]string{
	"closed-loop-csv": `model,engine,engine_version,gpu,tensor_parallel,precision,input_tokens,output_tokens,concurrency,ttft_mean_ms,tpot_mean_ms,requests
Qwen3-32B,vllm,0.12.0,H100-SXM,2,bf16,1024,128,8,154.2,18.04,
Qwen3-32B,vllm,0.12.0,H100-SXM,2,bf16,1024,128,32,250.5,29.38,320
"Llama-3.1-8B",trtllm,,H100-SXM,1,bf16,1024,128,8,190.9,7.94,
`,
	"vllm-bench-serve": `{"date": "20251029-120000", "backend": "vllm", "model_id": "qwen", "num_prompts": 3, "request_rate": "inf", "max_concurrency": 2,
"duration": 2.0, "completed": 2, "total_input_tokens": 1000, "total_output_tokens": 6,
"request_throughput": 1.0, "output_throughput": 3.0, "mean_ttft_ms": 150.0, "mean_tpot_ms": 20.0,
"input_lens": [400, 600, 500], "output_lens": [2, 4, 0], "ttfts": [0.1, 0.2, 0.0], "itls": [[0.02], [0.02, 0.02, 0.02], []],
"generated_texts": ["secret", "words", ""], "errors": ["", "", "connection reset"]}
`,
	"guidellm": `{"metadata": {"version": 2}, "benchmarks": [
{"config": {"strategy": {"type_": "concurrent", "streams": 2}}, "requests": {"successful": [
 {"request_id": "a", "request_args": "secret", "output": "words", "info": {"timings": {"request_start": 1700000000.0, "first_token_iteration": 1700000000.1, "last_token_iteration": 1700000000.2, "request_end": 1700000000.25}},
  "input_metrics": {"text_tokens": 100}, "output_metrics": {"text_tokens": 11}},
 {"request_id": "b", "info": {"timings": {"request_start": 1700000000.0, "first_token_iteration": 1700000000.2, "last_token_iteration": 1700000000.3, "request_end": 1700000000.35}},
  "input_metrics": {"text_tokens": 100}, "output_metrics": {"text_tokens": 11}}],
 "errored": [{"request_id": "c"}], "incomplete": []}},
{"config": {"strategy": {"type_": "poisson", "rate": 3}}, "requests": {"successful": []}}]}
`,
	"step-log-csv": `prefill_tokens,decode_sequences,context_tokens,step_ms
0,8,9000,15.1
1024,8,9000,66.3
`,
}

func TestReadBench(t *testing.T) {
	for format, text := range goodBenches {
		b, err := readBench("bench", strings.NewReader(text), BenchOptions{})
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		if b.Format != format || !strings.Contains(strings.Join(b.Notes, "\n"), "read as "+format) {
			t.Errorf("%s: taken for %s, notes %q", format, b.Format, b.Notes)
		}
	}
}

func TestReadClosedLoop(t *testing.T) {
	b, err := readBench("b", strings.NewReader("\xef\xbb\xbf"+strings.ReplaceAll(goodBenches["closed-loop-csv"], "\n", "\r\n")), BenchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := b.Rows[1]
	if len(b.Rows) != 3 || r.Line != 3 || r.TTFTMean != 0.2505 || r.TPOTMean != 29.38/1e3 || r.Concurrency != 32 || r.Requests != 320 || r.Input.Max != 1024 {
		t.Errorf("rows %+v", b.Rows)
	}
	groups, err := b.Groups(Setup{})
	if err != nil || len(groups) != 2 || len(groups[0].Rows) != 2 {
		t.Errorf("groups %v, error %v", groups, err)
	}
	if _, err := b.Groups(Setup{Model: "gpt"}); err == nil || !strings.Contains(err.Error(), "Qwen3-32B") {
		t.Errorf("error %v, want a list of what is there", err)
	}
	if groups, err = b.Groups(Setup{Model: "qwen3-32b", TensorParallel: 2}); err != nil || len(groups) != 1 {
		t.Errorf("groups %v, error %v", groups, err)
	}
	spread := r.With(Facts{LengthRatio: 0.8, Waiting: 1})
	if spread.Input.Mean != 0.9*1024 || spread.Input.Min != 0.8*1024 || spread.Requests != 320 || spread.Waiting != 1 {
		t.Errorf("with facts: %+v", spread)
	}
}

func TestReadVLLM(t *testing.T) {
	text := goodBenches["vllm-bench-serve"]
	b, err := readBench("b", strings.NewReader(text+strings.Replace(text, `"duration": 2.0`, `"duration": 2.1`, 1)), BenchOptions{Describe: Setup{GPU: "H100", TensorParallel: 2, Model: "other"}})
	if err != nil {
		t.Fatal(err)
	}
	r := b.Rows[1]
	if len(b.Rows) != 2 || r.Line != 6 || r.Concurrency != 2 || r.Requests != 2 || math.Abs(r.TTFTMean-0.15) > 1e-12 || math.Abs(r.TPOTMean-0.02) > 1e-12 ||
		r.Input.Mean != 500 || r.Input.Min != 400 || r.Output.Mean != 3 || r.GPU != "H100" || r.Model != "qwen" {
		t.Errorf("row %+v", r)
	}
	if !strings.Contains(strings.Join(b.Notes, "\n"), "2 failed requests") {
		t.Errorf("notes %q do not tell of the failed requests", b.Notes)
	}
	if list, err := readBench("b", strings.NewReader("["+text+",\n"+strings.Replace(text, `"vllm"`, `"openai-chat"`, 1)+"]"), BenchOptions{}); err != nil ||
		len(list.Rows) != 2 || list.Rows[0].Engine != "vllm" || list.Rows[1].Engine != "" {
		t.Errorf("a list of results: %+v, %v", list, err)
	}
	plain := text[:strings.Index(text, `"input_lens"`)]
	b, err = readBench("b", strings.NewReader(strings.TrimRight(plain, ", \n")+"}"), BenchOptions{})
	if err != nil || b.Rows[0].TTFTMean != 0.15 || b.Rows[0].Input.Known != LengthsMean {
		t.Errorf("plain result: %+v, %v", b, err)
	}
}

func TestReadGuideLLM(t *testing.T) {
	b, err := readBench("b", strings.NewReader(goodBenches["guidellm"]), BenchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := b.Rows[0]
	if len(b.Rows) != 1 || r.Concurrency != 2 || r.Requests != 2 || math.Abs(r.TTFTMean-0.15) > 1e-6 || math.Abs(r.TPOTMean-0.01) > 1e-6 || r.Output.Mean != 11 {
		t.Errorf("rows %+v", b.Rows)
	}
	notes := strings.Join(b.Notes, "\n")
	if !strings.Contains(notes, "poisson") || !strings.Contains(notes, "1 errored and incomplete") {
		t.Errorf("notes %q", b.Notes)
	}
}

// TestBadBench breaks a bench in one place and wants the place named.
func TestBadBench(t *testing.T) {
	for _, c := range []struct{ format, from, to, want string }{
		{"closed-loop-csv", "tpot_mean_ms,", "tpot,", "bench:1: read columns model, engine, engine_version, gpu, tensor_parallel, precision, input_tokens, output_tokens, concurrency, ttft_mean_ms, tpot, requests, wanted also tpot_mean_ms"},
		{"closed-loop-csv", "154.2,18.04", "0.1542,0.01804", "bench:2: read a mean TPOT of 0.01804 ms, wanted milliseconds: are these seconds?"},
		{"closed-loop-csv", "154.2,", "0.7,", "bench:2: read a mean TTFT of 0.7 ms below half the TPOT"},
		{"closed-loop-csv", "250.5", "-250.5", `bench:3: ttft_mean_ms: read "-250.5", wanted a number from 0`},
		{"closed-loop-csv", "250.5", "fast", `bench:3: ttft_mean_ms: read "fast", wanted a number`},
		{"closed-loop-csv", "250.5", "NaN", `bench:3: ttft_mean_ms: read "NaN", wanted a number`},
		{"closed-loop-csv", "250.5", "0x1p4", `bench:3: ttft_mean_ms: read "0x1p4", wanted a number`},
		{"closed-loop-csv", "128,32,", "128,3.5,", `bench:3: concurrency: read "3.5", wanted a whole number`},
		{"closed-loop-csv", "128,32,", "128,0,", `bench:3: concurrency: read "0", wanted a number from 1`},
		{"closed-loop-csv", ",29.38,320", "", "bench:3: read 10 values, wanted 12"},
		{"closed-loop-csv", `"Llama-3.1-8B"`, `"Llama-3.1-8B`, "bench:4: read a damaged CSV row"},
		{"closed-loop-csv", ",requests\n", ",concurrency\n", `bench:1: read column "concurrency" twice`},
		{"vllm-bench-serve", `"mean_ttft_ms": 150.0`, `"mean_ttft_ms": 0.15`, "bench:1: ttfts: read a mean of 150 ms if they are seconds, wanted mean_ttft_ms = 0.15"},
		{"vllm-bench-serve", `"ttfts": [0.1, 0.2, 0.0]`, `"ttfts": [100, 200, 0.0]`, "bench:1: ttfts: read a mean of 1.5e+05 ms if they are seconds"},
		{"vllm-bench-serve", `"errors": ["", "", "connection reset"]`, `"errors": ["", "", ""]`, "bench:1: request 2 of the arrays: read 500 input tokens, 0 output tokens, TTFT 0"},
		{"vllm-bench-serve", `"completed": 2`, `"completed": 3`, "bench:1: read 2 requests without an error in the arrays, wanted 3"},
		{"vllm-bench-serve", `"input_lens": [400, 600, 500]`, `"input_lens": [400, 600]`, "bench:1: read 2 values in input_lens and 3 in ttfts"},
		{"vllm-bench-serve", `"max_concurrency": 2`, `"max_concurrency": null`, "bench:1: no max_concurrency, wanted a closed loop"},
		{"vllm-bench-serve", `"request_rate": "inf"`, `"request_rate": 4.0`, `bench:1: request_rate: read "4.0", wanted inf`},
		{"vllm-bench-serve", `"duration": 2.0, `, "", "bench:1: no duration"},
		{"vllm-bench-serve", `"duration": 2.0`, `"duration": "long"`, "bench:2: duration: read a string, wanted a number"},
		{"vllm-bench-serve", `"duration": 2.0`, `"duration": -2.0`, "bench:1: duration: read -2"},
		{"vllm-bench-serve", `"duration": 2.0`, `"duration": 0.02`, "requests in flight (throughput times mean latency), wanted at most max_concurrency = 2"},
		{"vllm-bench-serve", `"mean_tpot_ms": 20.0`, `"mean_tpot_ms": NaN`, "bench:3: "},
		{"vllm-bench-serve", `, "connection reset"]}`, "", "bench:5: the file ends inside a JSON value"},
		{"vllm-bench-serve", `"itls": [[0.02]`, `"itls": [[-0.02]`, "bench:1: request 0 of itls: read -0.02, wanted times of at least 0"},
		{"vllm-bench-serve", `"total_input_tokens": 1000`, `"total_input_tokens": 1e14`, "bench:1: total_input_tokens: read 5e+13 tokens a request"},
		{"vllm-bench-serve", `{"date"`, `"text", {"date"`, "bench:1: a value: read a string, wanted a mapping"},
		{"closed-loop-csv", "128,32,", "128,100000,", `bench:3: concurrency: read "100000", wanted a number from 1 to 10000`},
		{"guidellm", `"version": 2`, `"version": 1`, "bench:1: metadata.version: read 1, wanted 2"},
		{"guidellm", `1700000000.1,`, `1600000000.1,`, "bench:1: benchmark 1: successful request 1: times out of order"},
		{"guidellm", `"last_token_iteration": 1700000000.2, `, "", "bench:1: benchmark 1: successful request 1: a time is missing"},
		{"guidellm", `"output_metrics": {"text_tokens": 11}`, `"output_metrics": {}`, "no count of input or output tokens"},
		{"step-log-csv", "context_tokens", "context", "bench:1: read columns prefill_tokens, decode_sequences, context, step_ms, wanted also context_tokens"},
		{"step-log-csv", "66.3", "-1", `bench:3: step_ms: read "-1"`},
		{"step-log-csv", "15.1\n1024,8,9000,66.3", "0.0151\n1024,8,9000,0.0663", "bench:1: step_ms: the middle value is 0.0663, wanted milliseconds: are these seconds?"},
	} {
		bad := strings.Replace(goodBenches[c.format], c.from, c.to, 1)
		if bad == goodBenches[c.format] {
			t.Fatalf("%s does not hold %q", c.format, c.from)
		}
		_, err := readBench("bench", strings.NewReader(bad), BenchOptions{Format: c.format})
		var b *BadBench
		if !errors.As(err, &b) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %q: error %v, want %q", c.format, c.to, err, c.want)
		}
		if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "words")) {
			t.Errorf("%s with %q: the error repeats text of a request: %v", c.format, c.to, err)
		}
	}
}

func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	header, _, _ := strings.Cut(goodBenches["closed-loop-csv"], "\n")
	for _, c := range []struct{ path, format, want string }{
		{dir, "", "is a directory, wanted a bench file"},
		{filepath.Join(dir, "none"), "", "none: no such file"},
		{write("empty", " \n"), "", "empty:1: nothing in the file"},
		{write("header", header), "", "header:1: no measured run"},
		{write("text", "hello,world\n"), "", `text:1: read "hello,world", wanted a bench of one of the formats closed-loop-csv, guidellm`},
		{write("json", `{"a": 1}`), "", "wanted a bench of one of the formats"},
		{write("semicolons", strings.ReplaceAll(goodBenches["step-log-csv"], ",", ";")), "", "semicolons:1: read \"prefill_tokens;decode_se...\", wanted commas"},
		{write("zero", "\x00\x00"), "", "wanted a bench"},
		{write("good", goodBenches["guidellm"]), "csv", "--format csv: wanted one of"},
	} {
		if _, err := ReadBench(c.path, BenchOptions{Format: c.format}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.path, err, c.want)
		}
	}
	if _, err := ReadBenches([]string{write("a", goodBenches["guidellm"]), write("b", goodBenches["step-log-csv"])}, BenchOptions{}); err == nil {
		t.Error("runs and steps are read as one bench")
	}
	one := goodBenches["vllm-bench-serve"]
	two := strings.Replace(one, `"duration": 2.0`, `"duration": 2.1`, 1)
	b, err := ReadBenches([]string{write("a", one), write("b", two)}, BenchOptions{})
	if err != nil || len(b.Rows) != 2 || b.Rows[0].Line == b.Rows[1].Line {
		t.Errorf("two files: %+v, %v", b, err)
	}
	b, err = ReadBenches([]string{write("a", one), write("b", one)}, BenchOptions{})
	if err != nil || len(b.Rows) != 1 || !strings.Contains(strings.Join(b.Notes, "\n"), "repeat another run in every figure: lines 2 (as 1)") {
		t.Errorf("a file and its copy: %+v, %v", b, err)
	}
	var z bytes.Buffer
	zip := gzip.NewWriter(&z)
	if _, err := zip.Write([]byte(one)); err != nil || zip.Close() != nil {
		t.Fatal(err)
	}
	if b, err = ReadBench(write("a.json.gz", z.String()), BenchOptions{}); err != nil || len(b.Rows) != 1 {
		t.Errorf("packed: %+v, %v", b, err)
	}
	if _, err = ReadBench(write("a.json.gz", z.String()[:z.Len()/2]), BenchOptions{}); err == nil || !strings.Contains(err.Error(), "a.json.gz:") {
		t.Errorf("half a packed file: %v", err)
	}
}

// TestManyMistakes: the first are listed, the rest counted.
func TestManyMistakes(t *testing.T) {
	text := goodBenches["closed-loop-csv"]
	head, row, _ := strings.Cut(text, "\n")
	row, _, _ = strings.Cut(row, "\n")
	bad := head + "\n" + strings.Repeat(strings.Replace(row, "154.2", "x", 1)+"\n", 50)
	_, err := readBench("b", strings.NewReader(bad), BenchOptions{})
	if n := strings.Count(err.Error(), "\n") + 1; n != mostMistakes || !strings.Contains(err.Error(), "and 30 more mistakes") {
		t.Errorf("%d lines of mistakes: %v", n, err)
	}
}

// FuzzReadBench: whatever a file holds, it is read or refused with its name and
// without a panic, and what is read can be fitted or refused.
func FuzzReadBench(f *testing.F) {
	for _, text := range goodBenches {
		f.Add(text)
		f.Add(text[:len(text)/2])
	}
	for _, text := range []string{"", "{", "[]", "{}{}", `{"benchmarks": null}`, `{"num_prompts": 1e400}`, "prefill_tokens,decode_sequences,context_tokens,step_ms\n1,1,1\n", "\"\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := readBench("bench", strings.NewReader(text), BenchOptions{})
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				if !strings.HasPrefix(line, "bench:") {
					t.Errorf("error %q does not begin with the file", line)
				}
			}
			return
		}
		for _, r := range b.Rows {
			if !(r.TTFTMean > 0 && r.Input.Mean >= 1 && r.Output.Mean >= 1 && r.Concurrency >= 1 && r.Input.Min <= r.Input.Max) || r.TPOTMean <= 0 {
				t.Errorf("row %+v", r)
			}
		}
		for _, s := range b.Steps {
			if !(s.Seconds > 0 && s.Prefill >= 0 && s.Decodes >= 0 && s.Work >= 0) {
				t.Errorf("step %+v", s)
			}
		}
	})
}
