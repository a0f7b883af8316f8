package engine

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"

	"cacheroute/sim/clock"
)

// grid is a function of two variables by its values on a grid, which do not
// fall along either axis.
type grid struct {
	rows     []int64     // sequences or chunk tokens, rising
	contexts []int64     // rising
	price    [][]float64 // whole picoseconds by row and context, at least 1
}

// newGrid makes the grid of the points that have a row.
func newGrid(points []TablePoint, name string, row func(TablePoint) int) (grid, error) {
	type place struct{ row, context int64 }
	values := map[place]float64{}
	rows, contexts := map[int64]bool{}, map[int64]bool{}
	for _, p := range points {
		if row(p) == 0 {
			continue
		}
		at := place{int64(row(p)), int64(p.ContextTokens)}
		if values[at] != 0 {
			return grid{}, fmt.Errorf("two steps of %s %d at mean_context_tokens %d", name, at.row, at.context)
		}
		values[at] = max(1, math.RoundToEven(p.StepMS*float64(clock.Millisecond)))
		rows[at.row], contexts[at.context] = true, true
	}
	if len(values) == 0 {
		return grid{}, fmt.Errorf("no step with %s", name)
	}
	g := grid{rows: slices.Sorted(maps.Keys(rows)), contexts: slices.Sorted(maps.Keys(contexts))}
	for _, r := range g.rows {
		line := make([]float64, len(g.contexts))
		for j, c := range g.contexts {
			if line[j] = values[place{r, c}]; line[j] == 0 {
				return grid{}, fmt.Errorf("no step of %s %d at mean_context_tokens %d: every combination of the values given is wanted", name, r, c)
			}
		}
		g.price = append(g.price, line)
	}
	return g, g.level(name)
}

// level makes the values rise along both axes, and refuses larger steps that
// are faster by more than noise.
func (g *grid) level(name string) error {
	for i := range g.rows {
		for j := range g.contexts {
			floor := 0.0
			if i > 0 {
				floor = g.price[i-1][j]
			}
			if j > 0 {
				floor = max(floor, g.price[i][j-1])
			}
			if g.price[i][j] < (1-dip)*floor {
				return fmt.Errorf("the step of %s %d at mean_context_tokens %d takes %.6g ms, a smaller one %.6g ms: more than noise", name,
					g.rows[i], g.contexts[j], g.price[i][j]/float64(clock.Millisecond), floor/float64(clock.Millisecond))
			}
			g.price[i][j] = max(g.price[i][j], floor)
		}
	}
	return nil
}

// line is the price along the contexts at one row: price + slope*(context -
// from), until the context until.
type line struct {
	price, slope float64
	from, until  int64
}

// along is the line of the segment that begins at context j.
func (g *grid) along(row int64, j int) line {
	l := line{price: g.value(row, j), from: g.contexts[j], until: math.MaxInt64}
	if j+1 < len(g.contexts) {
		rise := g.value(row, j+1) - l.price
		l.slope = max(0, rise/float64(g.contexts[j+1]-l.from)) // beyond the last row the values may fall
		if j+2 < len(g.contexts) {
			l.until = g.contexts[j+1]
		}
	}
	return l
}

// at is the line at a row and a context; it is level before the first context.
// Price and slope are whole.
func (g *grid) at(row, context int64) line {
	if context < g.contexts[0] {
		return line{price: math.Floor(g.value(row, 0)), from: context, until: g.contexts[0]}
	}
	l := g.along(row, g.segment(float64(context)))
	l.price, l.slope = math.Floor(l.price), math.Floor(min(l.slope, maxSlope))
	return l
}

// maxSlope, a second for each token of context, keeps the product with a number
// of sequences from overflowing.
const maxSlope = float64(clock.Second)

// segment is the segment to interpolate or extrapolate a context in.
func (g *grid) segment(context float64) int {
	next := sort.Search(len(g.contexts), func(j int) bool { return float64(g.contexts[j]) > context })
	return max(0, min(next-1, len(g.contexts)-2))
}

// value is the price at a row and the context j, level before the first row.
func (g *grid) value(row int64, j int) float64 {
	if row <= g.rows[0] || len(g.rows) == 1 {
		return g.price[0][j]
	}
	next := sort.Search(len(g.rows), func(i int) bool { return g.rows[i] > row })
	i := min(next, len(g.rows)-1) - 1
	part := float64(row-g.rows[i]) / float64(g.rows[i+1]-g.rows[i])
	return g.price[i][j] + float64(part*(g.price[i+1][j]-g.price[i][j]))
}
