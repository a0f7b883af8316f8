package workload

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"cacheroute/workload/trace"
)

// TestEstimateRates: three requests of key a (at 0, 1 and 3 s), one of b (at 2 s);
// the window ends before the last.
func TestEstimateRates(t *testing.T) {
	tr := &Trace{rows: []traceRow{{at: 0, key: 0}, {at: 1e6, key: 0}, {at: 2e6, key: 1}, {at: 3e6, key: 0}}, hashes: []uint64{1, 2}, header: Header{Header: &trace.Header{Path: "t"}}}
	for _, x := range []struct {
		w    RateWindow
		a, b float64
	}{
		{RateWindow{ToS: 3}, 2. / 3, 1. / 3},
		{RateWindow{FromS: 1, ToS: 2}, 1, 0},
		// Weights 2^-age: 1/8 + 1/4 and 1/2, over the integral (1 - 1/8)/ln 2.
		{RateWindow{ToS: 3, HalfLifeS: 1}, 0.375 * math.Ln2 / 0.875, 0.5 * math.Ln2 / 0.875},
	} {
		got, err := tr.EstimateRates(x.w)
		if err != nil || math.Abs(got[0]-x.a) > 1e-12 || math.Abs(got[1]-x.b) > 1e-12 {
			t.Errorf("%+v: %v, %v, want %v and %v", x.w, got, err, x.a, x.b)
		}
	}
	for _, w := range []RateWindow{{}, {FromS: 2, ToS: 1}, {ToS: 1, HalfLifeS: -1}, {FromS: 5, ToS: 6}, {ToS: math.NaN()}} {
		if got, err := tr.EstimateRates(w); err == nil {
			t.Errorf("%+v: %v, want an error", w, got)
		}
	}
}

// TestEffectiveRequests: requests that count alike are so many; weights of 1/2,
// 1/4 and 1/8 are (7/8)² over 21/64, and one that outweighs all others is one.
func TestEffectiveRequests(t *testing.T) {
	tr := &Trace{rows: []traceRow{{at: 0}, {at: 1e6, key: 1}, {at: 2e6}, {at: 3e6}}}
	for _, x := range []struct {
		w    RateWindow
		want float64
	}{
		{RateWindow{ToS: 9}, 4},
		{RateWindow{FromS: 1, ToS: 3}, 2},
		{RateWindow{ToS: 3, HalfLifeS: 1}, 49. / 21},
		{RateWindow{ToS: 3, HalfLifeS: 0.01}, 1},
		{RateWindow{ToS: 9, HalfLifeS: 1e-300}, 0},
		{RateWindow{FromS: 5, ToS: 9}, 0},
	} {
		if got := tr.EffectiveRequests(x.w); math.Abs(got-x.want) > 1e-9 {
			t.Errorf("%+v: %v, want %v", x.w, got, x.want)
		}
	}
}

// A table of routes is for the keys as their owner writes them.
func TestKeyNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	text := "arrival_s,key,session,input_tokens,output_tokens\n0,acme,s1,100,5\n1,bo,s2,100,5\n2,acme,s1,100,5\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for rule, want := range map[string][]string{"": {"acme", "bo"}, "session": {"s1", "s2"}, "none": {""}} {
		tr, err := ReadTrace(path, TraceOptions{Options: trace.Options{Key: rule}})
		if err != nil {
			t.Fatal(err)
		}
		got := tr.KeyNames()
		if rule == "none" && len(got) == 1 && len(got[0]) == 16 {
			continue
		}
		if !slices.Equal(got, want) {
			t.Errorf("key %q: %q, want %q", rule, got, want)
		}
	}
}
