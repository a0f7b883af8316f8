package paper

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"cacheroute/scenarios"
)

// mostSingle bounds the loads at which a single destination is tried.
const mostSingle = 64

// limitLoad sets q_cap as the paper does (section 3.1): the knee of a single
// destination, the highest whole load that it serves within 3.5 s.
func (k *kit) limitLoad() error {
	single, err := k.single()
	if err != nil {
		return err
	}
	r, err := scenarios.Prepare(single, nil)
	if err != nil {
		return err
	}
	knee := 1.0
	for _, load := range single.LoadsQPS {
		if load > 2*knee+8 { // low loads can fail on cold caches, but not so many
			break
		}
		c, _, err := r.Run(context.Background(), scenarios.Cell{Policy: &single.Policies[0], LoadQPS: load, Seed: single.Seeds[0]}, &scenarios.Tally{}, nil)
		if err != nil {
			return err
		}
		if c.Passes(primarySLO, single.Measure.MaxFailureRate) {
			knee = load
		}
	}
	k.change("policies.cacheroute.q_cap_qps", knee)
	return nil
}

// single is the study with one destination and its share of the keys, the most
// frequent ones, for as long as gives it the requests of the fleet. Whales are
// left out: they are what q_cap is for.
func (k *kit) single() (*scenarios.Study, error) {
	fleet, err := k.study()
	if err != nil {
		return nil, err
	}
	keys, err := fleet.Workload.Synthetic.Keys.Spec.Build()
	if err != nil {
		return nil, err
	}
	one := kit{name: k.name, options: scenarios.Options{Set: slices.Clone(k.options.Set), Policies: []string{"random"}}}
	size := float64(fleet.Fleet.Destinations)
	one.change("fleet.destinations", 1)
	one.change("workload.keys.top", max(1, math.Round(float64(keys.Len())/size)))
	one.change("measure.duration_s", size*fleet.Measure.DurationS)
	var loads []string
	for load := range mostSingle {
		loads = append(loads, fmt.Sprint(load+1))
	}
	one.change("loads_qps", "["+strings.Join(loads, ", ")+"]")
	return one.study()
}
