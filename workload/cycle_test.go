package workload

import "testing"

// A cycle holds each key with each variant once and repeats itself.
func TestCycleIsAListGoneThrough(t *testing.T) {
	const keys, variants, n = 5, 3, 15
	s := Spec{
		Keys: &ZipfKeys{Count: keys}, Arrivals: &ConstantArrivals{}, Output: Tokens(1),
		Prompt: PromptSpec{ContextTokens: Tokens(10), RetrievedTokens: Tokens(10), Variants: variants, TurnTokens: Tokens(1)},
	}
	orders := map[uint64]bool{}
	for _, cycle := range []string{"listed", "shuffled"} {
		for seed := range uint64(4) {
			s.Prompt.Cycle = cycle
			_, source := open(t, s, 1, seed)
			requests := take(source, 3*n)
			seen := map[uint64]bool{}
			order := uint64(0)
			for i := range requests {
				r := &requests[i]
				prompt := r.Prompt[1].Chain
				if i < n {
					seen[prompt] = true
					order = order*31 + prompt
				} else if first := &requests[i-n]; first.Key != r.Key || first.Prompt[1].Chain != prompt {
					t.Fatalf("%s: request %d is not request %d again", cycle, i, i-n)
				}
				if cycle == "listed" && int(r.Key) != i%n/variants {
					t.Fatalf("listed: request %d has key %d", i, r.Key)
				}
			}
			if len(seen) != n {
				t.Errorf("%s: %d prompts, wanted %d", cycle, len(seen), n)
			}
			orders[order] = true
		}
	}
	if len(orders) != 5 {
		t.Errorf("%d orders, wanted one listed and one shuffled for each of 4 seeds", len(orders))
	}
}

func TestCycleErrors(t *testing.T) {
	s := table1()
	s.Prompt.Cycle = "sorted"
	wantError(t, s.Check(), "prompt.cycle: read")
	s.Prompt.Cycle = "listed"
	_, err := NewSynthetic(s)
	wantError(t, err, "prompt.cycle: keys with different shares")
	s.Keys = &ZipfKeys{Count: 1 << 22}
	_, err = NewSynthetic(s)
	wantError(t, err, "prompt.cycle: 33554432 prompts")
	s.Whales = &WhaleSpec{Count: 1, TrafficShare: 0.1}
	wantError(t, s.Check(), "prompt.cycle: read with whales")
}
