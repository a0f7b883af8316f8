package calib

import (
	"fmt"
	"math"
)

// Facts are how a bench was run, where its file does not say.
type Facts struct {
	// LengthRatio is the shortest length over the longest; lengths are uniform
	// between the two. 0: not known.
	LengthRatio float64 `json:"length_ratio"`
	// RequestsPerClient is how many requests a client sent. 0: not known.
	RequestsPerClient int `json:"requests_per_client"`
	// Waiting is how many clients found no place in the engine. -1: not known.
	Waiting int `json:"waiting_clients"`
	// OnePrompt: a step has room for one prompt beside the decoding sequences.
	OnePrompt bool `json:"one_prompt_a_step"`
	// NoPrefixCaching: the engine ran without it.
	NoPrefixCaching bool `json:"no_prefix_caching"`
}

// NoFacts knows nothing.
var NoFacts = Facts{Waiting: -1}

// Check refuses what no bench can be.
func (f Facts) Check() error {
	switch {
	case f.LengthRatio != 0 && !(f.LengthRatio >= 1e-3 && f.LengthRatio <= 1):
		return fmt.Errorf("length_ratio: must lie between 0.001 and 1, got %v", f.LengthRatio)
	case f.RequestsPerClient < 0 || f.RequestsPerClient > 1e6:
		return fmt.Errorf("requests_per_client: must lie between 1 and 1e6, got %d", f.RequestsPerClient)
	case f.Waiting < -1 || f.Waiting > maxClients:
		return fmt.Errorf("waiting_clients: must not be negative, got %d", f.Waiting)
	}
	return nil
}

func (f Facts) String() string {
	lengths := "all lengths equal"
	if f.LengthRatio > 0 && f.LengthRatio < 1 {
		lengths = fmt.Sprintf("lengths uniform from %v to 1 of the longest", f.LengthRatio)
	}
	requests := f.RequestsPerClient
	if requests == 0 {
		requests = roundsOfBench
	}
	text := fmt.Sprintf("%s, %d requests a client, %s without a place", lengths, requests, counted(max(f.Waiting, 0), "client"))
	if f.OnePrompt {
		text += ", one prompt a step"
	}
	if f.NoPrefixCaching {
		text += ", no prefix caching"
	}
	return text
}

// With returns the row with the facts filled in where its file does not say.
func (r BenchRow) With(f Facts) BenchRow {
	r.Input, r.Output = r.Input.with(f.LengthRatio), r.Output.with(f.LengthRatio)
	if r.Requests == 0 {
		r.Requests = f.RequestsPerClient * r.Concurrency
	}
	r.Waiting = min(max(f.Waiting, 0), r.Concurrency-1)
	r.OnePrompt, r.NoPrefixCaching = f.OnePrompt, f.NoPrefixCaching
	return r
}

// with spreads lengths of which only one figure is known.
func (l Lengths) with(ratio float64) Lengths {
	if ratio == 0 || l.Known == LengthsRange {
		return l
	}
	most := l.Max
	if l.Known == LengthsMean {
		most = 2 * l.Mean / (1 + ratio)
	}
	return Lengths{Mean: most * (1 + ratio) / 2, Min: ratio * most, Max: most}
}

// square is the mean square of lengths uniform between their bounds.
func (l Lengths) square() float64 { return l.Mean*l.Mean + (l.Max-l.Min)*(l.Max-l.Min)/12 }

// longest is lengths between ratio*most and most; all equal, as far as is
// known, for a ratio of 0.
func longest(most, ratio float64) Lengths {
	l := Lengths{Mean: most, Min: most, Max: most, Known: LengthsLongest}
	if ratio == 0 {
		return l
	}
	return l.with(ratio)
}

// onlyMean is lengths of which the mean is known.
func onlyMean(mean float64) Lengths {
	return Lengths{Mean: mean, Min: mean, Max: mean, Known: LengthsMean}
}

// tokensHeld is the mean tokens in the KV cache while all clients are served.
func (r BenchRow) tokensHeld() float64 {
	return float64(r.Concurrency) * (r.Input.Mean + r.Output.square()/(2*math.Max(1, r.Output.Mean)))
}
