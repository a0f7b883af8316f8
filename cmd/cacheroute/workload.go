package main

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"cacheroute/results"
)

// printWorkload prints what the workload was asked for beside what came, by
// load, mean over the seeds. All policies meet the same requests, so those of
// the first are shown.
func printWorkload(w io.Writer, s *results.Summary) error {
	if len(s.Cells) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\nrequests of the measured window, asked / realised\n\n%16s %15s %15s %17s %17s\n",
		"per second", "CV of gaps", "Gini of keys", "prompt tokens", "output tokens")
	cells := s.Cells
	for len(cells) > 0 && cells[0].Policy == s.Cells[0].Policy {
		n := 1
		for n < len(cells) && cells[n].Policy == cells[0].Policy && cells[n].LoadQPS == cells[0].LoadQPS {
			n++
		}
		pair := func(asked results.Float, realised func(*results.Cell) results.Float) string {
			sum := 0.0
			for i := range cells[:n] {
				sum += float64(realised(&cells[i]))
			}
			return digits(float64(asked)) + " / " + digits(sum/float64(n))
		}
		c := &cells[0]
		_, err := fmt.Fprintf(w, "%16s %15s %15s %17s %17s\n",
			pair(c.AskedQPS, func(c *results.Cell) results.Float { return c.RealisedQPS }),
			pair(c.AskedGapCV, func(c *results.Cell) results.Float { return c.RealisedGapCV }),
			pair(c.AskedGini, func(c *results.Cell) results.Float { return c.RealisedGini }),
			pair(c.AskedPromptTokens, func(c *results.Cell) results.Float { return c.RealisedPromptTokens }),
			pair(c.AskedOutputTokens, func(c *results.Cell) results.Float { return c.RealisedOutputTokens }))
		if err != nil {
			return err
		}
		cells = cells[n:]
	}
	return nil
}

// digits prints four significant digits, "-" for what is not defined.
func digits(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "-"
	}
	if math.Abs(x) >= 1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}
