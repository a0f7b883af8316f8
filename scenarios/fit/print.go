package fit

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"cacheroute/results"
	"cacheroute/scenarios"
)

// Study is the study with the values of the best point.
func (r *Result) Study() (*scenarios.Study, error) {
	return scenarios.Load(r.Spec.Study, scenarios.Options{Set: r.Spec.settings(r.Optima[0].at)})
}

// WriteFolder writes fit.json and the fitted study.
func (r *Result) WriteFolder(dir string) error {
	study, err := r.Study()
	if err != nil {
		return err
	}
	runner, err := scenarios.Prepare(study, nil)
	if err != nil {
		return err
	}
	text, err := runner.Resolved()
	if err != nil {
		return err
	}
	err = results.WriteFileAtomic(filepath.Join(dir, "study.yaml"), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	return results.WriteFileAtomic(filepath.Join(dir, "fit.json"), r.JSON)
}

// JSON writes the result.
func (r *Result) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// Print writes the result for a reader.
func (r *Result) Print(w io.Writer) error {
	best, t := &r.Optima[0], &r.Spec.Targets
	fmt.Fprintf(w, "%s, fitted to %s\n", r.Spec.Study, t.Source)
	fmt.Fprintf(w, "%d points of %d parameters simulated; loss %.2f, %d of %d numbers within tolerance (3 points of hit rate, 25 %% of p99, one rung)\n\n",
		r.Evaluations, len(r.Parameters), best.Loss, best.met(), best.numbers())
	fmt.Fprintf(w, "%-12s %15s %15s", "policy", "KV hit, %", "p99, s")
	for _, slo := range t.SLOs {
		fmt.Fprintf(w, " %15s", fmt.Sprintf("capacity@%gs", slo))
	}
	fmt.Fprintln(w)
	for i, s := range best.Scores {
		row := &t.Rows[i]
		fmt.Fprintf(w, "%-12s %15s %15s", s.Policy, pair(100*row.KVHit, 100*s.KVHit, s.Deviations[0]), t.latency(row.P99, &s))
		for k := range t.SLOs {
			fmt.Fprintf(w, " %15s", pair(row.Capacity[k], s.Capacity[k], s.Deviations[2+k]))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "published / simulated, * outside the tolerance; capacity 0: below %v requests/s\n\n", t.LoadsQPS[0])
	r.printParameters(w)
	return r.printOptima(w)
}

// latency is the p99, infinite where it stands for a load that does not pass.
func (t *Targets) latency(published float64, s *Score) string {
	if s.P99 >= failing*slices.Max(t.SLOs) {
		return pair(published, math.Inf(1), s.Deviations[1])
	}
	return pair(published, s.P99, s.Deviations[1])
}

// pair is a published and a simulated number.
func pair(published, simulated, deviation float64) string {
	mark := " "
	if outside(deviation) {
		mark = "*"
	}
	return strconv.FormatFloat(published, 'g', 3, 64) + " / " + strconv.FormatFloat(simulated, 'g', 3, 64) + mark
}

func outside(deviation float64) bool { return deviation < -1 || deviation > 1 }

// met counts the numbers within tolerance.
func (o *Optimum) met() int {
	n := 0
	for _, s := range o.Scores {
		for _, z := range s.Deviations {
			if !outside(z) {
				n++
			}
		}
	}
	return n
}

func (o *Optimum) numbers() int { return len(o.Scores) * len(o.Scores[0].Deviations) }

func (r *Result) printParameters(w io.Writer) {
	fmt.Fprintf(w, "%-40s %12s   %s\n", "parameter", "best", fmt.Sprintf("seen within %v of the best loss", Margin))
	for _, p := range r.Parameters {
		span := fmt.Sprintf("%s to %s, %.0f %% of the bounds", p.From, p.To, 100*p.Share)
		if p.Choices != nil {
			span = strings.Join(p.Choices, " or ")
		}
		if p.AtBound {
			span += "; AT A BOUND"
		}
		fmt.Fprintf(w, "%-40s %12s   %s\n", p.Path, p.Best, span)
	}
}

func (r *Result) printOptima(w io.Writer) error {
	fmt.Fprintf(w, "\n%-20s %6s %8s %10s   distance from the best, in bounds\n", "start", "stage", "loss", "within")
	for i := range r.Optima {
		o := &r.Optima[i]
		if _, err := fmt.Fprintf(w, "%-20s %6d %8.2f %4d of %2d   %.2f\n", o.Start, o.Stage, o.Loss, o.met(), o.numbers(), r.distance(o)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, "losses of different stages do not compare")
	return err
}

// distance is the largest difference of a coordinate.
func (r *Result) distance(o *Optimum) float64 {
	d := 0.0
	for i, u := range o.at {
		d = max(d, folded(u)-folded(r.Optima[0].at[i]), folded(r.Optima[0].at[i])-folded(u))
	}
	return d
}

// ReadResult reads fit.json of a search of the spec.
func (s *Spec) ReadResult(r io.Reader) (*Result, error) {
	out := &Result{Spec: s}
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(out); err != nil {
		return nil, err
	}
	for i := range out.Optima {
		at := map[string]any{}
		for path, v := range out.Optima[i].Values {
			at[path] = v
		}
		var err error
		if out.Optima[i].at, err = s.point(at); err != nil {
			return nil, err
		}
	}
	return out, nil
}
