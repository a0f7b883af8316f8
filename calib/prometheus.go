package calib

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

// Counters are what a vLLM server has counted since its start, as its metrics
// page says (vllm/v1/metrics/loggers.py), summed over engines.
type Counters struct {
	Queried, Hit float64 // prompt tokens that were looked up in the prefix cache, and found
	TTFTSumS     float64
	TTFTs        float64
}

// counterNames are the metrics that are read; older servers leave out _total.
var counterNames = map[string]func(*Counters) *float64{
	"vllm:prefix_cache_queries_total":        func(c *Counters) *float64 { return &c.Queried },
	"vllm:prefix_cache_queries":              func(c *Counters) *float64 { return &c.Queried },
	"vllm:prefix_cache_hits_total":           func(c *Counters) *float64 { return &c.Hit },
	"vllm:prefix_cache_hits":                 func(c *Counters) *float64 { return &c.Hit },
	"vllm:time_to_first_token_seconds_sum":   func(c *Counters) *float64 { return &c.TTFTSumS },
	"vllm:time_to_first_token_seconds_count": func(c *Counters) *float64 { return &c.TTFTs },
}

// ReadCounters reads a dump of /metrics in the Prometheus text format. Dumps of
// several servers may follow each other in one file.
func ReadCounters(path string) (Counters, error) {
	var c Counters
	f, err := os.Open(path)
	if err != nil {
		return c, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	found := 0
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		name, rest, _ := strings.Cut(text, " ")
		if i := strings.IndexByte(text, '{'); i >= 0 {
			j := strings.LastIndexByte(text, '}')
			if j < i {
				return c, fmt.Errorf("%s:%d: read a metric without the end of its labels", path, n)
			}
			name, rest = text[:i], text[j+1:]
		}
		at := counterNames[name]
		if at == nil {
			continue
		}
		value, _, _ := strings.Cut(strings.TrimSpace(rest), " ") // a time stamp may follow
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !(x >= 0) || math.IsInf(x, 0) {
			return c, fmt.Errorf("%s:%d: read %q, wanted the value of %s, at least 0", path, n, value, name)
		}
		*at(&c) += x
		found++
	}
	if err := lines.Err(); err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	if c.Hit > c.Queried {
		return c, fmt.Errorf("%s: %v prompt tokens found in the cache of %v that were looked up, wanted at most as many", path, c.Hit, c.Queried)
	}
	if found == 0 {
		return c, fmt.Errorf("%s: no counters of a vLLM server, wanted a dump of /metrics with vllm:prefix_cache_queries_total and the like", path)
	}
	return c, nil
}

// Since is what was counted after an earlier dump of the same servers.
func (c Counters) Since(earlier Counters) (Counters, error) {
	d := Counters{c.Queried - earlier.Queried, c.Hit - earlier.Hit, c.TTFTSumS - earlier.TTFTSumS, c.TTFTs - earlier.TTFTs}
	if min(d.Queried, d.Hit, d.TTFTSumS, d.TTFTs) < 0 {
		return d, fmt.Errorf("a counter has fallen from the earlier dump to the later: a server has restarted, or the dumps are in the wrong order")
	}
	if d.Queried == 0 && d.TTFTs == 0 {
		return d, fmt.Errorf("nothing was counted between the two dumps, wanted requests")
	}
	return d, nil
}

// KVHit is the observed hit rate, NaN if nothing was looked up.
func (c Counters) KVHit() float64 { return c.Hit / c.Queried }

// TTFTMeanS is the observed mean in seconds, NaN without requests.
func (c Counters) TTFTMeanS() float64 { return c.TTFTSumS / c.TTFTs }
