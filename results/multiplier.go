package results

import (
	"fmt"
	"math"
)

// Multiplier is the capacity of a policy over that of the best other policy
// under the same objective. There is none where the ladder leaves either open:
// neither may be censored, and no censored other may be the better one.
func (s *Summary) Multiplier(policy string, slo float64) (float64, error) {
	var own, best *CapacityRow
	var most float64
	for i := range s.Capacity {
		row := &s.Capacity[i]
		switch {
		case row.SLO != slo:
		case row.Policy == policy:
			own = row
		default:
			upper := s.upperBound(row)
			if best == nil || upper > most || upper == most && row.Censor == CensorNone {
				best, most = row, upper
			}
		}
	}
	switch {
	case own == nil || best == nil:
		return 0, fmt.Errorf("no other policy at p99 <= %s s", shortly(slo))
	case own.Censor != CensorNone:
		return 0, fmt.Errorf("the capacity of %s is censored", own.Policy)
	case best.Censor != CensorNone:
		return 0, fmt.Errorf("the capacity of %s is censored", best.Policy)
	}
	return float64(own.QPS.Mean / best.QPS.Mean), nil
}

// upperBound is the mean of the knees with each censored one at the highest
// value that it may have.
func (s *Summary) upperBound(row *CapacityRow) float64 {
	sum := 0.0
	for _, k := range row.PerSeed {
		switch k.Censor {
		case CensorLeft:
			sum += s.lowestLoad(row.Policy, k.Seed)
		case CensorRight:
			return math.Inf(1)
		default:
			sum += k.QPS
		}
	}
	return sum / float64(len(row.PerSeed))
}

// lowestLoad is the lowest load that a policy has run with a seed. Cells are
// sorted by load within a policy.
func (s *Summary) lowestLoad(policy string, seed uint64) float64 {
	for i := range s.Cells {
		if c := &s.Cells[i]; c.Policy == policy && c.Seed == seed {
			return c.LoadQPS
		}
	}
	return 0
}
