package workload

import (
	"math"
	"testing"

	"cacheroute/sim/clock"
)

func TestWhales(t *testing.T) {
	s := table1()
	for _, c := range []struct {
		whales WhaleSpec
		qps    float64
		want   string // error
		share  float64
	}{
		{WhaleSpec{Count: 2, TimesTarget: 3, TargetQPS: 10}, 100, "", 0.6},
		{WhaleSpec{Count: 2, TimesTarget: 3, TargetQPS: 10}, 60, "", 1},
		{WhaleSpec{Count: 2, TimesTarget: 3, TargetQPS: 10}, 59, "whales.times_target: 2 whales of 30", 0},
		{WhaleSpec{Count: 2, TrafficShare: 0.25}, 59, "", 0.25},
	} {
		s.Whales = &c.whales
		w, err := NewSynthetic(s)
		if err != nil {
			t.Fatal(err)
		}
		rates, err := w.Rates(c.qps)
		if c.want != "" {
			wantError(t, err, c.want)
			_, err = w.Open(c.qps, clock.Streams{})
			wantError(t, err, c.want)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var sum float64
		for _, r := range rates {
			sum += r
		}
		near(t, "sum of rates", sum, c.qps, 1e-9)
		near(t, "share of the whales", (rates[128]+rates[129])/c.qps, c.share, 1e-9)
	}
}

func TestSpecErrors(t *testing.T) {
	nan := math.NaN()
	for want, change := range map[string]func(*Spec){
		"keys: missing":                       func(s *Spec) { s.Keys = nil },
		"keys.sigma: ":                        func(s *Spec) { s.Keys = &LognormalKeys{Sigma: nan, Count: 1} },
		"keys.count: ":                        func(s *Spec) { s.Keys = &LognormalKeys{} },
		"keys.top: ":                          func(s *Spec) { s.Keys = &ZipfKeys{Count: 1, Top: 2} },
		"keys.file: ":                         func(s *Spec) { s.Keys = &RatesKeys{} },
		"arrivals.cv: ":                       func(s *Spec) { s.Arrivals = &GammaArrivals{} },
		"whales.count: ":                      func(s *Spec) { s.Whales = &WhaleSpec{} },
		"whales.traffic_share: must be above": func(s *Spec) { s.Whales = &WhaleSpec{Count: 1, TrafficShare: nan} },
		"whales.traffic_share: cannot":        func(s *Spec) { s.Whales = &WhaleSpec{Count: 1, TrafficShare: 0.5, TargetQPS: 1} },
		"whales.target_qps: ":                 func(s *Spec) { s.Whales = &WhaleSpec{Count: 1, TimesTarget: 1} },
		"prompt.template_tokens: ":            func(s *Spec) { s.Prompt.TemplateTokens = -1 },
		"prompt.context_tokens.tokens: ":      func(s *Spec) { s.Prompt.ContextTokens = Tokens(-1) },
		"prompt.turn_tokens.sigma: ":          func(s *Spec) { s.Prompt.TurnTokens = lognormalLen(1, nan) },
		"prompt.turn_tokens: ":                func(s *Spec) { s.Prompt.TurnTokens = Length{} },
		"prompt.variants: ":                   func(s *Spec) { s.Prompt.Variants = -1 },
		"prompt.stay_probability: ":           func(s *Spec) { s.Prompt.StayProbability = nan },
		"prompt.thread.mean_requests: ":       func(s *Spec) { s.Prompt.Thread = &ThreadSpec{MaxHistoryTokens: 1} },
		"prompt.thread.max_history_tokens: ":  func(s *Spec) { s.Prompt.Thread = &ThreadSpec{MeanRequests: 2} },
		"output_tokens: ":                     func(s *Spec) { s.Output = Length{} },
	} {
		s := table1()
		change(&s)
		_, err := NewSynthetic(s)
		wantError(t, err, want)
	}
	w, err := NewSynthetic(table1())
	if err != nil {
		t.Fatal(err)
	}
	for _, qps := range []float64{0, -1, nan, math.Inf(1)} {
		_, err := w.Open(qps, clock.Streams{})
		wantError(t, err, "offered load: ")
	}
}

func TestFilesOfASpec(t *testing.T) {
	s := table1()
	s.Keys = &RatesKeys{File: "a"}
	s.Arrivals = &BootstrapArrivals{File: "b"}
	s.Prompt.TurnTokens = Length{&EmpiricalLength{File: "c"}}
	s.Output = Length{&EmpiricalLength{File: "d"}}
	var names string
	for _, f := range s.Files() {
		names += *f
		*f += "!"
	}
	if names != "abcd" || s.Keys.(*RatesKeys).File != "a!" {
		t.Errorf("files %q, keys %+v", names, s.Keys)
	}
}
