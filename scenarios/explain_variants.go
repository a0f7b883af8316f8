package scenarios

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
)

// What is said of many variants: that many are named, and that many sampled for
// how long all take.
const (
	mostNamed   = 12
	mostSampled = 4
)

// ExplainVariants says which studies a study with axes stands for and how long
// they take, then explains the first.
func ExplainVariants(ctx context.Context, w io.Writer, variants []Variant, workers int) error {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	e := &explainer{}
	e.say("sweep", "%s: %s over %s", variants[0].Base(), count(len(variants), "variant"), count2(len(variants[0].Values), "axis", "axes"))
	for _, a := range Axes(variants) {
		e.say("", "%s: %s", a.Path, cutList(a.Values))
	}
	var labels []string
	for _, v := range variants {
		labels = append(labels, v.Label)
	}
	e.say("variants", "%s", cutList(labels))
	first, err := e.variants(ctx, variants, workers)
	if err != nil {
		return err
	}
	e.say("", "the first of them:")
	if _, err := w.Write(append(e.text.Bytes(), '\n')); err != nil {
		return err
	}
	return first.Explain(ctx, w, workers)
}

// cutList lists the first items and counts the rest.
func cutList(items []string) string {
	if len(items) <= mostNamed {
		return strings.Join(items, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(items[:mostNamed], "; "), len(items)-mostNamed)
}

// variants counts the cells and samples some variants for the time that all
// take. It returns the first, ready to run.
func (e *explainer) variants(ctx context.Context, variants []Variant, workers int) (first *Runner, err error) {
	n := min(len(variants), mostSampled)
	seconds, most := 0.0, 0.0
	for i := range n {
		r, err := Prepare(variants[i*(len(variants)-1)/max(1, n-1)].Study, nil)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			first = r
		}
		est, err := r.estimate(ctx, min(workers, r.Cells()))
		if err != nil {
			return nil, err
		}
		seconds, most = seconds+est.Seconds/float64(n), max(most, est.Bytes)
	}
	cells := 0
	for _, v := range variants {
		s := v.Study
		cells += len(s.Policies) * max(1, len(s.LoadsQPS)) * len(s.Seeds)
	}
	e.say("all runs", "%s of all variants, about %s on %s (from %s), and %s of memory", count(cells, "cell"),
		span(seconds*float64(len(variants))), count2(workers, "CPU", "CPUs"), fmt.Sprintf("%d of them sampled", n), megabytes(most))
	return first, nil
}
