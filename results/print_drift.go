package results

import (
	"fmt"
	"strings"
)

// driftMean is a policy at a load, mean over its intervals of drift.
type driftMean struct {
	policy              string
	load, from          float64 // from: the start of the first
	intervals           int
	hit, p99, imbalance Float
	dip                 Float
	install             *Install // over the intervals that began with a new table; nil: none did
}

// driftMeans has an entry for each policy and load, in the order of the rows.
func (s *Summary) driftMeans() []driftMean {
	var means []driftMean
	for rest := s.Drift; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Policy == rest[0].Policy && rest[n].LoadQPS == rest[0].LoadQPS {
			n++
		}
		means = append(means, newDriftMean(rest[:n]))
		rest = rest[n:]
	}
	return means
}

func newDriftMean(rows []DriftRow) driftMean {
	var installs []*Install
	for i := range rows {
		installs = append(installs, rows[i].Install)
	}
	// What an interval without requests leaves undefined does not count.
	over := func(figure func(*DriftRow) Interval) Float {
		sum, n := Float(0), Float(0)
		for i := range rows {
			if v := figure(&rows[i]).Mean; v == v {
				sum += v
				n++
			}
		}
		return sum / n
	}
	return driftMean{
		policy: rows[0].Policy, load: rows[0].LoadQPS, from: float64(rows[0].FromS), intervals: len(rows), install: meanInstall(installs),
		hit:       over(func(r *DriftRow) Interval { return r.KVHit }),
		p99:       over(func(r *DriftRow) Interval { return r.TTFTP99 }),
		imbalance: over(func(r *DriftRow) Interval { return r.Imbalance }),
		dip:       over(func(r *DriftRow) Interval { return r.Dip }),
	}
}

// words are the figures, as the terminal and the page print them.
func (m *driftMean) words() []string {
	words := []string{percent(m.hit), seconds(m.p99), hundredths(m.imbalance), strings.Replace(percent(m.dip), "-0.0", "0.0", 1), "-", "-", "-", "-"}
	if x := m.install; x != nil {
		words = append(words[:4], percent(x.Sets), percent(x.Traffic), percent(x.Counts), hundredths(x.ImbalanceStale)+" "+hundredths(x.ImbalanceFresh))
	}
	return words
}

// driftWords explain the figures of a drift.
const driftWords = "imbalance: max over mean of requests per destination; dip: points of KV hit lost from the end of the interval before to the start of this one; with a new table: " +
	"sets, mean 1 - Jaccard of the keys' destinations in %; traffic, % of it that moves; counts, % of keys with another number of destinations; " +
	"max/mean, of the planned load under the rates of the interval with the old and with the new table"

// mostDriftRows is how many intervals are printed one by one; of more, each
// policy and load has a line.
const mostDriftRows = 24

// drifts prints the intervals of a drift, or their means.
func (p *printer) drifts() {
	title, column, words := "by interval of drift, mean over", "from s", driftWords
	which := func(m *driftMean) string { return Shortly(m.from) }
	var rows []driftMean
	if len(p.Drift) <= mostDriftRows {
		for i := range p.Drift {
			rows = append(rows, newDriftMean(p.Drift[i:i+1]))
		}
	} else {
		title, column = "mean over the intervals of drift and", "intervals"
		words += "; report.html and summary.json have each interval"
		which = func(m *driftMean) string { return fmt.Sprint(m.intervals) }
		rows = p.driftMeans()
	}
	name := width("policy")
	for _, policy := range p.policies {
		name = max(name, width(policy))
	}
	line := func(code string, cells ...string) {
		text := padRight(cells[0], name)
		for i, width := range []int{8, 10, 6, 7, 11, 6, 6, 9, 8, 11} {
			text += pad(cells[i+1], width)
		}
		p.line(code, strings.TrimRight(text, " "))
	}
	fmt.Fprintln(p.w)
	p.line(bold, fmt.Sprintf("%s %s:", title, plural(p.seeds, "seed")))
	fmt.Fprintln(p.w)
	line(bold, "policy", "QPS", column, "hit", "p99 s", "imbalance", "dip", "sets", "traffic", "counts", "max/mean")
	for i := range rows {
		r := &rows[i]
		line("", append([]string{r.policy, Shortly(r.load), which(r)}, r.words()...)...)
	}
	fmt.Fprintln(p.w)
	p.line(dim, wrap(words, lineWidth, ""))
}

func hundredths(f Float) string {
	if !f.Finite() {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(f))
}
