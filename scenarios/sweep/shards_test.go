package sweep

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestMeets compares the arithmetic with a look at many cells.
func TestMeets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) Shard {
			n := rapid.IntRange(1, 12).Draw(t, name+" of")
			return Shard{rapid.IntRange(0, n-1).Draw(t, name), n}
		}
		a, b := draw("a"), draw("b")
		met := false
		for cell := range a.N * b.N {
			met = met || cell%a.N == a.I && cell%b.N == b.I
		}
		if a.meets(b) != met {
			t.Fatalf("%v meets %v: %v, want %v", a, b, !met, met)
		}
	})
}

func TestList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfNDistinct(rapid.IntRange(0, 40), 1, 40, rapid.ID).Draw(t, "numbers")
		slices.Sort(numbers)
		if back, err := parseList(list(numbers)); err != nil || !slices.Equal(back, numbers) {
			t.Fatalf("%v written as %s reads %v, %v", numbers, list(numbers), back, err)
		}
	})
	if got := list([]int{0, 4, 5, 6, 9}); got != "0,4-6,9" {
		t.Errorf("list %s", got)
	}
}

func TestParseShard(t *testing.T) {
	for _, c := range []struct {
		text, only string
		want       Shard // N is 0: an error
	}{
		{"0/1", "", Shard{0, 1}},
		{"7/100", "", Shard{7, 100}},
		{"2/100", "3,8-9", Shard{9, 100}},
		{"100/100", "", Shard{}},
		{"-1/4", "", Shard{}},
		{"1", "", Shard{}},
		{"0/0", "", Shard{}},
		{"3/100", "3,8-9", Shard{}},
		{"0/100", "8,3", Shard{}},
		{"0/100", "100", Shard{}},
		{"0/100", "9-3", Shard{}},
	} {
		got, err := ParseShard(c.text, c.only)
		if (err == nil) != (c.want.N > 0) || err == nil && got != c.want {
			t.Errorf("--shard %s --only %q: %v, %v, want %v", c.text, c.only, got, err, c.want)
		}
	}
}
