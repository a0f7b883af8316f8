package fit

import (
	"fmt"
	"math"
	"slices"
)

// Tolerances: a deviation of that much is 1 in the loss. They are those by
// which the paper's cells count as met.
const (
	toleranceHit = 0.03 // of a hit rate, absolute
	toleranceP99 = 1.25 // of a p99, as a factor
	// of a capacity: one rung of the ladder
)

// Targets is a published table.
type Targets struct {
	// Source names it.
	Source string `yaml:"source"`
	// AtQPS is the load at which hit rates and latencies are published.
	AtQPS float64 `yaml:"at_qps"`
	// SLOs are the objectives for the p99 of TTFT that capacities are of.
	SLOs []float64 `yaml:"slo_ttft_p99_s"`
	// LoadsQPS is the ladder, whose rungs are the unit of a capacity's deviation.
	LoadsQPS []float64 `yaml:"loads_qps"`
	// Rows are the policies.
	Rows []Row `yaml:"rows"`
}

// Row is a policy of the table.
type Row struct {
	Policy string  `yaml:"policy"`
	KVHit  float64 `yaml:"kv_hit"`
	P99    float64 `yaml:"ttft_p99_s"`
	// Capacity by objective in requests/s; 0: the policy fails at every load.
	Capacity []float64 `yaml:"capacity_qps"`
}

func (t *Targets) check() error {
	if len(t.Rows) == 0 || len(t.SLOs) == 0 || len(t.LoadsQPS) < 2 || !slices.IsSorted(t.LoadsQPS) || !(t.LoadsQPS[0] > 0) {
		return fmt.Errorf("wanted rows, slo_ttft_p99_s and two or more rising loads_qps")
	}
	for i, r := range t.Rows {
		if r.Policy == "" || !(r.KVHit > 0 && r.KVHit <= 1) || !(r.P99 > 0) || len(r.Capacity) != len(t.SLOs) {
			return fmt.Errorf("rows.%d: wanted policy, kv_hit in (0, 1], ttft_p99_s above 0 and a capacity_qps for each objective", i)
		}
	}
	return nil
}

// Score is a policy's simulated row and its deviations from the published one.
type Score struct {
	Policy     string    `json:"policy"`
	KVHit      float64   `json:"kv_hit"`
	P99        float64   `json:"ttft_p99_s"`
	Capacity   []float64 `json:"capacity_qps"`
	Deviations []float64 `json:"deviations"` // in tolerances: hit, p99, each capacity
}

// score compares a ladder with a row.
func (t *Targets) score(row *Row, l *ladder) Score {
	s := Score{Policy: row.Policy, KVHit: mean(l.hit), P99: mean(l.p99At)}
	s.Deviations = append(s.Deviations, (s.KVHit-row.KVHit)/toleranceHit, math.Log(s.P99/row.P99)/math.Log(toleranceP99))
	for i, slo := range t.SLOs {
		s.Capacity = append(s.Capacity, l.capacity(slo))
		if row.Capacity[i] == 0 {
			// It has to fail by a hair at its best load; the closer to passing, the
			// steeper.
			const hair = 1.03
			s.Deviations = append(s.Deviations, max(0, math.Log(hair*slo/l.lowest())/math.Log(1.1)))
			continue
		}
		// A ladder whose p99 crosses the objective between two rungs has its knee
		// at the lower: half a rung below the crossing in the mean. The crossing
		// moves smoothly where the knee jumps.
		s.Deviations = append(s.Deviations, t.rung(l.crossing(slo))-0.5-t.rung(row.Capacity[i]))
	}
	return s
}

// loss of a row grows with the square of small deviations and the logarithm of
// large ones: a cell that cannot be met must not bend all others.
func (s Score) loss() float64 {
	sum := 0.0
	for _, z := range s.Deviations {
		sum += math.Log1p(z * z)
	}
	return sum
}

// rung is the place of a load on the ladder, between whole numbers by
// interpolation; no load at all is at -1.
func (t *Targets) rung(qps float64) float64 {
	below := 0.0
	for i, q := range t.LoadsQPS {
		if qps <= q {
			return float64(i) - 1 + (qps-below)/(q-below)
		}
		below = q
	}
	return float64(len(t.LoadsQPS) - 1)
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
