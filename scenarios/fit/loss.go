package fit

import (
	"math"
	"slices"

	"cacheroute/scenarios"
)

// Tolerances: a deviation of that much is 1 in the loss. They are those by
// which the paper's cells count as met.
const (
	toleranceHit   = 0.03 // of a hit rate, absolute
	toleranceP99   = 1.25 // of a p99, as a factor
	toleranceRatio = 1.25 // of a ratio of capacities, as a factor
	// of a capacity: one rung of the ladder
)

// Score is a policy's simulated row and its deviations from the published one.
type Score struct {
	Policy     string    `json:"policy"`
	KVHit      float64   `json:"kv_hit"`
	P99        float64   `json:"ttft_p99_s"`
	Capacity   []float64 `json:"capacity_qps"`
	Deviations []float64 `json:"deviations"` // in tolerances: hit, p99, each capacity
}

// score compares a ladder with a row. Its deviations are those of the numbers
// themselves; the smooth ones move also where a knee stays on its rung, so that
// a search sees where to go.
func (t *Targets) score(row *Row, l *ladder) (s Score, smooth []float64) {
	s = Score{Policy: row.Policy, KVHit: mean(l.hit), P99: mean(l.p99At)}
	s.Deviations = append(s.Deviations,
		(s.KVHit-row.KVHit)/max(toleranceHit, row.KVHitPM),
		math.Log(s.P99/row.P99)/math.Log(toleranceP99))
	smooth = slices.Clone(s.Deviations)
	for i, slo := range t.SLOs {
		knee := l.capacity(slo)
		s.Capacity = append(s.Capacity, knee)
		s.Deviations = append(s.Deviations, t.apart(row, i, knee))
		if row.Capacity[i] > 0 {
			smooth = append(smooth, t.apart(row, i, t.softKnee(l, slo)))
			continue
		}
		// It has to fail by a hair at its best load; the closer to passing, the
		// steeper.
		const hair = 1.03
		smooth = append(smooth, max(0, math.Log(hair*slo/l.lowest())/math.Log(1.1)))
	}
	return s, smooth
}

// apart is how far a capacity is from that which the row has for an objective,
// in rungs or, where that is more, in half-widths of the published interval.
func (t *Targets) apart(row *Row, slo int, qps float64) float64 {
	published, pm := row.Capacity[slo], 0.0
	if row.CapacityPM != nil {
		pm = row.CapacityPM[slo]
	}
	rung := func(qps float64) float64 { return scenarios.Rung(qps, t.LoadsQPS) }
	if qps < published {
		return (rung(qps) - rung(published)) / max(1, rung(published)-rung(published-pm))
	}
	return (rung(qps) - rung(published)) / max(1, rung(published+pm)-rung(published))
}

// softKnee is the mean over seeds of the load that is half a rung below the
// crossing of the p99 with an objective: a ladder whose p99 crosses between two
// rungs has its knee at the lower. The crossing moves smoothly where the knee
// jumps.
func (t *Targets) softKnee(l *ladder, slo float64) float64 {
	sum := 0.0
	for seed := range l.p99[0] {
		sum += scenarios.AtRung(scenarios.Rung(l.crossing(seed, slo), t.LoadsQPS)-0.5, t.LoadsQPS)
	}
	return sum / float64(len(l.p99[0]))
}

// Charges of the loss: a deviation of charged tolerances costs half of a miss,
// and within steep of that nearly nothing or nearly all. It stays clear of the
// tolerance itself, as other seeds give other numbers.
const (
	miss    = 2.0
	charged = 0.7
	steep   = 0.1
)

// cost of a deviation grows with the square where it is small and the logarithm
// where it is large, so that a cell that cannot be met does not bend all others,
// and has a step where the cell begins to count as missed.
func cost(z float64) float64 {
	return math.Log1p(z*z) + miss*step((math.Abs(z)-charged)/steep)
}

// step rises from 0 to 1 about 0.
func step(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// order is the cost of capacities at the first objective that do not follow each
// other as published, and of another lead of the best over the second.
func (t *Targets) order(ladders []*ladder) float64 {
	const margin = 0.1 // rungs; also the steepness
	knees, rungs, published := make([]float64, len(ladders)), make([]float64, len(ladders)), make([]float64, len(ladders))
	for i, l := range ladders {
		knees[i], published[i] = t.softKnee(l, t.SLOs[0]), t.Rows[i].Capacity[0]
		rungs[i] = scenarios.Rung(knees[i], t.LoadsQPS)
	}
	sum := 0.0
	for i := range t.Rows {
		for k := range t.Rows {
			if published[i] < published[k] {
				sum += step((rungs[i]-rungs[k])/margin + 1)
			}
		}
	}
	return sum + cost(math.Log(lead(knees)/lead(published))/math.Log(toleranceRatio))
}

// lead is the largest of the numbers over the second.
func lead(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	const least = 1e-3 // stands for no capacity at all
	return max(x[len(x)-1], least) / max(x[len(x)-2], least)
}
