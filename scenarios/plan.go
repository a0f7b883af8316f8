package scenarios

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"cacheroute/policies"
	"cacheroute/results"
	"cacheroute/workload"
)

// RoutingTable is the plan of Algorithm 1 as a client-side router reads it: the
// destinations of each admitted key, by falling rate. Any other key goes to the
// better of two random destinations.
type RoutingTable struct {
	Destinations int            `json:"destinations"`
	Slots        int            `json:"slots"`     // W, keys allotted to a destination
	QCap         float64        `json:"q_cap_qps"` // 0: above the rate of every key
	Keys         int            `json:"keys"`      // planned, admitted or not
	AdmittedRate float64        `json:"admitted_rate_qps"`
	ColdRate     float64        `json:"cold_rate_qps"`
	Imbalance    float64        `json:"imbalance"` // largest planned load over the mean
	Load         []float64      `json:"load_qps"`  // by destination
	KeysPer      []int          `json:"keys_per_destination"`
	Table        []RoutingEntry `json:"table"`
	Moves        *Moves         `json:"moves,omitempty"` // against an earlier table
	Warnings     []string       `json:"warnings"`
	Assumptions  []string       `json:"assumptions"`
}

// Moves is how much a table differs from an earlier one, over the keys that
// either of them admits, as fractions.
type Moves struct {
	Keys    int     `json:"keys"`
	Sets    float64 `json:"sets"`    // mean over keys of 1 - Jaccard of the destination sets
	Pairs   float64 `json:"pairs"`   // 1 - Jaccard of all (key, destination) pairs
	Counts  float64 `json:"counts"`  // keys whose number of destinations changed
	Traffic float64 `json:"traffic"` // share of the new rates of keys whose destinations changed
	Moved   []Move  `json:"moved"`   // by falling new rate, then keys that lost their place
}

// Move is a key whose destinations changed; an empty list is the cold tail.
type Move struct {
	Key     string  `json:"key"`
	RateQPS float64 `json:"rate_qps"` // new rate, 0 if the new table does not hold the key
	From    []int32 `json:"from"`
	To      []int32 `json:"to"`
}

// RoutingEntry is T(b) of one key.
type RoutingEntry struct {
	Key          string  `json:"key"`
	RateQPS      float64 `json:"rate_qps"`
	Destinations []int32 `json:"destinations"`
}

// ReadRates reads a file of key rates. A total above 0 scales them to it.
func ReadRates(path string, total float64) (*workload.Rates, error) {
	r, err := workload.ReadRates(path)
	if err != nil {
		return nil, bad(err)
	}
	return r, scaleRates(r, total)
}

// scaleRates brings the rates to a total; 0 leaves them.
func scaleRates(r *workload.Rates, total float64) error {
	if !(total == 0 || total >= 1e-6 && total <= 1e9) {
		return Badf("--qps %v: wanted between 1e-06 and 1e+09 requests/s, or 0", total)
	}
	sum := 0.0
	for _, x := range r.Rates {
		sum += x
	}
	for i := range r.Rates {
		if total > 0 {
			r.Rates[i] *= total / sum
		}
	}
	return nil
}

// NewRoutingTable plans the rates for a fleet. The seed is that of a rule with
// random placement or random ties.
func NewRoutingTable(r *workload.Rates, destinations int, rule policies.CacheRoute, seed uint64) (*RoutingTable, error) {
	if destinations < 1 || destinations > maxDestinations {
		return nil, Badf("--destinations %d: wanted between 1 and %d", destinations, maxDestinations)
	}
	t, err := policies.Plan(policies.PlanInput{Rates: r.Rates, Destinations: destinations, Seed: seed, Rule: rule})
	if err != nil {
		return nil, bad(err)
	}
	out := &RoutingTable{
		Destinations: destinations, Slots: rule.Slots, QCap: rule.QCap, Keys: t.Keys(),
		AdmittedRate: t.AdmittedRate, ColdRate: t.ColdRate, Imbalance: t.Imbalance(),
		Load: t.Load, KeysPer: t.Slots, Table: make([]RoutingEntry, 0, len(t.Admitted)),
		Warnings: append([]string{}, t.Warnings(func(key int) string { return quote(r.Names[key]) })...), Assumptions: append([]string{}, t.Assumptions()...),
	}
	if doubt := RateDoubt(r.Requests); doubt != "" {
		out.Warnings = append(out.Warnings, doubt)
	}
	for key, set := range t.All() {
		out.Table = append(out.Table, RoutingEntry{Key: r.Names[key], RateQPS: r.Rates[key], Destinations: set})
	}
	return out, nil
}

// Compare notes how much the table differs from an earlier one.
func (t *RoutingTable) Compare(earlier *RoutingTable) {
	index := map[string]int{}
	sets := func(table *RoutingTable) map[int][]int32 {
		by := map[int][]int32{}
		for _, e := range table.Table {
			i, ok := index[e.Key]
			if !ok {
				i = len(index)
				index[e.Key] = i
			}
			by[i] = e.Destinations
		}
		return by
	}
	before, after := sets(earlier), sets(t)
	c := policies.CompareTables(len(index), func(k int) []int32 { return before[k] }, func(k int) []int32 { return after[k] })
	t.Moves = &Moves{Keys: c.Keys, Sets: c.Cache, Pairs: c.Pooled, Counts: c.Count, Moved: []Move{}}
	moved := 0.0
	add := func(e RoutingEntry, from, to []int32, rate float64) {
		if same := slices.Equal(slices.Sorted(slices.Values(from)), slices.Sorted(slices.Values(to))); !same {
			moved += rate
			t.Moves.Moved = append(t.Moves.Moved, Move{Key: e.Key, RateQPS: rate, From: append([]int32{}, from...), To: append([]int32{}, to...)})
		}
	}
	for _, e := range t.Table {
		add(e, before[index[e.Key]], e.Destinations, e.RateQPS)
	}
	for _, e := range earlier.Table {
		if after[index[e.Key]] == nil {
			add(e, e.Destinations, nil, 0)
		}
	}
	if total := t.AdmittedRate + t.ColdRate; total > 0 {
		t.Moves.Traffic = moved / total
	}
}

// ReadRoutingTable reads a table that WriteFile wrote as JSON.
func ReadRoutingTable(path string) (*RoutingTable, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, bad(err)
	}
	defer f.Close()
	var t RoutingTable
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return nil, Badf("%s: %v, wanted a routing table", path, err)
	}
	if d.More() {
		return nil, Badf("%s: text after the end of the table", path)
	}
	if t.Table == nil || t.Destinations < 1 {
		return nil, Badf("%s: read JSON without a table of destinations, wanted a routing table", path)
	}
	seen := map[string]bool{}
	for i, e := range t.Table {
		if seen[e.Key] {
			return nil, Badf("%s: table[%d]: key %s is listed twice", path, i, quote(e.Key))
		}
		seen[e.Key] = true
		set := slices.Clone(e.Destinations)
		slices.Sort(set)
		if len(set) == 0 || len(slices.Compact(set)) < len(set) || set[0] < 0 || int(set[len(set)-1]) >= t.Destinations {
			return nil, Badf("%s: table[%d]: destinations %v of key %s, wanted different ones of 0..%d", path, i, e.Destinations, quote(e.Key), t.Destinations-1)
		}
	}
	return &t, nil
}

// JSON writes the table.
func (t *RoutingTable) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(t)
}

// Print writes the table's accounts for a reader.
func (t *RoutingTable) Print(w io.Writer) error {
	total := t.AdmittedRate + t.ColdRate
	replicated := 0
	assignments := 0
	for _, e := range t.Table {
		assignments += len(e.Destinations)
		if len(e.Destinations) > 1 {
			replicated++
		}
	}
	share := 100.0
	if total > 0 {
		share = 100 * t.AdmittedRate / total
	}
	fmt.Fprintf(w, "%d keys at %s requests/s on %d destinations of %d slots\n", t.Keys, results.Shortly(total), t.Destinations, t.Slots)
	fmt.Fprintf(w, "admitted: %d keys with %.1f %% of the traffic in %d of %d slots, %d of them on more than one destination\n",
		len(t.Table), share, assignments, t.Destinations*t.Slots, replicated)
	fmt.Fprintf(w, "load: %.4g requests/s a destination, %.4g at most, imbalance %.3f; up to %d keys a destination\n",
		total/float64(t.Destinations), slices.Max(t.Load), t.Imbalance, slices.Max(t.KeysPer))
	if c := t.Moves; c != nil {
		fmt.Fprintf(w, "moves: %.1f %% of the destination sets of %d keys (%.1f %% of pairs), with %.1f %% of the traffic; %.1f %% change their number of destinations\n",
			100*c.Sets, c.Keys, 100*c.Pairs, 100*c.Traffic, 100*c.Counts)
	}
	for _, s := range slices.Concat(t.Assumptions, t.Warnings) {
		fmt.Fprintln(w, "note:", s)
	}
	fmt.Fprintf(w, "\n%-12s %6s %12s\n", "destination", "keys", "requests/s")
	for i, load := range t.Load {
		if _, err := fmt.Fprintf(w, "%-12d %6d %12.4f\n", i, t.KeysPer[i], load); err != nil {
			return err
		}
	}
	return t.printKeys(w)
}

// mostListed is how many keys or moves a reader is shown; JSON holds all.
const mostListed = 20

// printKeys writes the table itself and what moved, as far as a screen holds.
func (t *RoutingTable) printKeys(w io.Writer) error {
	fmt.Fprintf(w, "\n%-24s %12s  destinations\n", "key", "requests/s")
	for _, e := range t.Table[:min(len(t.Table), mostListed)] {
		fmt.Fprintf(w, "%-24s %12.4f  %v\n", short(e.Key), e.RateQPS, e.Destinations)
	}
	more(w, len(t.Table), "keys are in the table")
	if t.Moves == nil {
		return nil
	}
	fmt.Fprintf(w, "\n%-24s %12s  from -> to ([]: the cold tail)\n", "moved key", "requests/s")
	for _, m := range t.Moves.Moved[:min(len(t.Moves.Moved), mostListed)] {
		fmt.Fprintf(w, "%-24s %12.4f  %v -> %v\n", short(m.Key), m.RateQPS, m.From, m.To)
	}
	more(w, len(t.Moves.Moved), "keys move")
	return nil
}

func more(w io.Writer, n int, what string) {
	if n > mostListed {
		fmt.Fprintf(w, "... %d %s; --json prints them all\n", n, what)
	}
}

// short cuts a key to a column, printable whatever it holds.
func short(key string) string {
	if q := strconv.Quote(key); q != `"`+key+`"` {
		key = q
	}
	if r := []rune(key); len(r) > 24 {
		key = string(r[:23]) + "…"
	}
	return key
}
