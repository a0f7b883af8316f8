package sweep

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Status is how far a plan is, by its results alone.
type Status struct {
	Study   string `json:"study"`
	Cells   int    `json:"cells"`
	Done    int    `json:"done"`
	Failed  int    `json:"failed"`
	Missing int    `json:"missing"`
	// Damaged lines of results count as missing.
	Damaged   int        `json:"damaged"`
	Conflicts []conflict `json:"conflicts,omitempty"`
	Failures  []failure  `json:"failures,omitempty"` // the first of them
	// DamagedRequests are files that are not the requests of their cells; only
	// looked for if results are verified.
	DamagedRequests []string `json:"damaged_requests,omitempty"`
	// LeftS is the time that the missing cells need at the pace of the last
	// minutes; 0 if there is none.
	LeftS float64 `json:"left_s"`
	// LastS is how long ago the last result came.
	LastS float64 `json:"last_s"`

	damage string // DamagedRequests in words
}

// failure is a cell that failed.
type failure struct {
	Cell    int     `json:"cell"`
	Policy  string  `json:"policy"`
	LoadQPS float64 `json:"load_qps"`
	Seed    uint64  `json:"seed"`
	Error   string  `json:"error"`
}

// conflict is a cell with two results that differ.
type conflict struct {
	Cell  int       `json:"cell"`
	Files [2]string `json:"files"`
}

const mostFailures = 10

// paceOf is the span of results by whose pace the time left is told.
const paceOf = 10 * time.Minute

// StatusOf counts the results of a plan. verify compares each with its sum and
// with its requests, if they are kept; without, a result counts if its line is
// whole.
func StatusOf(dir string, verify bool) (*Status, error) {
	p, err := Open(dir)
	if err != nil {
		return nil, err
	}
	ids, err := p.ids()
	if err != nil {
		return nil, err
	}
	have, err := p.find(ids, Shard{0, 1}, verify)
	if err != nil {
		return nil, err
	}
	s, err := p.status(ids, have, time.Now())
	if err != nil || !verify {
		return s, err
	}
	if s.DamagedRequests, err = p.damagedRequests(ids, have); len(s.DamagedRequests) > 0 {
		s.damage = p.damageWords(s.DamagedRequests)
	}
	return s, err
}

func (p *Plan) status(ids []id, have *found, now time.Time) (*Status, error) {
	s := &Status{Study: p.Study, Cells: len(ids), Damaged: have.damaged}
	var whens []time.Time
	for i, cell := range ids {
		at, ok := have.at[cell]
		switch {
		case !ok:
			s.Missing++
			continue
		case at.kind == failed:
			s.Failed++
		default:
			s.Done++
		}
		whens = append(whens, at.when)
		if files, ok := have.conflicts[cell]; ok {
			s.Conflicts = append(s.Conflicts, conflict{i, files})
		}
	}
	s.pace(whens, now)
	var err error
	if s.Failures, err = have.failures(ids, mostFailures); err != nil || len(s.Failures) == 0 {
		return s, err
	}
	return s, p.each(func(i int, c *plannedCell) error {
		for n := range s.Failures {
			if f := &s.Failures[n]; f.Cell == i {
				f.Policy, f.LoadQPS, f.Seed = c.Policy, c.LoadQPS, c.Seed
			}
		}
		return nil
	})
}

// pace works out the time left.
func (s *Status) pace(whens []time.Time, now time.Time) {
	if len(whens) == 0 {
		return
	}
	slices.SortFunc(whens, time.Time.Compare)
	last := whens[len(whens)-1]
	s.LastS = max(0, now.Sub(last).Seconds())
	from, _ := slices.BinarySearchFunc(whens, last.Add(-paceOf), time.Time.Compare)
	if span := last.Sub(whens[from]); span > 0 {
		s.LeftS = span.Seconds() / float64(len(whens)-1-from) * float64(s.Missing)
	}
}

// Print says it in words.
func (s *Status) Print(w io.Writer, span func(seconds float64) string) error {
	line := func(format string, args ...any) string { return fmt.Sprintf(format+"\n", args...) }
	text := line("%s: %d cells: %d done, %d failed, %d missing", s.Study, s.Cells, s.Done, s.Failed, s.Missing)
	if s.Missing > 0 && s.Missing < s.Cells {
		text += line("last result %s ago; %s left at the pace before it", span(s.LastS), span(s.LeftS))
	}
	if s.Damaged > 0 {
		text += line("%d damaged lines of results, which do not count", s.Damaged)
	}
	if s.damage != "" {
		text += line("%s", s.damage)
	}
	for _, f := range s.Failures {
		text += line("failed: cell %d (%s at %v requests/s, seed %d): %s", f.Cell, f.Policy, f.LoadQPS, f.Seed, strings.SplitN(f.Error, "\n", 2)[0])
	}
	if more := s.Failed - len(s.Failures); more > 0 && len(s.Failures) == mostFailures {
		text += line("and %d more", more)
	}
	for _, c := range s.Conflicts {
		text += line("cell %d has two results that differ, in %s and %s: equal cells must give equal results", c.Cell, c.Files[0], c.Files[1])
	}
	_, err := io.WriteString(w, text)
	return err
}
