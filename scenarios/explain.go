package scenarios

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"cacheroute/calib"
	"cacheroute/policies"
	"cacheroute/results"
	"cacheroute/workload"
)

// Explain says in words what the study runs, with so many workers (0: one for
// each CPU), how long that takes and how much memory it needs.
func (r *Runner) Explain(ctx context.Context, w io.Writer, workers int) error {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	e := &explainer{r: r, s: r.Study}
	e.say("study", "%s", e.s.Name)
	if e.s.Description != "" {
		e.say("", "%s", e.s.Description)
	}
	if err := e.fleet(); err != nil {
		return err
	}
	e.workload()
	e.policies()
	e.ladder()
	e.measure()
	if err := e.cost(ctx, min(workers, r.Cells())); err != nil {
		return err
	}
	for _, n := range r.Notices {
		if !strings.HasPrefix(n, "preset "+e.s.Fleet.Preset) { // said with the fleet
			e.say("note", "%s", n)
		}
	}
	_, err := w.Write(e.text.Bytes())
	return err
}

// explainer writes paragraphs with a heading in the margin.
type explainer struct {
	r    *Runner
	s    *Study
	text bytes.Buffer
}

const (
	margin   = 11
	pageWide = 100
)

// say writes a paragraph, wrapped.
func (e *explainer) say(heading, format string, args ...any) {
	line := fmt.Sprintf("%-*s", margin, heading)
	column := margin
	for i, word := range strings.Fields(fmt.Sprintf(format, args...)) {
		n := len([]rune(word))
		switch {
		case i == 0:
		case column+1+n > pageWide:
			line += "\n" + strings.Repeat(" ", margin)
			column = margin
		default:
			line += " "
			column++
		}
		line += word
		column += n
	}
	e.text.WriteString(line + "\n")
}

func (e *explainer) fleet() error {
	f := &e.s.Fleet
	p, err := calib.Load(f.Preset)
	if err != nil {
		return err
	}
	e.say("fleet", "%s", fleetWords(f, p))
	e.say("", "KV cache of %s blocks of %d tokens (%s tokens), at most %s and %s tokens a step; price of a step: %s %s",
		grouped(f.KVBlocks), f.BlockTokens, grouped(f.KVBlocks*f.BlockTokens), count(f.MaxSeqs, "sequence"), grouped(f.MaxBatchedTokens), f.Cost.Name, parameters(f.Cost.Spec))
	if f.TTFTOverheadS > 0 {
		e.say("", "client and network add %v s to each request", f.TTFTOverheadS)
	}
	if f.ClientOverheadS > 0 {
		e.say("", "clients need %v s after the last token", f.ClientOverheadS)
	}
	if f.SignalIntervalS > 0 {
		e.say("", "policies see a load signal that is up to %v s old", f.SignalIntervalS)
	}
	if f.HashSeed > 0 {
		e.say("", "keys are hashed with seed %d for all seeds of the study", f.HashSeed)
	}
	return e.origins()
}

// origins says which numbers of the fleet are measured, given, fitted or assumed.
func (e *explainer) origins() error {
	all, err := e.s.Assumptions()
	if err != nil {
		return err
	}
	by := map[results.Origin][]string{}
	for _, a := range all {
		by[a.Origin] = append(by[a.Origin], strings.TrimPrefix(a.Parameter, "fleet."))
	}
	var parts []string
	for _, o := range results.Origins {
		if by[o] != nil {
			parts = append(parts, fmt.Sprintf("%d %s: %s", len(by[o]), o, list(by[o])))
		}
	}
	e.say("", "numbers: %s", strings.Join(parts, "; "))
	return nil
}

func (e *explainer) workload() {
	f := e.r.load.Asked(slices.Max(e.s.LoadsQPS))
	if t := e.r.trace; t != nil {
		h := t.Header()
		e.say("workload", "the trace %s (%s): %s requests in %.4g s, %s", h.Path, h.Format, grouped(h.RowsKept), h.SpanS, count(f.Keys, "routing key"))
		e.say("", "a load replays it at load / %.4g times its recorded speed", t.QPS())
	} else {
		w := &e.s.Workload.Synthetic
		e.say("workload", "%s: %s %s", count(f.Keys, "routing key"), w.Keys.Name, parameters(w.Keys.Spec))
		if w.Whales != nil {
			e.say("", "%s among them: %s", count(w.Whales.Count, "whale"), changed(w.Whales, &workload.WhaleSpec{}))
		}
		if w.Drift != nil {
			e.say("", "keys have %s", driftWords(w.Drift))
		}
		arrivals := w.Arrivals.Name
		if text := parameters(w.Arrivals.Spec); text != "{}" {
			arrivals += " " + text
		}
		e.say("", "arrivals: %s", arrivals)
		e.say("", "prompts: %s", promptWords(&w.Prompt))
		e.say("", "answers: %s", lengthWords(w.Output))
	}
	e.say("", "in the mean: %s", meanWords(f))
}

func (e *explainer) policies() {
	heading := "policies"
	for i := range e.s.Policies {
		p := &e.s.Policies[i]
		name := p.Label
		if p.Label != p.Name {
			name += " (" + p.Name + ")"
		}
		text := name + ": " + p.Spec.About()
		if own := changed(p.Spec, policies.Policies[p.Name]()); own != "" {
			text += "; " + own
		}
		e.say(heading, "%s", text)
		heading = ""
	}
}

func (e *explainer) ladder() {
	loads := slices.Clone(e.s.LoadsQPS)
	slices.Sort(loads)
	e.say("loads", "%s requests/s", joined(loads))
	e.say("seeds", "%s; with one seed all policies meet the same requests", joined(e.s.Seeds))
}

func (e *explainer) measure() {
	m := &e.s.Measure
	window := fmt.Sprintf("%v s", m.DurationS)
	switch {
	case m.ByStage:
		window = "each stage of the arrivals as a load, with what the stages before left in queues and caches"
	case m.DurationS == 0:
		window = "all to the end of the trace"
	}
	text := "measured: " + window
	if m.WarmupS > 0 {
		text = warmupWords(m) + ", then " + text
	} else {
		text += ", from cold caches on"
	}
	if m.DeadlineS > 0 {
		text += fmt.Sprintf("; clients give up after %v s", m.DeadlineS)
	} else {
		text += "; no client gives up"
	}
	if m.HitsOf == hitsServed {
		text += "; hits are of the requests that are served in it, not of those that arrive in it"
	}
	e.say("window", "%s", text)
	e.say("objective", "p99 of the time to first token within %s s, and at most %.3g %% failed", strings.Join(strings.Split(joined(m.SLOs), ", "), " s, "), 100*m.MaxFailureRate)
}

// cost says how much there is to do and what it takes.
func (e *explainer) cost(ctx context.Context, workers int) error {
	s := e.s
	e.say("runs", "%s (%s x %s x %s), about %s requests", count(e.r.Cells(), "cell"),
		count2(len(s.Policies), "policy", "policies"), count(len(s.LoadsQPS), "load"), count(len(s.Seeds), "seed"), rounded(e.r.expected()))
	est, err := e.r.estimate(ctx, workers)
	if err != nil {
		return err
	}
	e.say("takes", "about %s on %s (a sample ran %s requests/s on one), and %s of memory",
		span(est.Seconds), count2(workers, "CPU", "CPUs"), rounded(est.Rate), megabytes(est.Bytes))
	return nil
}
