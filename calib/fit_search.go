package calib

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// reading is one way to understand a bench, and the fit under it.
type reading struct {
	facts  Facts
	budget int
	p      params
	loss   float64
}

// The values tried for what neither the file nor the user says, the usual one
// first: vLLM's budget on H100, its former one, and others met; requests of
// InferenceMAX and of AIConfigurator's rows; lengths of vLLM's random data set
// and of InferenceMAX; engines that hold one sequence less than the clients, as
// TensorRT-LLM did in AIConfigurator's runs, whose mean TTFT holds a full answer
// for one client in turn.
var (
	usualBudgets  = []int{8192, 2048, 4096, 16384, onePrompt}
	usualRatios   = []float64{1, 0.8}
	usualRequests = []int{10, 20, 5}
	usualWaiting  = []int{0, 1}
)

// onePrompt stands for a budget of one prompt beside the decoding sequences.
const onePrompt = -1

// readings lists the ways to understand the bench that are left open.
func (f *fitter) readings() []reading {
	ratios, requests := []float64{f.opt.Facts.LengthRatio}, []int{f.opt.Facts.RequestsPerClient}
	waiting, budgets := []int{f.opt.Facts.Waiting}, []int{f.opt.MaxBatchedTokens}
	open := func(has func(r BenchRow) bool) bool { return slices.ContainsFunc(f.rows, has) }
	if ratios[0] == 0 && open(func(r BenchRow) bool { return r.Input.Known != LengthsRange }) {
		ratios = usualRatios
	}
	if requests[0] == 0 && open(func(r BenchRow) bool { return r.Requests == 0 }) {
		requests = usualRequests
	}
	if waiting[0] < 0 {
		waiting = usualWaiting
	}
	if budgets[0] == 0 {
		budgets = usualBudgets
		if f.opt.Facts.OnePrompt {
			budgets = usualBudgets[:1]
		}
	}
	if !f.opt.Refine { // only simulation tells them apart
		ratios, requests, waiting, budgets = ratios[:1], requests[:1], waiting[:1], budgets[:1]
	}
	var all []reading
	for _, b := range budgets {
		for _, l := range ratios {
			for _, n := range requests {
				for _, w := range waiting {
					r := reading{facts: f.opt.Facts, budget: b}
					r.facts.LengthRatio, r.facts.RequestsPerClient, r.facts.Waiting = l, n, w
					if b == onePrompt {
						r.facts.OnePrompt, r.budget = true, usualBudgets[0]
					}
					all = append(all, r)
				}
			}
		}
	}
	return all
}

// screenRows is how many rows are enough to tell bad readings from good ones.
const screenRows = 18

// screened is a fitter with rows taken evenly from all.
func (f *fitter) screened() *fitter {
	g := *f
	if n := len(f.rows); n > screenRows {
		g.rows = nil
		for i := range screenRows {
			g.rows = append(g.rows, f.rows[i*n/screenRows])
		}
	}
	return &g
}

// try fits under a reading and rates it. Beside the coefficients' own loss the
// means of TTFT count for more, as it is they that the readings differ in.
func (f *fitter) try(r *reading, steps int) {
	f.facts, f.cfg.MaxBatchedTokens = r.facts, r.budget
	if r.p == nil {
		r.p = f.regress()
	}
	q := f.meanSteps(r.p[f.freeAt()])
	f.bound = oddBeyond(q.residuals(r.p[:len(f.form.coefficients)]))
	if f.opt.Refine {
		r.p, _ = f.refine(r.p, steps)
		r.loss = meanAbs(weighted(f.rows, f.simulateRows(r.p, f.rows), readingWeight))
	}
	f.bound = 0
}

// plainest puts first, of sorted readings that are about as near as the best,
// the one that departs least from what is usual.
func plainest(all []reading) {
	const about = 1.05
	departs := func(r reading) (n int) {
		for _, odd := range []bool{
			r.budget != usualBudgets[0] || r.facts.OnePrompt, r.facts.LengthRatio != usualRatios[0],
			r.facts.RequestsPerClient != usualRequests[0], r.facts.Waiting != usualWaiting[0],
		} {
			if odd {
				n++
			}
		}
		return n
	}
	best := 0
	for i, r := range all {
		if r.loss <= about*all[0].loss && departs(r) < departs(all[best]) {
			best = i
		}
	}
	all[0], all[best] = all[best], all[0]
}

// settle finds the reading under which the simulated bench comes nearest to the
// measured one: all are fitted roughly, the best few closely.
func (f *fitter) settle() reading {
	all := f.readings()
	byLoss := func(a, b reading) int { return cmp.Compare(a.loss, b.loss) }
	f.announce(len(all))
	if len(all) > 1 {
		g := f.screened()
		for i := range all {
			g.try(&all[i], screenSteps)
		}
		slices.SortStableFunc(all, byLoss)
		all = all[:min(fewClosely, len(all))]
	}
	for i := range all {
		f.try(&all[i], refineSteps)
	}
	slices.SortStableFunc(all, byLoss)
	plainest(all)
	best := all[0]
	f.facts, f.cfg.MaxBatchedTokens = best.facts, best.budget
	if f.opt.Refine {
		f.bound = oddBeyond(weighted(f.rows, f.simulateRows(best.p, f.rows), ttftWeight))
	}
	if len(all) > 1 {
		next := all[1]
		f.note("found by simulation, as neither file nor flags say: %s, %d tokens a step (another, with %.2f times the error: %s, %d tokens a step)",
			best.facts, best.budget, next.loss/best.loss, next.facts, next.budget)
	}
	return best
}

// describeFacts tells which facts were found and which assumed.
func (f *fitter) describeFacts(r reading) {
	o, fit := f.opt, f.fit
	fit.Facts, fit.MaxBatchedTokens = r.facts, r.budget
	add := func(name string, open bool) {
		if open {
			fit.FoundFacts = append(fit.FoundFacts, name)
		}
	}
	add("length_ratio", o.Facts.LengthRatio == 0 && r.facts.LengthRatio != 0)
	add("requests_per_client", o.Facts.RequestsPerClient == 0 && r.facts.RequestsPerClient != 0)
	add("waiting_clients", o.Facts.Waiting < 0)
	add("one_prompt_a_step", r.facts.OnePrompt && !o.Facts.OnePrompt)
	add("max_num_batched_tokens", o.MaxBatchedTokens == 0)
	if !o.Refine && len(fit.FoundFacts) > 0 {
		f.note("assumed, as neither file nor flags say: %s, %d tokens a step", r.facts, r.budget)
	}
	if given := o.Facts; given.LengthRatio != 0 || given.RequestsPerClient != 0 || given.Waiting >= 0 {
		f.note("as asked: %s", strings.Join(givenFacts(given), ", "))
	}
}

func givenFacts(f Facts) []string {
	var all []string
	if f.LengthRatio != 0 {
		all = append(all, fmt.Sprintf("length ratio %v", f.LengthRatio))
	}
	if f.RequestsPerClient != 0 {
		all = append(all, fmt.Sprintf("%d requests a client", f.RequestsPerClient))
	}
	if f.Waiting >= 0 {
		all = append(all, counted(f.Waiting, "client")+" without a place")
	}
	return all
}
