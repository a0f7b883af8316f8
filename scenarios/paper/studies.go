package paper

import (
	"fmt"
	"slices"
	"strings"

	"cacheroute/scenarios"
)

// baseScenario is the paper's primary study. All others are it with changes, so
// that they follow whatever it says of the paper's harness.
const baseScenario = "table-1"

// recipe is a study as changes of the base scenario. What it assumes beyond the
// paper is said in about and comes from no number that it is compared with.
type recipe struct {
	name, about string
	model       string           // in models; empty: that of the base scenario
	set         []string         // path=value
	policies    []string         // kept; nil: all
	more        func(*kit) error // changes that need a computation
	predicted   bool             // its hits are also predicted from its rates
}

var (
	twoPolicies = []string{"flat-lb", "cacheroute"}
	ladder8B    = "loads_qps=[30, 60, 100, 160, 240, 360, 500]" // App. B.2
	threeSeeds  = "seeds=[2, 3, 4]"
	fiveSeeds   = "seeds=[2, 3, 4, 5, 6]"
	eightSeeds  = "seeds=[2, 3, 4, 5, 6, 7, 8, 9]"
)

// recipes are the studies that tables and claims name.
func recipes() []recipe {
	all := []recipe{
		{name: "primary", about: "the base scenario on the paper's seeds", set: []string{fiveSeeds}},
		{name: "held-out", about: "the base scenario on seeds that no fit has seen", set: []string{"seeds=[5, 6, 7, 8, 9, 10, 11]"}},
		{name: "primary-q-cap", about: "the base scenario at CacheRoute's capacity, with q_cap the knee of a single destination",
			set: []string{"loads_qps=[180]", fiveSeeds}, policies: []string{"cacheroute"}, more: (*kit).limitLoad},
		{name: "residency", about: "hits predicted by one characteristic time a destination, for a cache that has served for ever, beside the simulated ones: three policies whose routing is known beforehand, three loads, a quarter, a half and all of the KV blocks",
			set: []string{"loads_qps=[60, 100, 160]", threeSeeds}, policies: []string{"flat-lb", "sticky", "cacheroute"}, predicted: true},
		{name: "wide", about: "256 keys; the paper's finer ladder is not printed: steps of 20 requests/s are assumed",
			set: []string{"workload.keys.top=256", "loads_qps=[20, 30, 40, 60, 80, 100, 120, 140, 160, 180, 200]", eightSeeds}, policies: []string{"flat-lb", "dualmap", "cacheroute"}},
		{name: "gamma", about: "Gamma gaps of CV 1.9", set: []string{"workload.arrivals={name: gamma, cv: 1.9}", fiveSeeds}, policies: twoPolicies},
		{name: "blocks", about: "the 22,639 measured gaps are not public: as many lognormal gaps of the stated CV 2.73 stand for them, whose logarithms form an AR(1) series of assumed correlation 0.5; blocks of 50",
			set: []string{fiveSeeds}, policies: twoPolicies, more: (*kit).bootstrap},
	}
	for _, k := range []int{128, 256} {
		all = append(all,
			recipe{name: fmt.Sprintf("second-%d", k), about: "the second distribution is not published: another draw of the same lognormal population stands for it, with contexts drawn anew; primary ladder",
				set: []string{"workload.keys.seed=2", top(k), threeSeeds}},
			recipe{name: fmt.Sprintf("fp16-%d", k), model: "70B fp16", set: []string{top(k), threeSeeds}, policies: []string{"flat-lb", "sticky", "cacheroute"}})
	}
	for _, k := range []int{16, 32, 64, 128, 256, 2000} {
		all = append(all, recipe{name: fmt.Sprintf("8b-%d", k), model: "8B", about: "q_cap is the knee of a single destination (section 3.1)",
			set: []string{top(k), ladder8B, threeSeeds}, more: (*kit).limitLoad})
	}
	all = append(all, whaleRecipes()...)
	all = append(all, skewRecipes()...)
	all = append(all, negativeRecipes()...)
	return append(all, driftRecipes()...)
}

func top(k int) string { return fmt.Sprintf("workload.keys.top=%d", k) }

// loadTarget sets q_cap to the mean load of a destination at the top of the
// ladder. Whales@3.0 are then three times the target that they are measured in,
// as they must be if they, and only they, are replicated (section 5.2).
func loadTarget(destinations int) string {
	return fmt.Sprintf("policies.cacheroute.q_cap_qps=%.4g", 500/float64(destinations))
}

// whaleRecipes are Tables 4, 5 and 14.
func whaleRecipes() []recipe {
	fleet := func(name string, destinations, whales int, more ...string) recipe {
		share := float64(whales) * 3 / float64(destinations)
		return recipe{name: name, model: "8B", policies: twoPolicies,
			about: fmt.Sprintf("%d whales@3.0 on %d destinations (Table 14) is read as keys with 3 times the mean load of a destination each, %.0f %% of the traffic together, and q_cap as that mean load at the top of the ladder", whales, destinations, 100*share),
			set:   append([]string{fmt.Sprintf("fleet.destinations=%d", destinations), fmt.Sprintf("workload.whales={count: %d, traffic_share: %.6g}", whales, share), loadTarget(destinations), ladder8B, threeSeeds}, more...)}
	}
	random := "policies.cacheroute.placement=random"
	all := []recipe{
		fleet("whales", 30, 8), fleet("fleet-8", 8, 2), fleet("fleet-60", 60, 16),
		fleet("whales-affinity", 30, 8, random, "policies.cacheroute.replication=false"),
		fleet("whales-replication", 30, 8, random),
	}
	for i := range all[3:] {
		all[3+i].policies = []string{"cacheroute"}
	}
	return all
}

// skewRecipes are Table 13.
func skewRecipes() (all []recipe) {
	for _, q := range []int{50, 100, 200, 500} {
		all = append(all, recipe{name: fmt.Sprintf("q-cap-%d", q), model: "8B", about: fmt.Sprintf("q_cap %d requests/s", q), policies: twoPolicies,
			set: []string{fmt.Sprintf("policies.cacheroute.q_cap_qps=%d", q), ladder8B, threeSeeds}})
	}
	for _, percent := range []int{5, 15, 25, 45} {
		all = append(all, recipe{name: fmt.Sprintf("head-%d", percent), model: "8B", policies: twoPolicies,
			about: fmt.Sprintf("one injected key with %d %% of the traffic, q_cap as with the whales", percent),
			set:   []string{fmt.Sprintf("workload.whales={count: 1, traffic_share: %.2f}", float64(percent)/100), loadTarget(30), ladder8B, threeSeeds}})
	}
	return all
}

// negativeRecipes are the 32B workloads of Tables 5 and 15.
func negativeRecipes() (all []recipe) {
	for i, name := range []string{"32b-a", "32b-b"} {
		all = append(all, recipe{name: name, model: "32B", policies: twoPolicies,
			about: fmt.Sprintf("the aggregate is not published: population %d of the same law, and the prompt that section 2.1 states: 180 tokens of context, 900 retrieved that always break, a turn of 120, nothing shared by all keys (a warm template would be in the hits of both policies); ladder assumed", 3+i),
			set: []string{fmt.Sprintf("workload.keys.seed=%d", 3+i), "workload.prompt={context_tokens: 180, retrieved_tokens: 900, variants: 65536, stay_probability: 0, turn_tokens: 120}",
				"loads_qps=[5, 10, 20, 30, 40, 60, 80, 100, 140, 200, 300]", threeSeeds}})
	}
	return all
}

// driftRecipes are Table 12: the same drift with a fresh plan in each interval,
// and with the plan of the interval before.
func driftRecipes() (all []recipe) {
	for _, r := range []struct{ name, replan string }{{"drift-fresh", "every"}, {"drift-stale", "late"}} {
		all = append(all, recipe{name: r.name, policies: []string{"cacheroute"}, more: (*kit).drift,
			about: "six intervals in one run, each as long as a whole point of the base scenario, as the paper does not give their length; the dip is from the last to the first tenth of an interval",
			set:   []string{"policies.cacheroute.replan=" + r.replan, "loads_qps=[160]", threeSeeds}})
	}
	return all
}

// drift lets the rates walk and measures every interval from the start on.
func (k *kit) drift() error {
	base, err := scenarios.Load(baseScenario, scenarios.Options{})
	if err != nil {
		return err
	}
	interval := base.Measure.WarmupS + base.Measure.DurationS
	k.change("workload.drift", fmt.Sprintf("{sigma: 0.3, interval_s: %v}", interval))
	k.change("measure.warmup_s", 0)
	k.change("measure.duration_s", driftIntervals*interval)
	return nil
}

// kit is a study in the making.
type kit struct {
	name    string // as errors call it
	options scenarios.Options
	folder  string // for generated input files
}

func (k *kit) change(path string, value any) {
	k.options.Set = append(k.options.Set, scenarios.Override{Path: path, Value: fmt.Sprint(value), Source: "study " + k.name})
}

func (k *kit) study() (*scenarios.Study, error) { return scenarios.Load(baseScenario, k.options) }

// build makes the study. folder is where it may put generated input files; the
// seeds, if given, replace its own.
func (r *recipe) build(folder string, seeds []uint64) (*scenarios.Study, []string, error) {
	k := &kit{name: r.name, options: scenarios.Options{Policies: r.policies}, folder: folder}
	for _, arg := range r.set {
		path, value, _ := strings.Cut(arg, "=")
		k.change(path, value)
	}
	if r.model != "" {
		if err := k.model(models[r.model]); err != nil {
			return nil, nil, err
		}
	}
	if r.more != nil {
		if err := r.more(k); err != nil {
			return nil, nil, err
		}
	}
	s, err := k.study()
	if err != nil {
		return nil, nil, err
	}
	s.Name = r.name
	if seeds != nil {
		s.Seeds = slices.Clone(seeds)
	}
	var changes []string
	for _, set := range k.options.Set {
		changes = append(changes, set.Path+"="+strings.ReplaceAll(set.Value, folder, ""))
	}
	return s, changes, nil
}
