package fit

import (
	"fmt"
	"math"
	"slices"
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
	// Order adds to the loss what the order of the rows' capacities at the first
	// objective, and the lead of the best over the second, are off.
	Order bool `yaml:"order"`
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
	// KVHitPM and CapacityPM are half-widths of published intervals; a number
	// inside of one is met even if it is further away than the tolerance.
	KVHitPM    float64   `yaml:"kv_hit_pm"`
	CapacityPM []float64 `yaml:"capacity_pm"`
}

func (t *Targets) check() error {
	if len(t.Rows) == 0 || len(t.SLOs) == 0 || len(t.LoadsQPS) < 2 || !rising(t.LoadsQPS) {
		return fmt.Errorf("wanted rows, slo_ttft_p99_s and two or more rising loads_qps")
	}
	if t.Order && len(t.Rows) < 2 {
		return fmt.Errorf("order: wanted two rows or more")
	}
	if slices.Min(t.SLOs) <= 0 || slices.ContainsFunc(t.SLOs, math.IsNaN) {
		return fmt.Errorf("slo_ttft_p99_s: read %v, wanted objectives above 0", t.SLOs)
	}
	for i, r := range t.Rows {
		if slices.ContainsFunc(t.Rows[:i], func(o Row) bool { return o.Policy == r.Policy }) {
			return fmt.Errorf("rows.%d: policy %s has two rows", i, r.Policy)
		}
		if r.Policy == "" || !(r.KVHit > 0 && r.KVHit <= 1) || !(r.P99 > 0) || len(r.Capacity) != len(t.SLOs) || !(slices.Min(r.Capacity) >= 0) {
			return fmt.Errorf("rows.%d: wanted policy, kv_hit in (0, 1], ttft_p99_s above 0 and a capacity_qps for each objective", i)
		}
		if !(r.KVHitPM >= 0 && r.KVHitPM < 1) || r.CapacityPM != nil && (len(r.CapacityPM) != len(t.SLOs) || slices.Min(r.CapacityPM) < 0) {
			return fmt.Errorf("rows.%d: wanted kv_hit_pm in [0, 1) and no capacity_pm or one for each objective, from 0", i)
		}
	}
	return nil
}

// rising reports whether loads are above 0 and each above the one before.
func rising(loads []float64) bool {
	for i, q := range loads {
		if !(q > 0) || i > 0 && !(q > loads[i-1]) {
			return false
		}
	}
	return true
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
