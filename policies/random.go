package policies

import (
	"math/rand/v2"

	"cacheroute/workload"
)

// Random sends each request to a destination drawn uniformly, whatever the
// load: the floor that every other policy should beat.
type Random struct{}

// About implements Spec.
func (*Random) About() string { return "a destination at random" }

// Check implements Spec; there is nothing to check.
func (*Random) Check() error { return nil }

// Build implements Spec.
func (*Random) Build(env Env) (Policy, error) { return uniform{env.Rand}, nil }

type uniform struct{ rng *rand.Rand }

func (p uniform) Route(_ *workload.Request, v *View) int { return p.rng.IntN(v.Destinations()) }

// Spread implements Spreader.
func (p uniform) Spread(int32) []int32 { return nil }
