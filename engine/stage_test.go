package engine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cacheroute/sim/clock"
	"cacheroute/workload"
)

// stage is an engine, its clock and its jobs by name.
//
//	new block=4 blocks=10 budget=16 seqs=4 base=10 sequence=0 context=0 prefill=1 attention=0
//	    a new engine at time 0; prices are in picoseconds; these are the defaults
//	enqueue NAME prompt=ID:TOKENS,... out=TOKENS [answer=ID]
//	    the kind of a segment is told by the first letter of its ID (t, c, r, h); - is unique
//	start           forms the next span at the current time
//	cut at=TIME     cuts the span in flight at TIME
//	abort NAME [at=TIME]    gives a job up and cuts
//	finish          moves the time to the end of the span and applies it
//	free            the free list, next to be evicted first
//	counters        what the engine has done
type stage struct {
	e     *Engine
	now   clock.Time
	jobs  []*Job
	names []string          // by request index
	ids   map[string]uint64 // of token streams
	paths map[uint64]string // of chains
}

var verbs = map[string]func(s *stage, args []string, out *bytes.Buffer) error{
	"new": (*stage).create, "enqueue": (*stage).enqueue, "start": (*stage).start, "cut": (*stage).cut,
	"abort": (*stage).abort, "finish": (*stage).finish, "free": (*stage).free, "counters": (*stage).counters,
}

// numbers reads key=number arguments over defaults.
func numbers(args []string, n map[string]int) error {
	for _, a := range args {
		key, value, _ := strings.Cut(a, "=")
		x, err := strconv.Atoi(value)
		if _, known := n[key]; !known || err != nil {
			return fmt.Errorf("cannot read %q", a)
		}
		n[key] = x
	}
	return nil
}

func (s *stage) create(args []string, _ *bytes.Buffer) error {
	n := map[string]int{"block": 4, "blocks": 10, "budget": 16, "seqs": 4, "base": 10, "sequence": 0, "context": 0, "prefill": 1, "attention": 0}
	err := numbers(args, n)
	ps := func(name string) float64 { return float64(n[name]) * 1e-9 }
	cost := Linear{BaseMS: ps("base"), SequenceMS: ps("sequence"), ContextMS: ps("context"), PrefillMS: ps("prefill"), AttentionMS: ps("attention")}
	cfg := Config{BlockTokens: n["block"], Blocks: n["blocks"], MaxBatchedTokens: n["budget"], MaxSeqs: n["seqs"], Cost: cost.Build()}
	if err == nil {
		err = cfg.Check()
	}
	*s = stage{e: New(cfg), ids: map[string]uint64{}, paths: map[uint64]string{}}
	return err
}

func (s *stage) id(name string) uint64 {
	if name == "" || name == "-" {
		return 0
	}
	if s.ids[name] == 0 {
		s.ids[name] = uint64(len(s.ids) + 1)
	}
	return s.ids[name]
}

var kinds = map[byte]workload.SegmentKind{
	't': workload.Template, 'c': workload.Context, 'r': workload.Retrieved, 'h': workload.History, '-': workload.Turn,
}

func (s *stage) enqueue(args []string, out *bytes.Buffer) error {
	r := &workload.Request{Index: int64(len(s.jobs))}
	var path []string
	tokens, answer := 1, ""
	for _, a := range args[1:] {
		key, value, _ := strings.Cut(a, "=")
		var err error
		switch key {
		case "prompt":
			for _, segment := range strings.Split(value, ",") {
				name, length, _ := strings.Cut(segment, ":")
				n, err := strconv.Atoi(length)
				if err != nil {
					return err
				}
				r.Append(s.id(name), kinds[name[0]], int32(n))
				path = append(path, name)
				s.paths[r.Prompt[len(r.Prompt)-1].Chain] = strings.Join(path, "/")
			}
		case "out":
			tokens, err = strconv.Atoi(value)
		case "answer":
			answer = value
		default:
			err = fmt.Errorf("cannot read %q", a)
		}
		if err != nil {
			return err
		}
	}
	r.SetOutput(s.id(answer), int32(tokens))
	s.paths[r.Output.Chain] = strings.Join(append(path, answer), "/")
	for i := range len(r.Prompt) + 1 { // how a preempted job names what is its own
		s.paths[workload.Chained(^uint64(i), 1, uint64(r.Index)+1)] = fmt.Sprintf("%s's own %d", args[0], i)
	}
	j := &Job{}
	j.Reset(r)
	s.jobs, s.names = append(s.jobs, j), append(s.names, args[0])
	if !s.e.Enqueue(j) {
		fmt.Fprintf(out, "%s is refused: its prompt never fits\n", args[0])
	}
	return nil
}

func (s *stage) name(j *Job) string { return s.names[j.Request.Index] }

// start prints refusals, preemptions, the span and its parts in order of
// admission, who waits, and how many blocks are free once the span has its own.
func (s *stage) start(_ []string, out *bytes.Buffer) error {
	e := s.e
	waited := map[*Job]bool{}
	running := map[*Job]bool{}
	for _, j := range s.jobs {
		waited[j], running[j] = j.status == waiting, j.status == prefilling || j.status == decoding
	}
	ends, outcomes := e.Start(s.now, nil)
	for _, o := range outcomes {
		fmt.Fprintf(out, "%s is refused after %d tokens: alone and out of blocks\n", s.name(o.Job), o.Job.Emitted)
	}
	for _, j := range s.jobs {
		if running[j] && j.status == waiting {
			fmt.Fprintf(out, "%s is preempted\n", s.name(j))
		}
	}
	switch {
	case ends == clock.Never:
		fmt.Fprintln(out, "idle")
	case e.length == 1:
		fmt.Fprintf(out, "step from %d to %d\n", s.now, ends)
	default:
		fmt.Fprintf(out, "%d steps from %d to %d\n", e.length, s.now, ends)
	}
	decoders := slices.Clone(e.decoders)
	slices.SortFunc(decoders, func(a, b decoder) int { return byOrder(a.job, b.job) })
	for _, d := range decoders {
		fmt.Fprintf(out, "  %s decodes on %d tokens\n", s.name(d.job), d.job.computed+int32(e.step-d.job.joined))
	}
	for _, c := range e.chunks {
		fmt.Fprintf(out, "  %s prefills", s.name(c.job))
		if waited[c.job] && c.job.computed > 0 {
			fmt.Fprintf(out, " behind a hit of %d", c.job.computed)
		}
		fmt.Fprintf(out, ": %d..%d of %d\n", c.job.computed, c.job.computed+c.tokens, c.job.target)
	}
	s.lines(out, e.cache.free+e.grown-e.growth(e.length))
	return nil
}

// lines prints the waiting line and the free blocks.
func (s *stage) lines(out *bytes.Buffer, free int64) {
	for i := range s.e.waiting.len() {
		fmt.Fprintf(out, "  %s waits\n", s.name(s.e.waiting.ring[s.e.waiting.at(i)]))
	}
	fmt.Fprintf(out, "  %d blocks free\n", free)
}

func (s *stage) cut(args []string, out *bytes.Buffer) error {
	at, err := s.at(args)
	if err == nil {
		fmt.Fprintf(out, "ends at %d\n", s.e.Cut(at))
	}
	return err
}

// at reads at=TIME, by default the current time, within the span in flight.
func (s *stage) at(args []string) (clock.Time, error) {
	n := map[string]int{"at": int(s.now)}
	if err := numbers(args, n); err != nil {
		return 0, err
	}
	at := clock.Time(n["at"])
	if at < s.now || !s.e.Idle() && at > s.e.ends {
		return 0, fmt.Errorf("%d is outside of the span in flight", at)
	}
	return at, nil
}

func (s *stage) abort(args []string, out *bytes.Buffer) error {
	at, err := s.at(args[1:])
	if err != nil {
		return err
	}
	j := s.jobs[slices.Index(s.names, args[0])]
	if s.e.Abort(j, at) {
		fmt.Fprintf(out, "%s is forgotten after %d tokens; the span ends at %d\n", args[0], j.Emitted, s.e.Cut(at))
	} else {
		fmt.Fprintf(out, "%s leaves after %d tokens at %d\n", args[0], j.Emitted, s.e.Cut(at))
	}
	return nil
}

func (s *stage) finish(_ []string, out *bytes.Buffer) error {
	if s.e.Idle() {
		return errors.New("no span is in flight")
	}
	s.now = s.e.ends
	fmt.Fprintf(out, "at %d\n", s.now)
	for _, o := range s.e.Finish(s.now, nil) {
		j := o.Job
		switch o.Kind {
		case FirstToken:
			fmt.Fprintf(out, "  %s has its first token\n", s.name(j))
			continue
		case Completed:
			fmt.Fprintf(out, "  %s is complete: %d tokens", s.name(j), j.Emitted)
		case Dropped:
			fmt.Fprintf(out, "  %s is dropped: %d tokens", s.name(j), j.Emitted)
		}
		for kind, n := range j.Hit {
			if n > 0 {
				fmt.Fprintf(out, ", %v hit %d", workload.SegmentKind(kind), n)
			}
		}
		if j.Preemptions > 0 {
			fmt.Fprintf(out, ", preempted %d times", j.Preemptions)
		}
		fmt.Fprintln(out)
	}
	s.lines(out, s.e.cache.free)
	return s.e.Check()
}

func (s *stage) free(_ []string, out *bytes.Buffer) error {
	c := &s.e.cache
	for x := c.extents[0].next; x != 0; x = c.extents[x].next {
		e := c.extents[x]
		if e.node == 0 {
			fmt.Fprintf(out, "  %d that nobody can find\n", e.hi)
			continue
		}
		path := s.paths[c.nodes[e.node].chain]
		for i := e.hi - 1; i >= e.lo; i-- {
			fmt.Fprintf(out, "  %s block %d\n", path, i)
		}
	}
	return nil
}

func (s *stage) counters(_ []string, out *bytes.Buffer) error {
	c := s.e.Counters()
	fmt.Fprintf(out, "  busy %d in %d steps, %d tokens decoded, %d blocks evicted\n", c.Busy, c.Steps, c.Decoded, c.Evicted)
	fmt.Fprintf(out, "  %d tokens of admissions: %d reused, %d computed, %d abandoned; %d computed again after %d preemptions\n",
		c.Demanded, c.Reused, c.Prefilled, c.Abandoned, c.Recomputed, c.Preemptions)
	return nil
}
