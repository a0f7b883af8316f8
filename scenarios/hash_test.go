package scenarios

import (
	"slices"
	"strings"
	"testing"

	"cacheroute/policies"
	"cacheroute/sim/clock"
)

// A fixed hash places keys alike under every seed, as the seed of that number
// does; without one each seed draws its own.
func TestHashSeed(t *testing.T) {
	homes := func(hashSeed string, seed uint64) (all []int32) {
		s, err := Load("table-1", sets(t, "fleet.hash_seed="+hashSeed))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Prepare(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.policy(Cell{&s.Policies[1], 100, seed}, clock.Streams{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		for key := range int32(r.load.Keys()) {
			all = append(all, p.(policies.Spreader).Spread(key)...)
		}
		return all
	}
	if !slices.Equal(homes("7", 2), homes("7", 3)) || !slices.Equal(homes("7", 2), homes("0", 7)) {
		t.Error("hash_seed 7: keys move with the seed")
	}
	if slices.Equal(homes("0", 2), homes("0", 3)) {
		t.Error("no hash_seed: keys of two seeds have the same homes")
	}
}

// Intervals of policies that hash keys say that they are of one ring.
func TestOneRingIsNoted(t *testing.T) {
	for set, want := range map[string]bool{"fleet.hash_seed=7": true, "fleet.hash_seed=0": false, "seeds=[2]": false} {
		s, err := Load("table-1", sets(t, set))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Prepare(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(r.Notices, "\n"), "so the intervals of sticky, chwbl, dualmap leave out the luck of that ring"); got != want {
			t.Errorf("%s: noted %v, want %v: %q", set, got, want, r.Notices)
		}
	}
}
