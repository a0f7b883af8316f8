package trace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"cacheroute/workload/share"
)

// Info is what is known of a trace that has been read once. A pointer that is
// nil, null in JSON, is a figure that the trace does not tell.
type Info struct {
	Header *Header `json:"header"`

	SpanS         float64   `json:"span_s"`   // from the first to the last arrival
	MeanQPS       float64   `json:"mean_qps"` // (n-1)/span
	GapCV         *float64  `json:"gap_cv"`
	DistinctTimes int64     `json:"distinct_times"`
	SmallestGapS  *float64  `json:"smallest_gap_s"` // between different arrivals
	OutOfOrder    int64     `json:"rows_out_of_order"`
	ProfileQPS    []float64 `json:"profile_qps"` // in bins of ProfileBinS, that of the first arrival first
	ProfileBinS   float64   `json:"profile_bin_s"`

	Input  LengthInfo `json:"input_tokens"`
	Output LengthInfo `json:"output_tokens"`

	Blocks       int64       `json:"blocks"` // ids read
	UniqueBlocks int64       `json:"unique_blocks"`
	IdealHit     *float64    `json:"ideal_hit"`       // of an infinite cache with blocks of 16 tokens, of all prompt tokens
	HitRange     *[2]float64 `json:"ideal_hit_range"` // if rows came too late to be put in order: the bounds of the ideal hit of a replay
	Estimated    bool        `json:"estimated"`       // too many blocks or keys to count all: figures of them are of a part

	Sessions int64     `json:"sessions"`
	KeyRule  string    `json:"key_rule"`
	Keys     KeyInfo   `json:"keys"`
	ByDepth  []KeyInfo `json:"keys_by_depth"`

	ObservedTTFTS  *float64 `json:"observed_ttft_mean_s"`
	ObservedCached *float64 `json:"observed_cached_share"` // of the prompt tokens of the rows that say
}

// LengthInfo describes token counts.
type LengthInfo struct {
	Mean float64 `json:"mean"`
	P50  int32   `json:"p50"`
	P90  int32   `json:"p90"`
	P99  int32   `json:"p99"`
	Max  int32   `json:"max"`
}

// KeyInfo describes the routing keys of a rule.
type KeyInfo struct {
	Depth     int      `json:"depth,omitempty"` // blocks of the prefix
	Count     int64    `json:"count"`
	Gini      float64  `json:"gini"`
	TopShare  float64  `json:"top_share"`  // of the requests
	Top4Share float64  `json:"top4_share"` // that the most frequent 4 % of keys have
	Reuse     *float64 `json:"reuse"`      // of the tokens of the ideal hit, those of an earlier request of the same key
}

// profileBins is how many bins a profile has at most.
const profileBins = 120

// Info puts the figures together.
func (s *Stats) Info(h *Header) *Info {
	i := &Info{
		Header: h, SpanS: s.span(), MeanQPS: s.qps(), GapCV: finite(s.cv()), DistinctTimes: s.distinct, OutOfOrder: s.inversions,
		Input: s.input.info(), Output: s.output.info(), Blocks: s.prefix.total, UniqueBlocks: s.prefix.blocks.different(),
		Sessions: s.sessions.different(), KeyRule: s.Rule(h).String(),
	}
	if s.rule.Kind == KeyAuto {
		i.KeyRule += " (auto)"
	}
	if s.distinct > 1 {
		i.SmallestGapS = finite(float64(s.least) / 1e6)
	}
	i.ProfileQPS, i.ProfileBinS = s.profile(profileBins)
	keys := s.keys(h)
	i.Keys = keyInfo(keys, s.n)
	i.Estimated = keys.halved > 0
	if h.PromptsKnown() {
		hit, estimated := s.prefix.idealHit()
		i.IdealHit, i.Estimated = &hit, i.Estimated || estimated
		if s.prefix.strays > 0 && !estimated {
			lo, hi := s.prefix.hitRange()
			i.HitRange = &[2]float64{lo, hi}
		}
		for d := 1; d <= MaxDepth; d++ {
			k := keyInfo(s.prefix.byDepth[d], s.n)
			k.Depth, k.Reuse = d, finite(s.prefix.retained[d]/s.prefix.whole)
			i.ByDepth = append(i.ByDepth, k)
		}
	}
	if s.ttfts > 0 {
		i.ObservedTTFTS = finite(s.ttft / float64(s.ttfts) / 1e6)
	}
	if s.cachedRows > 0 {
		i.ObservedCached = finite(s.cached / s.cachedOf)
	}
	return i
}

func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func (l *lengths) info() LengthInfo {
	return LengthInfo{Mean: l.sum / float64(l.n), P50: l.quantile(0.5), P90: l.quantile(0.9), P99: l.quantile(0.99), Max: l.most}
}

// keyInfo describes keys; the top share is of n requests.
func keyInfo(t *tally, n int64) KeyInfo {
	parts := t.parts()
	top := slices.MaxFunc(parts, func(a, b share.Part) int { return cmp.Compare(a.Share, b.Share) })
	return KeyInfo{Count: t.different(), Gini: share.GiniOf(parts), Top4Share: share.TopOf(parts, 0.04), TopShare: top.Share / float64(n)}
}

// JSON writes the figures as one document.
func (i *Info) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(i)
}

// Print writes the figures for a reader.
func (i *Info) Print(w io.Writer) error {
	if err := i.Header.Print(w); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  arrivals: %.6g s, mean %.4f/s, gap CV %s, %d distinct times, smallest gap %s s, %d out of order\n",
		i.SpanS, i.MeanQPS, figure(i.GapCV, "%.3f"), i.DistinctTimes, figure(i.SmallestGapS, "%.6g"), i.OutOfOrder)
	fmt.Fprintf(&b, "  rate: %s  0 to %.3g/s in bins of %.4g s\n", Sparkline(i.ProfileQPS, 60), slices.Max(i.ProfileQPS), i.ProfileBinS)
	for _, l := range []struct {
		name string
		LengthInfo
	}{{"input", i.Input}, {"output", i.Output}} {
		fmt.Fprintf(&b, "  %s tokens: mean %.1f, p50 %d, p90 %d, p99 %d, max %d\n", l.name, l.Mean, l.P50, l.P90, l.P99, l.Max)
	}
	fmt.Fprintf(&b, "  keys: %s: %d keys, Gini %.3f, top key %.2f %%, top 4 %% of keys %.1f %%; %d sessions\n",
		i.KeyRule, i.Keys.Count, i.Keys.Gini, 100*i.Keys.TopShare, 100*i.Keys.Top4Share, i.Sessions)
	i.printHit(&b)
	for _, text := range i.Header.Notes {
		fmt.Fprintf(&b, "  note: %s\n", text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (i *Info) printHit(b *strings.Builder) {
	if i.IdealHit == nil {
		fmt.Fprintf(b, "  ideal hit: unknown, the trace does not say what prompts share\n")
	} else {
		fmt.Fprintf(b, "  ideal hit of an infinite cache: %.2f %% of prompt tokens (blocks of %d); %d of %d blocks are different (%.2f %%)\n",
			100**i.IdealHit, HitBlock, i.UniqueBlocks, i.Blocks, 100*float64(i.UniqueBlocks)/float64(max(1, i.Blocks)))
		if r := i.HitRange; r != nil {
			fmt.Fprintf(b, "  rows come too late to be put in the order of their arrival: in it, in which a replay serves them, the ideal hit is %.2f to %.2f %%\n", 100*r[0], 100*r[1])
		}
		fmt.Fprintf(b, "  depth      keys   Gini   top key  reuse within keys\n")
		for n, k := range i.ByDepth {
			if n > 0 && n < len(i.ByDepth)-1 && k.Count == i.ByDepth[n-1].Count && k.Count == i.ByDepth[n+1].Count {
				continue
			}
			fmt.Fprintf(b, "  %5d %9d  %.3f  %6.2f %%  %s\n", k.Depth, k.Count, k.Gini, 100*k.TopShare, figure(percent(k.Reuse), "%.1f %%"))
		}
	}
	if i.Estimated {
		fmt.Fprintf(b, "  too many blocks or keys to count all: their figures are estimates from a part, chosen by hash\n")
	}
	if i.ObservedTTFTS != nil || i.ObservedCached != nil {
		fmt.Fprintf(b, "  observed: mean TTFT %s s, cached %s of prompt tokens\n", figure(i.ObservedTTFTS, "%.4g"), figure(percent(i.ObservedCached), "%.2f %%"))
	}
}

func percent(v *float64) *float64 {
	if v == nil {
		return nil
	}
	p := 100 * *v
	return &p
}

// figure prints a number that may be unknown.
func figure(v *float64, format string) string {
	if v == nil {
		return "unknown"
	}
	return fmt.Sprintf(format, *v)
}

var bars = []rune("▁▂▃▄▅▆▇█")

// Sparkline draws rates from 0 to their maximum in at most so many signs.
func Sparkline(rates []float64, most int) string {
	group := (len(rates) + most - 1) / most
	var means []float64
	for from := 0; from < len(rates); from += group {
		part := rates[from:min(len(rates), from+group)]
		sum := 0.0
		for _, r := range part {
			sum += r
		}
		means = append(means, sum/float64(len(part)))
	}
	top := slices.Max(means)
	var line []rune
	for _, m := range means {
		line = append(line, bars[min(len(bars)-1, int(m/top*float64(len(bars))))])
	}
	return string(line)
}
