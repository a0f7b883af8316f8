package policies

import "slices"

// Churn is how much a routing table differs from an earlier one, over the keys
// that either of them admits (paper, App. E and Table 12).
type Churn struct {
	Keys int // keys compared
	// Cache is the mean over keys of 1 - Jaccard(before, after). The paper
	// says "changes 94.5% of key-to-destination sets", which this is where
	// every k_b is 1.
	Cache float64
	// Pooled is 1 - Jaccard of all (key, destination) pairs taken together.
	Pooled float64
	// Count is the fraction of keys whose number of destinations changed.
	Count float64
}

// CompareTables gives the churn between two tables over keys 0..keys-1, each
// seen as its T(b): empty where the key is not admitted, destinations in any
// order and none twice.
func CompareTables(keys int, before, after func(key int) []int32) Churn {
	var c Churn
	common, all, counts := 0, 0, 0
	for b := range keys {
		x, y := before(b), after(b)
		if len(x)+len(y) == 0 {
			continue
		}
		both := 0
		for _, r := range x {
			if slices.Contains(y, r) {
				both++
			}
		}
		either := len(x) + len(y) - both
		c.Keys++
		c.Cache += 1 - float64(both)/float64(either)
		common, all = common+both, all+either
		if len(x) != len(y) {
			counts++
		}
	}
	if c.Keys == 0 {
		return c
	}
	c.Cache /= float64(c.Keys)
	c.Pooled = 1 - float64(common)/float64(all)
	c.Count = float64(counts) / float64(c.Keys)
	return c
}
