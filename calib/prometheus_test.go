package calib

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCounters(t *testing.T) {
	read := func(text string) (Counters, error) {
		path := filepath.Join(t.TempDir(), "metrics.txt")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return ReadCounters(path)
	}
	early, err := read("# HELP x\n# TYPE vllm:prefix_cache_queries_total counter\nvllm:prefix_cache_queries_total{engine=\"0\",model_name=\"a {b}\"} 1000.0\n" +
		"vllm:prefix_cache_hits_total{engine=\"0\"} 100 1700000000\n\nother_metric 3\n")
	if err != nil || early != (Counters{Queried: 1000, Hit: 100}) {
		t.Fatalf("%+v, %v", early, err)
	}
	late, err := read("vllm:prefix_cache_queries{engine=\"0\"} 2e3\r\nvllm:prefix_cache_queries{engine=\"1\"} 1000\nvllm:prefix_cache_hits{engine=\"1\"} 1100\n" +
		"vllm:time_to_first_token_seconds_sum 12.5\nvllm:time_to_first_token_seconds_count 50\nvllm:time_to_first_token_seconds_bucket{le=\"1\"} 7\n")
	if err != nil {
		t.Fatal(err)
	}
	d, err := late.Since(early)
	if err != nil || d.KVHit() != 0.5 || d.TTFTMeanS() != 0.25 {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := early.Since(late); err == nil {
		t.Error("counters that fall were taken")
	}
	if _, err := late.Since(late); err == nil {
		t.Error("two dumps with nothing between them were taken")
	}
	if !math.IsNaN(Counters{}.KVHit()) {
		t.Error("a hit rate of nothing")
	}
	for text, want := range map[string]string{
		"": "no counters of a vLLM server",
		"vllm:prefix_cache_queries 10\nvllm:prefix_cache_hits 40\n": "40 prompt tokens found in the cache of 10",
		"up 1\n": "no counters of a vLLM server",
		"\nvllm:prefix_cache_hits_total{a=\"b\" 3\n": "metrics.txt:2: read a metric without the end of its labels",
		"vllm:prefix_cache_hits_total NaN\n":         "metrics.txt:1: read \"NaN\", wanted the value of vllm:prefix_cache_hits_total",
		"vllm:prefix_cache_hits_total -1\n":          "metrics.txt:1: read \"-1\"",
		"vllm:prefix_cache_hits_total\n":             "metrics.txt:1: read \"\"",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, wanted %q", text, err, want)
		}
	}
}
