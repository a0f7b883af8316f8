package policies

import (
	"testing"

	"cacheroute/workload"
)

// dispatcher plans two replicated keys and a cold one on five destinations of
// one slot: T(0) = {0, 1, 2}, T(1) = {3, 4}, nothing is left for key 2.
func dispatcher(t *testing.T, dispatch string) Policy {
	rule := NewCacheRoute()
	rule.Slots, rule.QCap, rule.Dispatch = 1, 1, dispatch
	env := testEnv(5, 3, 1)
	env.Rates = []float64{3, 2, 2}
	p, err := rule.Build(env)
	if err != nil {
		t.Fatal(err)
	}
	table := p.(Planned).Table()
	if len(table.Assigned(0)) != 3 || len(table.Assigned(1)) != 2 || len(table.Assigned(2)) != 0 {
		t.Fatalf("T = %v, %v, %v", table.Assigned(0), table.Assigned(1), table.Assigned(2))
	}
	return p
}

// TestDispatch: the least in flight within T(b), a fair coin between equals,
// never outside however loaded; a cold key has the whole fleet.
func TestDispatch(t *testing.T) {
	p := dispatcher(t, "inflight")
	hot, warm, cold := &workload.Request{Key: 0}, &workload.Request{Key: 1}, &workload.Request{Key: 2}
	v := viewOf(9, 9, 9, 0, 0)
	third := 1. / 3
	checkFrequencies(t, []float64{third, third, third, 0, 0}, func() int { return p.Route(hot, v) })
	checkFrequencies(t, []float64{0, 0, 0, .5, .5}, func() int { return p.Route(warm, v) })
	// Of ten pairs, seven hold destination 3 or 4, which tie with each other.
	checkFrequencies(t, []float64{.1, .1, .1, .35, .35}, func() int { return p.Route(cold, v) })
	if d := p.Route(hot, viewOf(3, 2, 5, 0, 0)); d != 1 {
		t.Errorf("went to %d, the least of T(0) is 1", d)
	}
}

func TestDispatchInTurn(t *testing.T) {
	p := dispatcher(t, "rr")
	v := viewOf(9, 0, 0, 0, 0)
	set := p.(Planned).Table().Assigned(0)
	for i := range 7 {
		if d := p.Route(&workload.Request{Key: 0}, v); d != int(set[i%3]) {
			t.Errorf("turn %d went to %d of %v", i, d, set)
		}
		p.Route(&workload.Request{Key: 1}, v) // has turns of its own
	}
}
