package results

import (
	"fmt"
	"math"
	"regexp"
	"strings"
)

// note is a doubt and how often it applies.
type note struct {
	text, where string
	count       int
}

// notebook gathers notes; those that differ in their numbers only are one.
type notebook struct {
	notes []*note
	kind  map[string]*note
}

func newNotebook() *notebook { return &notebook{kind: map[string]*note{}} }

var numbers = regexp.MustCompile(`[0-9][0-9.,e+-]*`)

func (b *notebook) add(where, text string) {
	kind := numbers.ReplaceAllString(text, "#")
	if n := b.kind[kind]; n != nil {
		n.count++
		return
	}
	n := &note{text, where, 1}
	b.notes = append(b.notes, n)
	b.kind[kind] = n
}

// notes returns what is to be doubted, each kind once with the first place
// where it applies and how often it does.
func (s *Summary) notes() []*note {
	b := newNotebook()
	for i := range s.Capacity {
		r := &s.Capacity[i]
		for _, text := range r.Warnings {
			if r.Censor != CensorMixed || text != r.censorWords(0) { // the table marks it
				b.add(fmt.Sprintf("%s, p99 <= %s s", r.Policy, Shortly(r.SLO)), text)
			}
		}
	}
	for i := range s.Cells {
		c := &s.Cells[i]
		for _, text := range c.Warnings {
			b.add(fmt.Sprintf("%s, %s QPS, seed %d", c.Policy, Shortly(c.LoadQPS), c.Seed), text)
		}
	}
	s.compareAsked(b)
	return b.notes
}

// notes prints the notes of the summary, and more.
func (p *printer) notes(more []string) {
	notes := p.Summary.notes()
	if len(notes)+len(more) > 0 {
		fmt.Fprintln(p.w)
	}
	for _, text := range more {
		p.line(dim, wrap("note: "+text, lineWidth, "      "))
	}
	for _, n := range notes {
		p.line(dim, wrap("note: "+n.String(), lineWidth, "      "))
	}
}

func (n *note) String() string {
	if n.count > 1 {
		return fmt.Sprintf("%s (%s and %d more)", n.text, n.where, n.count-1)
	}
	return fmt.Sprintf("%s (%s)", n.text, n.where)
}

// Notes are the doubts that are printed with a summary.
func (s *Summary) Notes() (all []string) {
	for _, n := range s.notes() {
		all = append(all, n.String())
	}
	return all
}

// off is how far what came may be from what the workload was asked for.
const off = 0.1

// askedFigures are the figures of the requests that have both.
var askedFigures = []struct {
	name            string
	asked, realised func(*Cell) Float
}{
	{"requests per second", func(c *Cell) Float { return c.AskedQPS }, func(c *Cell) Float { return c.RealisedQPS }},
	{"CV of gaps", func(c *Cell) Float { return c.AskedGapCV }, func(c *Cell) Float { return c.RealisedGapCV }},
	{"Gini of keys", func(c *Cell) Float { return c.AskedGini }, func(c *Cell) Float { return c.RealisedGini }},
	{"mean prompt tokens", func(c *Cell) Float { return c.AskedPromptTokens }, func(c *Cell) Float { return c.RealisedPromptTokens }},
	{"mean output tokens", func(c *Cell) Float { return c.AskedOutputTokens }, func(c *Cell) Float { return c.RealisedOutputTokens }},
}

// compareAsked notes where the requests of a load, mean over the seeds, were
// not as asked. All policies meet the same requests: those of the first count.
func (s *Summary) compareAsked(b *notebook) {
	policies, loads, _ := s.axes()
	if len(policies) == 0 {
		return
	}
	for _, f := range askedFigures {
		worst, text, where, count := off, "", "", 0
		for _, load := range loads {
			asked, realised := undefined, 0.0
			n := 0
			for i := range s.Cells {
				if c := &s.Cells[i]; c.Policy == policies[0] && c.LoadQPS == load {
					asked = f.asked(c)
					realised += float64(f.realised(c))
					n++
				}
			}
			realised /= float64(n)
			apart := math.Abs(realised-float64(asked)) / math.Abs(float64(asked))
			if !(apart > off) || math.IsInf(apart, 0) {
				continue
			}
			count++
			if apart > worst {
				worst, where = apart, Shortly(load)+" QPS"
				text = fmt.Sprintf("asked for %s %s, came %s", f.name, short(float64(asked)), short(realised))
			}
		}
		if count > 0 {
			b.notes = append(b.notes, &note{text, where, count})
		}
	}
}

// wrap breaks a text into lines, all but the first indented.
func wrap(text string, most int, indent string) string { return wrapFrom(text, 0, most, indent) }

// wrapFrom wraps text that begins at a column.
func wrapFrom(text string, column, most int, indent string) string {
	var b strings.Builder
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+width(word) > most:
			b.WriteString("\n" + indent)
			column = width(indent)
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += width(word)
	}
	return b.String()
}
