package scenarios

import (
	"encoding/json"
	"fmt"
	"io"

	"cacheroute/results"
)

// JSON writes the comparison.
func (x *Residency) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(x)
}

// Print writes the comparison for a reader.
func (x *Residency) Print(w io.Writer) error {
	name := len("policy")
	for i := range x.Rows {
		name = max(name, len(x.Rows[i].Policy))
	}
	fmt.Fprintf(w, "%s: KV hit in %%, predicted and simulated, mean over %s\n\n", x.Study, count(x.Seeds, "seed"))
	fmt.Fprintf(w, "%-*s %7s %10s %9s %10s %8s %7s %8s %7s\n", name, "policy", "QPS", "KV blocks", "time s", "simulated", "steady", "off", "window", "off")
	for i := range x.Rows {
		r := &x.Rows[i]
		fmt.Fprintf(w, "%-*s %7s %10d %9.4g %10s %8s %+7.1f %8s %+7.1f\n", name, r.Policy, results.Shortly(r.LoadQPS), r.KVBlocks, r.TimeS,
			hundredths(r.Simulated), hundredths(r.Steady), 100*(r.Steady-r.Simulated), hundredths(r.Window), 100*(r.Window-r.Simulated))
	}
	fmt.Fprintf(w, "\nsteady, a cache that has served for ever:   %s\n", x.Steady.words())
	fmt.Fprintf(w, "window, from an empty cache at the start:   %s\n", x.Window.words())
	if len(x.LeftOut) > 0 {
		fmt.Fprintf(w, "left out, as their routing follows the load: %s\n", list(x.LeftOut))
	}
	_, err := fmt.Fprintln(w, "\nnote: a diagnostic, not a basis for a decision; time: the characteristic time, shortest of a destination")
	return err
}

func (e *ResidencyErrors) words() string {
	return fmt.Sprintf("off by %.1f points in the median, %.1f at p90; rank agreement (Kendall's tau) %.2f", e.MedianPoints, e.P90Points, e.Tau)
}

func hundredths(f results.Float) string { return fmt.Sprintf("%.1f", 100*float64(f)) }
