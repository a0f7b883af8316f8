package paper

import (
	"fmt"
	"math"
	"slices"
	"time"

	"cacheroute/policies"
	"cacheroute/results"
	"cacheroute/scenarios"
	"cacheroute/workload"
)

// everyKey is the population of a study before the top keys are selected.
func everyKey(e *entry) (*workload.Keys, error) {
	s, _, err := (&recipe{name: e.name, set: append(slices.Clone(e.set), top(0))}).build("", nil)
	if err != nil {
		return nil, err
	}
	return s.Workload.Synthetic.Keys.Spec.Build()
}

// population is a figure of Table 6.
func population(_ *bench, e *entry, s source) (Number, string) {
	if s.Figure == "replicated" {
		return replicated(e, s.Load)
	}
	keys, err := everyKey(e)
	if err != nil {
		return Number{}, err.Error()
	}
	w := &e.study.Workload.Synthetic
	var means [3]float64
	for i, l := range []workload.Length{w.Prompt.ContextTokens, w.Prompt.RetrievedTokens, w.Prompt.TurnTokens} {
		length, err := l.Build()
		if err != nil {
			return Number{}, err.Error()
		}
		means[i] = length.Mean()
	}
	context, turn := means[0], means[2]
	input := float64(w.Prompt.TemplateTokens) + context + means[1] + turn
	switch s.Figure {
	case "keys":
		return exactly(float64(keys.Len())), ""
	case "gini":
		return exactly(gini(keys.Share)), ""
	case "top key":
		n := exactly(100 * keys.Share[0])
		n.Text = words(n, 2)
		return n, ""
	case "top 4":
		sum := 0.0
		for _, x := range keys.Share[:int(math.Round(0.04*float64(keys.Len())))] {
			sum += x
		}
		return exactly(100 * sum), ""
	case "input":
		return exactly(input), ""
	case "preceding":
		return exactly(100 * (1 - turn/input)), ""
	case "context":
		return exactly(context), ""
	case "context share":
		return exactly(100 * context / input), ""
	case "breaks":
		return exactly(100 * (1 - w.Prompt.StayProbability)), ""
	case "key CV":
		return keyCV(w)
	}
	return threads(w, s.Figure)
}

// replicated is the number of keys whose rate at a load exceeds q_cap.
func replicated(e *entry, load float64) (Number, string) {
	keys, err := e.study.Workload.Synthetic.Keys.Spec.Build()
	if err != nil {
		return Number{}, err.Error()
	}
	rule, n := e.study.Policies[0].Spec.(*policies.CacheRoute), 0
	for _, share := range keys.Share {
		if share*load > rule.QCap {
			n++
		}
	}
	number := exactly(float64(n))
	number.Text = fmt.Sprintf("%d (the largest has %.2g requests/s, q_cap is %v)", n, keys.Share[0]*load, rule.QCap)
	return number, ""
}

// keyCV is the CV of the gaps of one key. A random choice of keys makes a
// Poisson stream of each from a Poisson stream of all.
func keyCV(w *scenarios.Synthetic) (Number, string) {
	if w.Arrivals.Name != "poisson" {
		return Number{}, "the gaps of a key follow from no formula for arrivals of kind " + w.Arrivals.Name
	}
	n := exactly(1)
	n.Text = words(n, 2)
	return n, ""
}

// threads are the figures of multi-turn traffic.
func threads(w *scenarios.Synthetic, figure string) (Number, string) {
	t := w.Prompt.Thread
	if t == nil {
		return Number{}, "the scenario's prompts have no earlier turns"
	}
	n := exactly(t.MeanRequests)
	n.Text = words(n, 2)
	if figure == "multi-turn" { // a thread of one request ends with probability 1/mean
		n = exactly(100 * (1 - 1/t.MeanRequests/t.MeanRequests))
	}
	return n, ""
}

// gini is the Gini coefficient of falling shares whose sum is 1.
func gini(shares []float64) float64 {
	n, sum := float64(len(shares)), 0.0
	for i, x := range shares {
		sum += (n - 2*float64(i) - 1) * x
	}
	return sum / n
}

// planLimitMS is the paper's time for a plan (section 3.1).
const planLimitMS = 345

// planTime is the time that Algorithm 1 takes for every key of the population,
// of which is only said that it is below the paper's: it differs from one run to
// the next.
func planTime(_ *bench, e *entry, s source) (Number, string) {
	keys, err := everyKey(e)
	if err != nil {
		return Number{}, err.Error()
	}
	best := math.Inf(1)
	for range 3 {
		start := time.Now()
		if _, err := policies.Plan(policies.PlanInput{Rates: keys.Share, Destinations: e.study.Fleet.Destinations, Rule: *policies.NewCacheRoute()}); err != nil {
			return Number{}, err.Error()
		}
		best = min(best, 1e3*time.Since(start).Seconds())
	}
	n := exactly(math.Ceil(best/planLimitMS) * planLimitMS)
	if n.Mean == planLimitMS {
		n.Text, n.Censor = fmt.Sprintf("<%d", planLimitMS), results.CensorLeft
	}
	return n, ""
}
