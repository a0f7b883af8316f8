package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"cacheroute/scenarios"
	"cacheroute/workload"
)

// traceFlags are the flags of commands that read a trace.
type traceFlags struct {
	trace  scenarios.Trace
	window string
	assume string
}

// register adds what every such command has.
func (f *traceFlags) register(c *cobra.Command) {
	t := &f.trace
	c.Flags().StringVar(&t.Format, "format", "", "format of the trace (default: told from its content; cacheroute list formats)")
	c.Flags().StringVar(&t.Key, "key", "", "rule of the routing key: auto, none, session, field, field:NAME or prefix:DEPTH in blocks")
	c.Flags().IntVar(&t.BlockTokens, "block-tokens", 0, "tokens of a recorded block (0: as the file says, or usual in its format)")
	c.Flags().StringVar(&f.window, "window", "", "FROM,TO: keep only what arrives in this part, in seconds after the first arrival")
	c.Flags().Float64Var(&t.Keep, "keep", 0, "keep this fraction of the keys, each with all its requests (0: all)")
	c.Flags().Float64Var(&t.SessionsPerS, "sessions-per-s", 0, "rate at which sessions start, where the trace does not say when they did")
	c.Flags().Uint64Var(&t.SpreadSeed, "draw-seed", 0, "seed of what is drawn: places of equal time stamps, kept keys, starts of sessions")
	c.Flags().BoolVar(&t.Force, "force", false, "accept an implausible rate or span")
}

// registerReplay adds what only a replay has.
func (f *traceFlags) registerReplay(c *cobra.Command) {
	c.Flags().BoolVar(&f.trace.SpreadTies, "spread-ties", false, "spread equal time stamps over the resolution of the recording")
	c.Flags().BoolVar(&f.trace.Closed, "closed", false, "closed loop: a turn of a session waits for the answer before it")
	f.registerAssume(c)
}

// registerAssume adds the statement that unknown hits ask for.
func (f *traceFlags) registerAssume(c *cobra.Command) {
	c.Flags().StringVar(&f.assume, "assume", "", "what prompts share where the trace does not say: template=TOKENS,key=TOKENS,history")
}

// read returns the trace that the flags ask for.
func (f *traceFlags) read(path string) (scenarios.Trace, error) {
	f.trace.File = path
	if err := f.readWindow(); err != nil {
		return f.trace, err
	}
	err := f.readAssume()
	o := f.trace.Options()
	for _, wrong := range o.Check() {
		return f.trace, scenarios.Badf("%v", wrong)
	}
	return f.trace, err
}

func (f *traceFlags) readWindow() error {
	if f.window == "" {
		return nil
	}
	from, to, two := strings.Cut(f.window, ",")
	var errFrom, errTo error
	f.trace.FromS, errFrom = strconv.ParseFloat(strings.TrimSpace(from), 64)
	if to = strings.TrimSpace(to); to != "" {
		f.trace.ToS, errTo = strconv.ParseFloat(to, 64)
	}
	if !two || errFrom != nil || errTo != nil {
		return scenarios.Badf("--window %s: wanted FROM,TO in seconds, as in 600,1200; FROM, alone goes to the end", f.window)
	}
	return nil
}

func (f *traceFlags) readAssume() error {
	if f.assume == "" {
		return nil
	}
	m := &workload.PromptModel{}
	seen := map[string]bool{}
	for _, w := range words(f.assume) {
		name, value, _ := strings.Cut(w, "=")
		n, err := strconv.Atoi(value)
		switch {
		case seen[name]:
			return scenarios.Badf("--assume %s: %s is given twice", f.assume, name)
		case name == "template" && err == nil:
			m.TemplateTokens = n
		case name == "key" && err == nil:
			m.KeyTokens = n
		case w == "history":
			m.History = true
		default:
			return scenarios.Badf("--assume %s: read %s, wanted template=TOKENS, key=TOKENS or history", f.assume, w)
		}
		seen[name] = true
	}
	f.trace.Prompt = m
	if err := m.Check(); err != nil {
		return scenarios.Badf("--assume %s: %v", f.assume, err)
	}
	return nil
}
