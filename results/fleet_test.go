package results

import (
	"slices"
	"strings"
	"testing"
)

// triedFleets is a course in which the fleets of the given sizes pass or fail.
func triedFleets(policy string, seed uint64, passes map[int]bool) FleetCourse {
	c := FleetCourse{Policy: policy, Seed: seed}
	for n := range 100 {
		if pass, ok := passes[n]; ok {
			cell := Cell{TTFTP99: 1, RunRequests: 10}
			if !pass {
				cell.TTFTP99 = infinite
			}
			c.Tried = append(c.Tried, FleetTried{n, cell})
		}
	}
	return c
}

func TestFleetSizes(t *testing.T) {
	for _, c := range []struct {
		name    string
		seeds   []map[int]bool
		text    string
		bySeed  string
		censor  Censor
		warning string
	}{
		{"inside", []map[int]bool{{4: false, 5: true, 20: true}, {6: false, 7: true}}, "6 ± 12.7", "7 in both seeds, 5 in the best", CensorNone, ""},
		{"equal", []map[int]bool{{4: false, 5: true}, {4: false, 5: true}}, "5", "5 in both seeds", CensorNone, ""},
		{"one seed", []map[int]bool{{4: false, 5: true}}, "5", "5 (one seed)", CensorNone, "one seed: no interval"},
		{"smallest passes", []map[int]bool{{2: true, 20: true}, {2: true}}, "<=2", "2 in both seeds", CensorLeft, ""},
		{"largest fails", []map[int]bool{{2: false, 20: false}, {20: false}}, ">20", "none is enough", CensorRight, ""},
		{"largest fails once", []map[int]bool{{20: false}, {9: false, 10: true}}, ">=15", "10 are enough in 1 of 2 seeds", CensorMixed, ""},
		{"smallest passes once", []map[int]bool{{2: true}, {9: false, 10: true}}, "<=6", "10 in both seeds, 2 in the best", CensorMixed, ""},
		{"both", []map[int]bool{{2: true}, {20: false}}, "~11", "2 are enough in 1 of 2 seeds", CensorMixed, ""},
		{"not monotone", []map[int]bool{{4: false, 5: true, 7: false, 9: true}, {4: false, 5: true}}, "5", "5 in both seeds", CensorNone,
			"seed 1 passes on 5 destinations but fails on 7: near the knee more is not always better"},
	} {
		f := &FleetSizes{Study: "s", LoadQPS: 80, From: 2, To: 20}
		runs := 0
		for i, passes := range c.seeds {
			f.Courses = append(f.Courses, triedFleets("flat-lb", uint64(i+1), passes))
			runs += len(passes)
		}
		f.Summarise([]float64{3.5}, 0.05)
		row := f.Sizes[0]
		if row.text() != c.text || row.bySeed() != c.bySeed || row.Censor != c.censor || strings.Join(row.Warnings, "") != c.warning {
			t.Errorf("%s: %q, %q, %s, %q", c.name, row.text(), row.bySeed(), row.Censor, row.Warnings)
		}
		if f.SimulatedRequests != int64(10*runs) {
			t.Errorf("%s: %d requests", c.name, f.SimulatedRequests)
		}
		marked := sizeMarks([]string{row.text()})
		if sign := strings.TrimRight(c.text, "0123456789"); (len(marked) == 1) != slices.Contains([]string{"<=", ">", ">=", "~"}, sign) || len(marked) == 1 && !strings.HasPrefix(marked[0], sign+":") {
			t.Errorf("%s: legend %q of %s", c.name, marked, c.text)
		}
	}
}

// TestFleetNotes: what holds for several policies is said once.
func TestFleetNotes(t *testing.T) {
	f := &FleetSizes{Study: "s", LoadQPS: 80, From: 2, To: 20}
	for _, policy := range []string{"a", "b"} {
		f.Courses = append(f.Courses, triedFleets(policy, 1, map[int]bool{4: false, 5: true}))
	}
	f.Summarise([]float64{3.5}, 0.05)
	var b strings.Builder
	if err := PrintFleetSizes(&b, f, Style{}); err != nil {
		t.Fatal(err)
	}
	if want := "\n\nnote: one seed: no interval (a, p99 <= 3.5 s and 1 more)\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("no %q at the end of\n%s", want, &b)
	}
}
