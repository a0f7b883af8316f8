package results

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// limits bound the size of the page, whatever the study. What goes beyond is
// left out, and the page says so.
type limits struct {
	policies     int // in the charts
	points       int // policies times loads in the charts
	dots         int // cells shown as a dot
	rows         int // of the table of cells
	profileBytes int
	studyBytes   int
	notes        int
	intervals    int // of drift, over policies and loads
	means        int // over intervals of drift, rows of their table
}

// pageLimits keep the page below 1.5 MB.
var pageLimits = limits{policies: 48, points: 1200, dots: 6000, rows: 2000, profileBytes: 550_000, studyBytes: 40_000, notes: 40, intervals: 2000, means: 400}

// evenly chooses most of the numbers 0..n-1, the first and last among them.
func evenly(n, most int) []int {
	if n <= most {
		most = n
	}
	chosen := make([]int, most)
	for i := range chosen {
		chosen[i] = i * (n - 1) / max(1, most-1)
	}
	return chosen
}

func (d *pageData) left(format string, args ...any) {
	d.thinned = append(d.thinned, fmt.Sprintf(format, args...))
}

// thinPolicies keeps the policies of the highest capacity.
func (d *pageData) thinPolicies(s *Summary, policies []string, slo float64) []string {
	if len(policies) <= d.limits.policies {
		return policies
	}
	byCapacity := slices.Clone(policies)
	slices.SortStableFunc(byCapacity, func(a, b string) int {
		return cmp.Compare(s.capacity(b, slo).QPS.Mean, s.capacity(a, slo).QPS.Mean)
	})
	var kept []string
	for _, p := range policies {
		if slices.Contains(byCapacity[:d.limits.policies], p) {
			kept = append(kept, p)
		}
	}
	d.left("Shown are the %d policies of %d with the highest capacity.", len(kept), len(policies))
	return kept
}

// thinLoads keeps evenly spaced loads.
func (d *pageData) thinLoads(policies []string, loads []float64) []float64 {
	most := max(2, d.limits.points/max(1, len(policies)))
	if len(loads) <= most {
		return loads
	}
	var kept []float64
	for _, i := range evenly(len(loads), most) {
		kept = append(kept, loads[i])
	}
	d.left("The charts show %d of %d loads.", len(kept), len(loads))
	return kept
}

// thinProfiles keeps all profiles of as many evenly spaced loads as fit. They
// are sorted by load.
func (d *pageData) thinProfiles(all []pageProfile) []pageProfile {
	size := map[int]int{}
	var loads []int
	for i := range all {
		text, err := json.Marshal(&all[i])
		if err != nil {
			panic(err) // integers and Floats, which all have a form
		}
		if size[all[i].Load] == 0 {
			loads = append(loads, all[i].Load)
		}
		size[all[i].Load] += len(text)
	}
	for most := len(loads); most > 0; most-- {
		kept, bytes := map[int]bool{}, 0
		for _, i := range evenly(len(loads), most) {
			kept[loads[i]] = true
			bytes += size[loads[i]]
		}
		if bytes > d.limits.profileBytes {
			continue
		}
		if most < len(loads) {
			d.left("Distributions, destinations and time series are here for %d of %d loads; profiles.json has all.", most, len(loads))
		}
		return slices.DeleteFunc(all, func(p pageProfile) bool { return !kept[p.Load] })
	}
	d.left("Distributions, destinations and time series are too large for this page; profiles.json has them.")
	return []pageProfile{}
}
