package fit

// Profile says how well a parameter is determined: over all evaluated points of
// the last stage, the span of its values with a loss within Margin of the best.
// It is the lower envelope of what was seen, so a parameter can be freer than it
// says, not tighter.
type Profile struct {
	Path    string   `json:"path"`
	Best    string   `json:"best"`
	From    string   `json:"from"` // of the span
	To      string   `json:"to"`
	Share   float64  `json:"share"` // of the width between the bounds
	AtBound bool     `json:"at_bound"`
	Choices []string `json:"choices,omitempty"` // those within the margin
}

// Margin is a loss that does not tell two points apart: three numbers moved from
// met exactly to the edge of their tolerance cost 2.1, and other seeds move the
// loss of a point by as much.
const Margin = 2

// edge is how near to a bound, as a share of the width, counts as at it.
const edge = 0.02

func (s *Spec) profiles(best Optimum, points []point) []Profile {
	all := make([]Profile, len(s.Parameters))
	for i := range s.Parameters {
		p := &s.Parameters[i]
		u := folded(best.at[i])
		low, high := u, u
		seen := map[string]bool{p.value(u): true}
		for _, at := range points {
			if at.loss <= best.Loss+Margin {
				v := folded(at.at[i])
				low, high = min(low, v), max(high, v)
				seen[p.value(v)] = true
			}
		}
		all[i] = Profile{Path: p.Path, Best: p.value(u), From: p.value(low), To: p.value(high), Share: high - low}
		if p.Choices == nil {
			all[i].AtBound = u < edge || u > 1-edge
			continue
		}
		for _, c := range p.Choices {
			if seen[c] {
				all[i].Choices = append(all[i].Choices, c)
			}
		}
	}
	return all
}
