package workload

import (
	"errors"
	"fmt"

	"cacheroute/sim/clock"
	"cacheroute/workload/share"
)

// Workload is what a study replays: *Synthetic or *Trace. It is immutable and
// safe for concurrent use; all that moves is in the Source of one cell.
type Workload interface {
	// Keys is the number of routing keys; keys are dense from 0.
	Keys() int
	// KeyHashes is an unseeded 64-bit hash of each key's name. The caller must
	// not change it.
	KeyHashes() []uint64
	// Rates is the expected rate of each key in requests per second when qps
	// are offered in all.
	Rates(qps float64) ([]float64, error)
	// Open starts the requests of one cell at the offered load.
	Open(qps float64, s clock.Streams) (Source, error)
	// Asked is what the parameters ask for at the offered load, to print beside
	// what a run realised.
	Asked(qps float64) Figures
}

// Figures describes a stream of requests. NaN marks what is undefined.
type Figures struct {
	QPS          float64 // mean requests per second
	GapCV        float64 // standard deviation / mean of the gaps between arrivals
	Keys         int
	Gini         float64 // of requests over keys
	TopShare     float64 // share of the most frequent key
	Top4Share    float64 // share of the most frequent 4 % of keys
	PromptTokens float64 // mean
	OutputTokens float64 // mean
}

// Spec describes a synthetic workload.
type Spec struct {
	Keys     KeySpec
	Whales   *WhaleSpec // nil: none
	Drift    *DriftSpec // nil: the rates of keys hold for the whole run
	Arrivals ArrivalSpec
	Prompt   PromptSpec
	Output   Length
}

// Check returns nil or an error that begins with the path of the offending
// parameter and a colon. It reads no file.
func (s Spec) Check() error {
	if s.Keys == nil {
		return errors.New("keys: missing")
	}
	if s.Arrivals == nil {
		return errors.New("arrivals: missing")
	}
	if err := under("keys", s.Keys.Check()); err != nil {
		return err
	}
	if s.Whales != nil {
		if err := under("whales", s.Whales.Check()); err != nil {
			return err
		}
	}
	if s.Drift != nil {
		if err := under("drift", s.Drift.Check()); err != nil {
			return err
		}
	}
	if err := under("arrivals", s.Arrivals.Check()); err != nil {
		return err
	}
	if err := under("prompt", s.Prompt.Check()); err != nil {
		return err
	}
	if s.Prompt.Cycle != "" && s.Whales != nil {
		return errors.New("prompt.cycle: read with whales, wanted keys of equal shares")
	}
	if s.Prompt.Cycle != "" && s.Drift != nil {
		return errors.New("prompt.cycle: read with drift, wanted keys of equal shares")
	}
	return s.Output.check("output_tokens", 1)
}

// Files returns where the spec names files, so that a caller can resolve them
// against the study's folder and hash them.
func (s Spec) Files() []*string {
	var files []*string
	add := func(v any) {
		if u, ok := v.(fileUser); ok && *u.file() != "" {
			files = append(files, u.file())
		}
	}
	add(s.Keys)
	add(s.Arrivals)
	for _, l := range append(s.Prompt.lengths(), s.Output) {
		add(l.Dist)
	}
	return files
}

// fileUser is a spec that may read a file.
type fileUser interface{ file() *string }

// popularity fills the figures that depend on the shares alone.
func (f *Figures) popularity(shares []float64) {
	f.Keys = len(shares)
	f.Gini = share.Gini(shares)
	f.TopShare = share.Top(shares, 0)
	f.Top4Share = share.Top(shares, 0.04)
}

// under puts the name of a parent before the parameter that err begins with.
func under(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s.%w", name, err)
}

// between returns an error that begins with the name unless lo <= x <= hi; NaN
// is refused.
func between(name string, x, lo, hi float64) error {
	if !(x >= lo && x <= hi) {
		return fmt.Errorf("%s: must be between %v and %v, got %v", name, lo, hi, x)
	}
	return nil
}

// first returns the first error that is not nil.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// checkLoad refuses an offered load that no clock can space.
func checkLoad(qps float64) error {
	if !(qps >= 1e-6 && qps <= 1e9) {
		return fmt.Errorf("offered load: must be between 1e-06 and 1e+09 requests/s, got %v", qps)
	}
	return nil
}
