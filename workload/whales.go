package workload

import (
	"errors"
	"fmt"
)

// WhaleSpec injects keys that are far more frequent than the population (paper,
// Tables 4 and 5). Either each has times_target x target_qps requests per
// second, whatever the offered load, or all together have traffic_share of it.
// The population shares what is left in its own proportions.
type WhaleSpec struct {
	// Count is the number of whales.
	Count int `yaml:"count" jsonschema:"required,minimum=1,maximum=16777216"`
	// TimesTarget is the rate of each whale in units of target_qps.
	TimesTarget float64 `yaml:"times_target" jsonschema:"minimum=0,maximum=1e6"`
	// TargetQPS is the rate that a destination is meant to serve.
	TargetQPS float64 `yaml:"target_qps" jsonschema:"minimum=0,maximum=1e9"`
	// TrafficShare is the share of the traffic that all whales have together,
	// instead of times_target and target_qps.
	TrafficShare float64 `yaml:"traffic_share" jsonschema:"minimum=0,exclusiveMaximum=1"`
}

// Check returns nil or an error that begins with the parameter's name.
func (w *WhaleSpec) Check() error {
	if w.Count < 1 || w.Count > maxKeys {
		return fmt.Errorf("count: must be between 1 and %d, got %d", maxKeys, w.Count)
	}
	if w.TrafficShare != 0 {
		if w.TimesTarget != 0 || w.TargetQPS != 0 {
			return errors.New("traffic_share: cannot stand beside times_target and target_qps")
		}
		if !(w.TrafficShare > 0 && w.TrafficShare < 1) {
			return fmt.Errorf("traffic_share: must be above 0 and below 1, got %v", w.TrafficShare)
		}
		return nil
	}
	if w.TimesTarget == 0 && w.TargetQPS == 0 {
		return errors.New("traffic_share: missing; give it, or times_target and target_qps")
	}
	return first(between("times_target", w.TimesTarget, 1e-6, 1e6), between("target_qps", w.TargetQPS, 1e-6, 1e9))
}

// share is the part of the traffic that all whales have together at the offered
// load; no whales have none.
func (w *WhaleSpec) share(qps float64) (float64, error) {
	if w == nil || w.TrafficShare != 0 {
		return w.fixedShare(), nil
	}
	each := w.TimesTarget * w.TargetQPS
	share := float64(w.Count) * each / qps
	if share > 1 {
		return 0, fmt.Errorf("whales.times_target: %d whales of %v requests/s exceed the offered load of %v", w.Count, each, qps)
	}
	return share, nil
}

func (w *WhaleSpec) fixedShare() float64 {
	if w == nil {
		return 0
	}
	return w.TrafficShare
}

func (w *WhaleSpec) count() int {
	if w == nil {
		return 0
	}
	return w.Count
}
