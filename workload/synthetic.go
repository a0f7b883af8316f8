package workload

import (
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/zeebo/xxh3"

	"cacheroute/sim/clock"
)

// Synthetic is a workload drawn from a Spec. What belongs to the population is
// made once and shared by all cells.
type Synthetic struct {
	spec     Spec
	keys     *Keys
	hashes   []uint64  // by key: the population, then the whales
	share    []float64 // of the population, at the start of a run
	pick     alias     // of share
	template Segment
	contexts []Segment // by key, after the template
	variants int

	arrivals                         ArrivalProcess
	context, retrieved, turn, output Lengther
}

// NewSynthetic reads the files that the spec names and draws the population.
func NewSynthetic(s Spec) (*Synthetic, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	w := &Synthetic{spec: s, variants: max(1, s.Prompt.Variants)}
	var err error
	if w.keys, err = s.Keys.Build(); err != nil {
		return nil, err
	}
	if w.arrivals, err = s.Arrivals.Build(); err != nil {
		return nil, err
	}
	for _, l := range []struct {
		length Length
		to     *Lengther
	}{
		{s.Prompt.ContextTokens, &w.context}, {s.Prompt.RetrievedTokens, &w.retrieved},
		{s.Prompt.TurnTokens, &w.turn}, {s.Output, &w.output},
	} {
		if *l.to, err = l.length.Build(); err != nil {
			return nil, err
		}
	}
	if err := w.checkCycle(); err != nil {
		return nil, err
	}
	w.share = s.Drift.Walk(w.keys.Share).Share
	w.pick = newAlias(w.share)
	w.populate()
	return w, nil
}

// populate fixes what belongs to each key. Each key draws from its own stream,
// so that it is the same whatever other keys are selected.
func (w *Synthetic) populate() {
	var r Request
	r.Append(identity(Template, 0, 0), Template, int32(w.spec.Prompt.TemplateTokens))
	if len(r.Prompt) > 0 {
		w.template = r.Prompt[0]
	}
	n := w.keys.Len()
	w.hashes = make([]uint64, w.Keys())
	w.contexts = make([]Segment, w.Keys())
	draw := newDraw()
	for i := range w.hashes {
		if i < n {
			w.hashes[i] = w.keys.Hash(i)
		} else {
			w.hashes[i] = xxh3.HashString("whale" + strconv.Itoa(i-n))
		}
		id := identity(Context, w.hashes[i], 0)
		r.Reset()
		r.Append(w.template.ID, Template, w.template.Tokens)
		head := len(r.Prompt)
		r.Append(id, Context, w.context.Draw(draw.at(w.keys.Seed, id)))
		if len(r.Prompt) > head {
			w.contexts[i] = r.Prompt[head]
		}
	}
}

// draw is a generator that is set to the stream of one thing, for what must not
// depend on the order of drawing.
type draw struct {
	pcg *rand.PCG
	rng *rand.Rand
}

func newDraw() draw {
	pcg := rand.NewPCG(0, 0)
	return draw{pcg, rand.New(pcg)}
}

func (d draw) at(seed, id uint64) *rand.Rand {
	d.pcg.Seed(seed, id)
	return d.rng
}

// Keys implements Workload. Whales come after the population.
func (w *Synthetic) Keys() int { return w.keys.Len() + w.spec.Whales.count() }

// KeyNames are the names that a file of rates gave the keys, in their order; nil
// if the keys are generated. Whales have none.
func (w *Synthetic) KeyNames() []string { return w.keys.Names }

// KeyHashes implements Workload.
func (w *Synthetic) KeyHashes() []uint64 { return w.hashes }

// Rates implements Workload: those of the start of a run.
func (w *Synthetic) Rates(qps float64) ([]float64, error) {
	return w.rates(qps, w.share)
}

// rates is the rates of the keys when the population has these shares.
func (w *Synthetic) rates(qps float64, share []float64) ([]float64, error) {
	if err := checkLoad(qps); err != nil {
		return nil, err
	}
	whales, err := w.spec.Whales.share(qps)
	if err != nil {
		return nil, err
	}
	rates := make([]float64, w.Keys())
	n := copy(rates, share)
	for i := range rates[:n] {
		rates[i] *= qps * (1 - whales)
	}
	for i := range rates[n:] {
		rates[n+i] = qps * whales / float64(w.spec.Whales.Count)
	}
	return rates, nil
}

// Asked implements Workload. All but the count of keys is NaN at a load that
// Rates refuses. The prompt is NaN with threads, whose history has no simple
// mean.
func (w *Synthetic) Asked(qps float64) Figures {
	nan := math.NaN()
	f := Figures{QPS: qps, GapCV: w.arrivals.GapCV(), Keys: w.Keys(), Gini: nan, TopShare: nan, Top4Share: nan,
		PromptTokens: nan, OutputTokens: w.output.Mean()}
	if _, closed := w.arrivals.(*ClosedArrivals); closed {
		f.QPS = nan // depends on the answers
	}
	if w.spec.Prompt.Thread == nil {
		f.PromptTokens = float64(w.template.Tokens) + w.context.Mean() + w.retrieved.Mean() + w.turn.Mean()
	}
	if rates, err := w.Rates(qps); err == nil {
		f.popularity(rates)
	}
	return f
}

// Open implements Workload.
func (w *Synthetic) Open(qps float64, s clock.Streams) (Source, error) {
	if err := checkLoad(qps); err != nil {
		return nil, err
	}
	whales, err := w.spec.Whales.share(qps)
	if err != nil {
		return nil, err
	}
	c := &synthetic{
		Synthetic: w,
		whales:    whales,
		arrivals:  w.arrivals.Start(qps, s.Rand("workload/arrivals")),
		keyRand:   s.Rand("workload/keys"),
		turnRand:  s.Rand("workload/turns"),
		outRand:   s.Rand("workload/outputs"),
		draw:      newDraw(),
		pick:      w.pick,
		stepAt:    w.spec.Drift.Interval(),
	}
	if w.spec.Drift != nil {
		c.walk = w.spec.Drift.Walk(w.keys.Share)
	}
	if w.spec.Prompt.Cycle != "" {
		c.cycle = w.newCycle(s.Rand("workload/cycle"))
	} else if w.variants > 1 {
		c.variant = make([]uint16, w.Keys())
		c.variantRand = s.Rand("workload/variants")
	}
	if w.spec.Prompt.Thread != nil {
		c.threads = make([]thread, w.Keys())
		c.threadRand = s.Rand("workload/threads")
	}
	if closed, ok := c.arrivals.(*clients); ok {
		return &closedSynthetic{c, closed}, nil
	}
	return c, nil
}

// synthetic is the source of one cell.
type synthetic struct {
	*Synthetic
	whales   float64 // their share of the traffic
	arrivals Arrivals
	index    int64
	at       clock.Time
	pick     alias      // of the population's shares now
	walk     *Walk      // of the shares; nil if they stay
	stepAt   clock.Time // when they take their next step

	keyRand, turnRand, outRand, variantRand, threadRand *rand.Rand

	draw    draw
	variant []uint16 // current variant by key; nil if there is one only, or a cycle
	cycle   []int32  // key * variants + variant of the prompts in turn; nil: drawn
	threads []thread // by key; nil without threads
}

// Next implements Source.
func (c *synthetic) Next(r *Request) bool {
	gap, ok := c.arrivals.Next()
	if !ok || gap >= clock.Never-c.at {
		return false
	}
	c.at += gap
	c.fill(r)
	return true
}

// fill makes r the request that arrives now.
func (c *synthetic) fill(r *Request) {
	for c.at >= c.stepAt {
		c.drift()
	}
	key := c.drawKey()
	r.Reset()
	r.Index, r.At, r.Key = c.index, c.at, int32(key)
	c.prefix(r, key)
	turnTokens, outTokens := c.turn.Draw(c.turnRand), c.output.Draw(c.outRand)
	if c.threads == nil {
		r.Append(0, Turn, turnTokens)
		r.SetOutput(0, outTokens)
	} else {
		c.continueThread(r, key, turnTokens, outTokens)
	}
	c.index++
}

// drift begins the next interval.
func (c *synthetic) drift() {
	c.walk.Steps(1)
	c.pick = newAlias(c.walk.Share)
	c.stepAt += c.spec.Drift.Interval()
}

func (c *synthetic) drawKey() int {
	if c.cycle != nil {
		return c.inTurn() / c.variants
	}
	if c.whales > 0 {
		if u := c.keyRand.Float64(); u < c.whales {
			n := c.spec.Whales.Count
			return c.keys.Len() + min(n-1, int(u/c.whales*float64(n)))
		}
	}
	return c.pick.draw(c.keyRand)
}

// prefix appends what comes before the thread.
func (c *synthetic) prefix(r *Request, key int) {
	for _, s := range [...]*Segment{&c.template, &c.contexts[key]} {
		if s.Tokens > 0 {
			r.Prompt = append(r.Prompt, *s)
			r.PromptTokens += s.Tokens
		}
	}
	id := identity(Retrieved, c.hashes[key], c.nextVariant(key))
	n, fixed := c.retrieved.(constant)
	if !fixed {
		n = constant(c.retrieved.Draw(c.draw.at(c.keys.Seed, id)))
	}
	r.Append(id, Retrieved, int32(n))
}

// nextVariant moves a key on to the variant of its next request. Variants are
// alike, so every key may begin at number 0.
func (c *synthetic) nextVariant(key int) uint64 {
	if c.cycle != nil {
		return uint64(c.inTurn() % c.variants)
	}
	if c.variant == nil {
		return 0
	}
	v := &c.variant[key]
	if c.variantRand.Float64() >= c.spec.Prompt.StayProbability {
		*v = uint16((int(*v) + 1 + c.variantRand.IntN(c.variants-1)) % c.variants)
	}
	return uint64(*v)
}

// continueThread appends the history of the key's thread, or starts a new one,
// and the current turn.
func (c *synthetic) continueThread(r *Request, key int, turnTokens, outTokens int32) {
	spec, t := c.spec.Prompt.Thread, &c.threads[key]
	goesOn := c.threadRand.Float64()*spec.MeanRequests >= 1
	if !goesOn || int(t.tokens) > spec.MaxHistoryTokens || len(t.turns) >= mostTurns {
		t.turns, t.tokens = t.turns[:0], 0
	}
	for _, h := range t.turns {
		r.Append(h.id, History, h.tokens)
	}
	asked := identity(Turn, c.hashes[key], uint64(t.requests))
	answered := identity(History, c.hashes[key], uint64(t.requests))
	r.Append(asked, Turn, turnTokens)
	r.SetOutput(answered, outTokens)
	t.requests++
	t.tokens += turnTokens + outTokens
	t.turns = append(t.turns, turn{asked, turnTokens}, turn{answered, outTokens})
}
