package trace

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"

	"cacheroute/workload/lines"
)

// serveGenLengths are the lengths of a client's requests from a time on.
type serveGenLengths struct {
	start         int64 // microseconds
	input, output lengthShares
}

// lengthShares is a distribution of token counts.
type lengthShares struct {
	tokens []int32
	upTo   []float64 // share of the lengths up to this one
}

func (l *lengthShares) draw(rng *rand.Rand) int32 {
	return l.tokens[min(sort.SearchFloat64s(l.upTo, rng.Float64()), len(l.tokens)-1)]
}

// lengthsAt are those of the latest window that has begun and has some, or the
// first that has.
func (c *serveGenClient) lengthsAt(at int64) (*serveGenLengths, error) {
	var found *serveGenLengths
	for i := range c.lengths {
		l := &c.lengths[i]
		if len(l.input.tokens) > 0 && len(l.output.tokens) > 0 && (found == nil || l.start <= at) {
			found = l
		}
	}
	if found == nil {
		return nil, c.in.Errorf("requests, and no lengths for them in the dataset")
	}
	return found, nil
}

// mostDataset bounds the size of a file of lengths.
const mostDataset = 256 << 20

// readServeGenLengths reads {"<start in s>": {"input_tokens": "{39: 0.0003, ...}",
// "output_tokens": "{...}"}}: the inner value is a Python dict in a string.
func readServeGenLengths(path string) ([]serveGenLengths, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %s, wanted the lengths of the client's requests", path, lines.Failure(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostDataset+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %s", path, lines.Failure(err))
	}
	if len(text) > mostDataset {
		return nil, fmt.Errorf("%s: more than %d MiB", path, mostDataset>>20)
	}
	var windows map[string]struct {
		Input  string `json:"input_tokens"`
		Output string `json:"output_tokens"`
	}
	if err := json.Unmarshal(text, &windows); err != nil {
		return nil, fmt.Errorf("%s: not JSON of windows with the texts input_tokens and output_tokens", path)
	}
	var all []serveGenLengths
	for start, w := range windows {
		at, err := timeOf("window", start, 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		l := serveGenLengths{start: at}
		for _, d := range []struct {
			name, text string
			to         *lengthShares
		}{{"input_tokens", w.Input, &l.input}, {"output_tokens", w.Output, &l.output}} {
			if *d.to, err = parseShares(d.text); err != nil {
				return nil, fmt.Errorf("%s: window %s: %s: %w", path, lines.Excerpt([]byte(start)), d.name, err)
			}
		}
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b serveGenLengths) int { return int(max(-1, min(1, a.start-b.start))) })
	return all, nil
}

// parseShares reads {39: 0.0003, 40: 0.001}; nothing is evaluated. Shares sum
// to 1, but for rounding.
func parseShares(text string) (l lengthShares, err error) {
	inner, ok := strings.CutPrefix(strings.TrimSpace(text), "{")
	inner, closed := strings.CutSuffix(inner, "}")
	if text == "" || ok && closed && strings.TrimSpace(inner) == "" {
		return l, nil
	}
	if !ok || !closed {
		return l, fmt.Errorf("read %s, wanted {tokens: share, ...}", lines.Excerpt([]byte(text)))
	}
	sum := 0.0
	for pair := range strings.SplitSeq(inner, ",") {
		key, value, _ := strings.Cut(pair, ":")
		tokens, err := wholeOf("tokens", strings.TrimSpace(key), MaxTokens)
		share, wrong := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || wrong != nil || !(share >= 0 && share <= 1) {
			return l, fmt.Errorf("read %s, wanted tokens: share", lines.Excerpt([]byte(strings.TrimSpace(pair))))
		}
		if share > 0 {
			sum += share
			l.tokens, l.upTo = append(l.tokens, int32(tokens)), append(l.upTo, sum)
		}
	}
	if math.Abs(sum-1) > 1e-6 {
		return l, fmt.Errorf("the shares sum to %v, wanted 1", sum)
	}
	return l, nil
}
