package scenarios

import (
	"fmt"
	"slices"

	"cacheroute/policies"
	"cacheroute/sim/clock"
)

// lowCoverage is the share of the traffic below which a plan is mostly not in
// effect.
const lowCoverage = 0.9

// doubts collects what the reader of the results should know about the study.
func (r *Runner) doubts() error {
	r.traceDoubts()
	objective := slices.Min(r.Study.Measure.SLOs)
	for i := range r.Study.Policies {
		if p, ok := r.Study.Policies[i].Spec.(*policies.DualMap); ok && p.Theta > objective {
			r.Notices = append(r.Notices, fmt.Sprintf("policy %s: theta_s %v is above the objective of %v s: it leaves the warm destination too late for it",
				r.Study.Policies[i].Label, p.Theta, objective))
		}
	}
	r.ring()
	return r.coverage()
}

// ring says what the intervals of policies that hash keys leave out.
func (r *Runner) ring() {
	var hashing []string
	for i := range r.Study.Policies {
		switch p := &r.Study.Policies[i]; p.Spec.(type) {
		case *policies.Sticky, *policies.CHWBL, *policies.DualMap:
			hashing = append(hashing, p.Label)
		}
	}
	if r.Study.Fleet.HashSeed > 0 && len(r.Study.Seeds) > 1 && hashing != nil {
		r.Notices = append(r.Notices, fmt.Sprintf("fleet.hash_seed %d hashes the keys alike under every seed, so the intervals of %s leave out the luck of that ring; 0 draws one for each seed",
			r.Study.Fleet.HashSeed, list(hashing)))
	}
}

// traceDoubts are those of a recorded workload.
func (r *Runner) traceDoubts() {
	if r.trace == nil {
		return
	}
	h := r.trace.Header()
	add := func(format string, args ...any) {
		r.Notices = append(r.Notices, "trace: "+fmt.Sprintf(format, args...))
	}
	for _, text := range h.Notes {
		add("%s", text)
	}
	if text := r.observedWords(); text != "" {
		add("%s", text)
	}
	switch {
	case h.Figures.Keys == 1:
		add("all requests have one key (key rule %s), so a policy by key sends them to the few destinations of that key; see --key", h.KeyRule)
	case 2*h.Figures.Keys > h.RowsKept:
		add("%d keys for %d requests (key rule %s): most keys come once, so no policy by key can help; see --key prefix:DEPTH", h.Figures.Keys, h.RowsKept, h.KeyRule)
	}
	switch m := r.Study.Workload.Trace.Prompt; {
	case !r.trace.HitsKnown():
		add("it does not say what prompts share, so KV hits are unknown and every prompt is computed whole; workload.trace.prompt (--assume) states what they share")
	case m != nil && h.Unknown == 0:
		add("it says what prompts share, so the stated prompt model (workload.trace.prompt, --assume) is not used")
	case m != nil:
		add("hits rest on the assumption that prompts share %v", m)
	}
	if text := h.SpeedWords(r.Study.LoadsQPS); text != "" && r.trace.HitsKnown() {
		add("%s", text)
	}
}

// coverage says which plans leave much of the traffic to the cold tail, and
// what may be plenty of room for more slots: an operator who keeps the paper's W
// for other prompts would otherwise measure little but the fallback.
func (r *Runner) coverage() error {
	highest := slices.Max(r.Study.LoadsQPS)
	f := r.load.Asked(highest)
	for i := range r.Study.Policies {
		p := &r.Study.Policies[i]
		rule, ok := p.Spec.(*policies.CacheRoute)
		if !ok {
			continue
		}
		built, err := r.policy(Cell{Policy: p, LoadQPS: highest}, clock.Streams{})
		if err != nil {
			return err
		}
		t := built.(policies.Planned).Table()
		if t.AdmittedShare() >= lowCoverage {
			continue
		}
		note := fmt.Sprintf("policy %s: %d slots a destination admit %d of %d keys with %.0f %% of the traffic, the rest is routed as flat-lb",
			p.Label, rule.Slots, len(t.Admitted), t.Keys(), 100*t.AdmittedShare())
		fleet := &r.Study.Fleet
		if room := float64(fleet.KVBlocks) * float64(fleet.BlockTokens) / f.PromptTokens; room > float64(rule.Slots) {
			note += fmt.Sprintf("; the KV cache of a destination holds about %.0f mean prompts, see --set policies.%s.slots=N", room, p.Label)
		}
		r.Notices = append(r.Notices, note)
	}
	return nil
}
