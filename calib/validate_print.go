package calib

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"cacheroute/results"
)

// Print writes the validation as a table, a run a line.
func (v *Validation) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "preset %s against %s of %s", v.Preset, v.counted(), v.Setup)
	if v.LeftOut > 0 {
		fmt.Fprintf(&b, "; %s of other setups left out", counted(v.LeftOut, "run"))
	}
	b.WriteString("\n")
	if len(v.Rows) > 0 {
		fmt.Fprintf(&b, "run as: %s\n\n", v.Facts)
		v.printRows(&b)
		v.printErrors(&b)
	}
	if v.Steps > 0 {
		fmt.Fprintf(&b, "\nmean error of a step %s %%\n", percentOf(v.StepError))
	}
	for _, text := range v.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// counted says how many measurements there are.
func (v *Validation) counted() string {
	if v.Steps > 0 {
		return counted(v.Steps, "step")
	}
	return counted(len(v.Rows), "run")
}

// JSON writes the validation as one document.
func (v *Validation) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// printRows prints measured, simulated and error of each run.
func (v *Validation) printRows(b *strings.Builder) {
	fmt.Fprintf(b, "%5s %7s %7s %8s %26s %24s %24s  %s\n", "", "mean", "mean", "", "TTFT mean, ms", "TPOT mean, ms", "output tokens/s", "KV-bound")
	fmt.Fprintf(b, "%5s %7s %7s %8s", "line", "input", "output", "clients")
	for range 3 {
		fmt.Fprintf(b, " %8s %8s %6s", "measured", "sim", "err %")
	}
	b.WriteString("  measured sim\n")
	for _, c := range v.Rows {
		fmt.Fprintf(b, "%5d %7.0f %7.0f %8d", c.Line, c.Input, c.Output, c.Concurrency)
		for _, x := range c.compared() {
			fmt.Fprintf(b, " %8s %8s %6s", figure(x.measured), figure(x.simulated), signed(x.err))
		}
		line := fmt.Sprintf("  %-8s %-4s %s", yes(c.Measured.KVBound), yes(c.Simulated.KVBound), c.remark())
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// compared is a figure of a run, in the unit in which it is shown.
type compared struct{ measured, simulated, err results.Float }

// compared lists the figures of a run: TTFT and TPOT in ms, output tokens a second.
func (c Check) compared() [3]compared {
	return [3]compared{
		{1e3 * c.Measured.TTFT, 1e3 * c.Simulated.TTFT, c.Error.TTFT},
		{1e3 * c.Measured.TPOT, 1e3 * c.Simulated.TPOT, c.Error.TPOT},
		{c.Measured.OutputTokensPer, c.Simulated.OutputTokensPer, c.Error.OutputTokensPer},
	}
}

// remark is what to know of a run.
func (c Check) remark() string {
	switch {
	case c.Failed != "":
		return "not simulated"
	case len(c.Contradicts) > 0:
		return "odd"
	}
	return ""
}

// printErrors prints the sums.
func (v *Validation) printErrors(b *strings.Builder) {
	fmt.Fprintf(b, "\n%-36s %5s %8s %8s %8s\n", "mean absolute error, %", "runs", "TTFT", "TPOT", "output/s")
	for _, s := range v.sums() {
		fmt.Fprintf(b, "%-36s %5d %8s %8s %8s\n", s.Name, s.Runs, percentOf(s.TTFT), percentOf(s.TPOT), percentOf(s.OutputTokensPer))
	}
	fmt.Fprintf(b, "KV-bound: %s as measured, %d as simulated, %d both\n", counted(v.KVMeasured, "run"), v.KVSimulated, v.KVBoth)
	for _, text := range slices.Concat(v.worstRuns(), v.oddRuns()) {
		fmt.Fprintf(b, "%s\n", text)
	}
}

// namedErrors are the mean errors of some runs.
type namedErrors struct {
	Name string
	MeanErrors
}

func (v *Validation) sums() []namedErrors {
	return []namedErrors{{"without KV-bound and odd runs", v.Steady}, {"all runs", v.All}}
}

// worstRuns names the runs with the greatest errors of TTFT and of TPOT.
func (v *Validation) worstRuns() (all []string) {
	if worst := v.worst(func(e Errors) results.Float { return e.TTFT }); worst != "" {
		all = append(all, "worst TTFT: "+worst)
	}
	if worst := v.worst(func(e Errors) results.Float { return e.TPOT }); worst != "" {
		all = append(all, "worst TPOT: "+worst)
	}
	return all
}

// oddRuns names the runs that contradict others.
func (v *Validation) oddRuns() (all []string) {
	for _, c := range v.Rows {
		if len(c.Contradicts) > 0 {
			all = append(all, fmt.Sprintf("odd: line %d has a lower TPOT than lines %s, which have no more to do: it is not of the same setup",
				c.Line, strings.Trim(fmt.Sprint(c.Contradicts), "[]")))
		}
	}
	return all
}

// worst lists the runs with the greatest error, KV-bound and odd ones aside.
func (v *Validation) worst(of func(e Errors) results.Float) string {
	const most = 3
	rows := slices.DeleteFunc(slices.Clone(v.Rows), func(c Check) bool {
		return c.Measured.KVBound || len(c.Contradicts) > 0 || c.Failed != "" || !of(c.Error).Finite()
	})
	size := func(c Check) float64 { return math.Abs(float64(of(c.Error))) }
	slices.SortStableFunc(rows, func(a, b Check) int { return cmp.Compare(size(b), size(a)) })
	var all []string
	for _, c := range rows[:min(most, len(rows))] {
		all = append(all, fmt.Sprintf("line %d %s %%", c.Line, signed(of(c.Error))))
	}
	return strings.Join(all, ", ")
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "-"
}

// figure prints four digits or so.
func figure(f results.Float) string {
	switch v := float64(f); {
	case !f.Finite():
		return "-"
	case math.Abs(v) < 99.95:
		return fmt.Sprintf("%.2f", v)
	default:
		return fmt.Sprintf("%.0f", v)
	}
}

func signed(f results.Float) string {
	if !f.Finite() {
		return "-"
	}
	return fmt.Sprintf("%+.1f", 100*float64(f))
}

func percentOf(f results.Float) string {
	if !f.Finite() {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100*float64(f))
}
