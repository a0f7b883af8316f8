package scenarios

import (
	"fmt"
	"math"
	"strconv"

	"cacheroute/workload"
)

// TrainSpan reads how much of a recording rates are estimated from: a number
// below 1 is a fraction of its span, another one seconds. Something must be left.
func TrainSpan(flag string, spanS float64) (float64, error) {
	x, err := strconv.ParseFloat(flag, 64)
	if err == nil && x < 1 {
		x *= spanS
	}
	if err != nil || !(x > 0 && x < spanS) {
		return 0, Badf("--train %s: wanted a fraction below 1, or seconds below the %.6g of the recording", flag, spanS)
	}
	return x, nil
}

// Least number of requests that rates are estimated from, see
// workload.Trace.EffectiveRequests: one has no rate; the sum of the rates of 100
// is known to a fifth at 95 % (1.96/√100, as counts of Poisson arrivals are), that
// of a key worse.
const (
	leastTrained    = 2
	doubtfulTrained = 100
)

// Trained is an estimate of key rates from the first part of a recording.
type Trained struct {
	Rates    []float64 // by key
	ToS      float64   // end of that part
	Requests float64   // effective
}

// Train estimates the rates of a recording, see TrainSpan.
func Train(t *workload.Trace, train string, halfLifeS float64) (*Trained, error) {
	to, err := TrainSpan(train, t.Header().SpanS)
	if err != nil {
		return nil, err
	}
	w := workload.RateWindow{ToS: to, HalfLifeS: halfLifeS}
	rates, err := t.EstimateRates(w)
	if err != nil {
		return nil, bad(err)
	}
	n := t.EffectiveRequests(w)
	if !(n >= leastTrained) {
		return nil, Badf("--train %s --half-life %v: the first %.6g s tell as much as %.3g requests that all count alike, wanted at least %d, as one has no rate", train, halfLifeS, to, n, leastTrained)
	}
	return &Trained{rates, to, n}, nil
}

// RateDoubt words the doubt in rates that were estimated from few requests, empty for enough.
func RateDoubt(n float64) string {
	if n == 0 || n >= doubtfulTrained {
		return ""
	}
	return fmt.Sprintf("the rates rest on as much as %.3g requests tell, wanted %d: their sum is known to ± %.0f %% and that of a key is worse (95 %%); a longer --train or --half-life has more",
		n, doubtfulTrained, 196/math.Sqrt(n))
}

// TraceRates estimates key rates from the first part of a trace, and returns its
// end. A total above 0 scales them to it.
func TraceRates(t Trace, train string, halfLifeS, total float64) (*workload.Rates, float64, error) {
	read, err := t.read()
	if err != nil {
		return nil, 0, bad(err)
	}
	trained, err := Train(read, train, halfLifeS)
	if err != nil {
		return nil, 0, err
	}
	r := &workload.Rates{Requests: trained.Requests}
	for i, name := range read.KeyNames() {
		if trained.Rates[i] > 0 {
			r.Names, r.Rates = append(r.Names, name), append(r.Rates, trained.Rates[i])
		}
	}
	return r, trained.ToS, scaleRates(r, total)
}
