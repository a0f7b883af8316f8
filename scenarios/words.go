package scenarios

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"cacheroute/workload"
)

// promptWords says what prompts consist of.
func promptWords(p *workload.PromptSpec) string {
	var parts []string
	add := func(what string, l workload.Length) {
		if c, ok := l.Dist.(*workload.ConstantLength); l.Dist != nil && !(ok && c.Tokens == 0) {
			parts = append(parts, what+" of "+lengthWords(l))
		}
	}
	add("a template of all keys", workload.Tokens(p.TemplateTokens))
	add("a context of the key", p.ContextTokens)
	retrieved := "a retrieved block"
	switch {
	case p.Cycle != "":
		retrieved = fmt.Sprintf("one of %s of the key, in turn from a list (%s)", count(max(1, p.Variants), "retrieved block"), p.Cycle)
	case p.Variants > 1:
		retrieved = fmt.Sprintf("one of %d retrieved blocks of the key (%.3g %% of its requests keep that of the one before)", p.Variants, 100*p.StayProbability)
	}
	add(retrieved, p.RetrievedTokens)
	if t := p.Thread; t != nil {
		parts = append(parts, fmt.Sprintf("earlier turns and answers (threads of %.3g requests in the mean, at most %s tokens)", t.MeanRequests, grouped(t.MaxHistoryTokens)))
	}
	add("a turn of its own", p.TurnTokens)
	return strings.Join(parts, ", ")
}

// lengthWords says how long something is.
func lengthWords(l workload.Length) string {
	switch d := l.Dist.(type) {
	case nil:
		return "0 tokens"
	case *workload.ConstantLength:
		return count(d.Tokens, "token")
	case *workload.LognormalLength:
		return fmt.Sprintf("%s tokens in the mean (lognormal, sigma %v)", whole(d.Mean), d.Sigma)
	case *workload.UniformLength:
		return fmt.Sprintf("%s to %s tokens", grouped(d.Min), grouped(d.Max))
	}
	return "recorded lengths"
}

// changed lists the parameters that are not as in the defaults.
func changed(spec, standard any) string {
	var is, was map[string]any
	if yaml.Load([]byte(parameters(spec)), &is) != nil || yaml.Load([]byte(parameters(standard)), &was) != nil {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if !reflect.DeepEqual(is[name], was[name]) {
			parts = append(parts, fmt.Sprintf("%s %v", name, is[name]))
		}
	}
	return list(parts)
}

// joined writes items as a reader wants them.
func joined[T any](items []T) string {
	text := make([]string, len(items))
	for i, x := range items {
		switch v := any(x).(type) {
		case float64:
			text[i] = fmt.Sprintf("%.6g", v)
		default:
			text[i] = fmt.Sprint(v)
		}
	}
	return list(text)
}

func count(n int, what string) string { return count2(n, what, what+"s") }

func count2(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}

// grouped writes a number with commas.
func grouped[T int | int64](n T) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// whole writes a number to the nearest whole one.
func whole(x float64) string { return grouped(int64(math.Round(x))) }

// rounded writes two digits of a number.
func rounded(x float64) string {
	if !(x >= 100) {
		return fmt.Sprintf("%.0f", x)
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	return grouped(int64(math.Round(x/unit) * unit))
}

// span writes a time as one would say it.
func span(seconds float64) string {
	switch {
	case seconds < 1:
		return "a second"
	case seconds < 100:
		return fmt.Sprintf("%.2g s", seconds)
	case seconds < 6000:
		return fmt.Sprintf("%.0f min", seconds/60)
	}
	return fmt.Sprintf("%.2g h", seconds/3600)
}

func megabytes(bytes float64) string {
	if bytes < 1e9 {
		return fmt.Sprintf("%s MB", rounded(max(1, bytes/1e6)))
	}
	return fmt.Sprintf("%.2g GB", bytes/1e9)
}

// warmupWords says what comes before the measured window.
func warmupWords(m *Measure) string {
	text := fmt.Sprintf("%v s of warm-up", m.WarmupS)
	if m.WarmupQPS > 0 {
		text += fmt.Sprintf(" at %.4g requests/s", m.WarmupQPS)
	}
	if m.SettleS > 0 {
		text += fmt.Sprintf(", %v s without arrivals", m.SettleS)
	}
	return text
}
