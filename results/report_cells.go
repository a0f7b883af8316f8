package results

import "strconv"

// pageCells is the table of all cells.
type pageCells struct {
	Columns []pageColumn `json:"columns"`
	Rows    [][]any      `json:"rows"` // text or num, in the order of the columns
}

// pageColumn is a column of the table, named as in cells.parquet.
type pageColumn struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	Unit  string `json:"unit"` // "%" for a fraction that is shown as such
}

var cellColumns = []struct {
	pageColumn
	figure func(*Cell) Float
}{
	{pageColumn{"requests", "requests", ""}, func(c *Cell) Float { return Float(c.Requests) }},
	{pageColumn{"completed", "completed", ""}, func(c *Cell) Float { return Float(c.Completed) }},
	{pageColumn{"failure_rate", "failed", "%"}, func(c *Cell) Float { return c.FailureRate }},
	{pageColumn{"ttft_p50_s", "TTFT p50", "s"}, func(c *Cell) Float { return c.TTFTP50 }},
	{pageColumn{"ttft_p90_s", "TTFT p90", "s"}, func(c *Cell) Float { return c.TTFTP90 }},
	{pageColumn{"ttft_p99_s", "TTFT p99", "s"}, func(c *Cell) Float { return c.TTFTP99 }},
	{pageColumn{"ttft_p99_completed_s", "TTFT p99 of completed", "s"}, func(c *Cell) Float { return c.TTFTP99Completed }},
	{pageColumn{"tpot_p50_s", "TPOT p50", "s"}, func(c *Cell) Float { return c.TPOTP50 }},
	{pageColumn{"tpot_p99_s", "TPOT p99", "s"}, func(c *Cell) Float { return c.TPOTP99 }},
	{pageColumn{"e2e_p50_s", "E2E p50", "s"}, func(c *Cell) Float { return c.E2EP50 }},
	{pageColumn{"e2e_p99_s", "E2E p99", "s"}, func(c *Cell) Float { return c.E2EP99 }},
	{pageColumn{"kv_hit", "KV hit", "%"}, func(c *Cell) Float { return c.KVHit }},
	{pageColumn{"imbalance", "imbalance", "×"}, func(c *Cell) Float { return c.Imbalance }},
	{pageColumn{"throughput_qps", "completed", "1/s"}, func(c *Cell) Float { return c.ThroughputQPS }},
	{pageColumn{"output_tokens_per_s", "output tokens", "1/s"}, func(c *Cell) Float { return c.OutputTokensPer }},
	{pageColumn{"run_utilisation", "utilisation", "%"}, func(c *Cell) Float { return c.RunUtilisation }},
	{pageColumn{"preemptions", "preemptions", ""}, func(c *Cell) Float { return Float(c.Preemptions) }},
	{pageColumn{"realised_qps", "arrived", "1/s"}, func(c *Cell) Float { return c.RealisedQPS }},
}

// addCells fills in the table of cells and the dots of the ladder.
func (d *pageData) addCells(s *Summary, g grid, seeds []uint64) {
	d.Cells.Columns = []pageColumn{{"policy", "policy", ""}, {"load_qps", "load", "1/s"}, {"seed", "seed", ""}}
	for _, c := range cellColumns {
		d.Cells.Columns = append(d.Cells.Columns, c.pageColumn)
	}
	d.Cells.Rows = [][]any{}
	for _, i := range evenly(len(s.Cells), d.limits.rows) {
		c := &s.Cells[i]
		row := []any{c.Policy, num(c.LoadQPS), strconv.FormatUint(c.Seed, 10)}
		for _, column := range cellColumns {
			row = append(row, num(column.figure(c)))
		}
		d.Cells.Rows = append(d.Cells.Rows, row)
	}
	if n := len(d.Cells.Rows); n < len(s.Cells) {
		d.left("The table of cells has %d rows of %d, evenly chosen; cells.parquet has all.", n, len(s.Cells))
	}
	if len(s.Cells) > d.limits.dots {
		d.left("The single seeds of %d cells are not drawn; cells.parquet has them.", len(s.Cells))
		return
	}
	place := map[uint64]int{}
	for i, seed := range seeds {
		place[seed] = i
	}
	d.Dots = matrix[[]num](g)
	for i := range s.Cells {
		c := &s.Cells[i]
		p, l, ok := g.place(c.Policy, c.LoadQPS)
		if !ok {
			continue
		}
		if d.Dots[p][l] == nil {
			d.Dots[p][l] = make([]num, len(seeds))
			for i := range seeds {
				d.Dots[p][l][i] = num(undefined)
			}
		}
		d.Dots[p][l][place[c.Seed]] = num(c.TTFTP99)
	}
}
