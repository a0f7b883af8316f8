package results

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Variants is what a study with axes comes to: the capacities of each study that
// it stands for.
type Variants struct {
	Study    string          `json:"study"`
	Axes     []VariantAxis   `json:"axes"`
	Variants []VariantResult `json:"variants"` // the last axis fastest
}

// VariantAxis is a field of the study and the values that it took.
type VariantAxis struct {
	Name   string   `json:"name"`
	Path   string   `json:"path"`
	Values []string `json:"values"` // in YAML
}

// VariantResult is one of the studies. Its results lie in the folder of its
// label.
type VariantResult struct {
	Label             string        `json:"label"`
	Values            []string      `json:"values"`   // one an axis, in YAML
	Capacity          []CapacityRow `json:"capacity"` // by policy, objective
	SimulatedRequests int64         `json:"simulated_requests"`

	summary *Summary
}

// Add adds a variant by its summary.
func (s *Variants) Add(label string, values []string, summary *Summary) {
	s.Variants = append(s.Variants, VariantResult{label, values, summary.Capacity, summary.SimulatedRequests, summary})
}

// JSON writes all as one document.
func (s *Variants) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(s)
}

// CSV writes a row for each variant, policy and objective.
func (s *Variants) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	head := []string{"variant"}
	for _, a := range s.Axes {
		head = append(head, a.Path)
	}
	head = append(head, "policy", "slo_ttft_p99_s", "max_failure_rate", "capacity_qps", "capacity_lo_qps", "capacity_hi_qps", "censor", "seeds", "seeds_left", "seeds_right")
	if err := c.Write(head); err != nil {
		return err
	}
	for _, v := range s.Variants {
		for i := range v.Capacity {
			r := &v.Capacity[i]
			row := append([]string{v.Label}, v.Values...)
			row = append(row, r.Policy, number(Float(r.SLO)), number(Float(r.MaxFailureRate)), number(r.QPS.Mean), number(r.QPS.Lo), number(r.QPS.Hi),
				string(r.Censor), strconv.Itoa(len(r.PerSeed)), strconv.Itoa(r.seedsWith(CensorLeft)), strconv.Itoa(r.seedsWith(CensorRight)))
			if err := c.Write(row); err != nil {
				return err
			}
		}
	}
	c.Flush()
	return c.Error()
}

// number is a figure in a CSV file, empty if it is undefined.
func number(f Float) string {
	if !f.Finite() {
		return ""
	}
	return strconv.FormatFloat(float64(f), 'g', -1, 64)
}

// seedsWith counts the seeds that are censored so.
func (r *CapacityRow) seedsWith(c Censor) (n int) {
	for _, k := range r.PerSeed {
		if k.Censor == c {
			n++
		}
	}
	return n
}

// WriteVariants writes sweep.json and sweep.csv into a folder.
func WriteVariants(dir string, s *Variants) error {
	if err := WriteFileAtomic(filepath.Join(dir, "sweep.csv"), s.CSV); err != nil {
		return err
	}
	return WriteFileAtomic(filepath.Join(dir, "sweep.json"), s.JSON)
}

// PrintVariants prints the capacities by variant and policy, a table for each
// objective.
func PrintVariants(w io.Writer, s *Variants, st Style) error {
	p := &variantPrinter{w: bufio.NewWriter(w), of: s, Style: st}
	var names []string
	for _, a := range s.Axes {
		names = append(names, a.Name)
	}
	text := fmt.Sprintf("%s by %s: capacity in QPS, the highest load with p99 TTFT within the objective and few enough failures, mean ± 95 %% interval over the seeds",
		s.Study, strings.Join(names, ", "))
	for line := range strings.Lines(wrap(text, lineWidth, "")) {
		fmt.Fprintln(p.w, p.paint(bold, strings.TrimSuffix(line, "\n")))
	}
	policies, slos := p.columns()
	for _, slo := range slos {
		for rest := policies; len(rest) > 0; {
			n := p.fitting(rest)
			p.table(slo, rest[:n])
			rest = rest[n:]
		}
	}
	var all []*Summary
	for _, v := range s.Variants {
		all = append(all, v.summary)
	}
	if marks := capacityMarks(all...); len(marks) > 0 {
		fmt.Fprintln(p.w)
		fmt.Fprintln(p.w, p.paint(dim, wrap(strings.Join(marks, "; "), lineWidth, "")))
	}
	return p.w.Flush()
}

// variantPrinter prints variants side by side.
type variantPrinter struct {
	Style
	of *Variants
	w  *bufio.Writer
}

// columns are the policies and the objectives of all variants.
func (p *variantPrinter) columns() (policies []string, slos []float64) {
	for _, v := range p.of.Variants {
		for _, r := range v.Capacity {
			if !slices.Contains(policies, r.Policy) {
				policies = append(policies, r.Policy)
			}
			if !slices.Contains(slos, r.SLO) {
				slos = append(slos, r.SLO)
			}
		}
	}
	return policies, slos
}

const mostAxis = 28 // widest column of an axis; files and JSON have all of a value

func (a *VariantAxis) width() int {
	w := width(a.Name)
	for _, v := range a.Values {
		w = max(w, width(v))
	}
	return 2 + min(w, mostAxis)
}

func cut(text string) string {
	if r := []rune(text); len(r) > mostAxis {
		return string(r[:mostAxis-1]) + "…"
	}
	return text
}

func variantCell(policy string) int { return max(kneeWidth, width(policy)+3) }

// fitting is the number of policies that fit on a line, at least one.
func (p *variantPrinter) fitting(policies []string) int {
	sum := 0
	for i := range p.of.Axes {
		sum += p.of.Axes[i].width()
	}
	for n, policy := range policies {
		if sum += variantCell(policy); sum > lineWidth && n > 0 {
			return n
		}
	}
	return len(policies)
}

// table prints the variants under one objective for some of the policies.
func (p *variantPrinter) table(slo float64, policies []string) {
	head := ""
	for i := range p.of.Axes {
		head += pad(cut(p.of.Axes[i].Name), p.of.Axes[i].width())
	}
	for _, policy := range policies {
		head += pad(policy, variantCell(policy)-1) + " "
	}
	fmt.Fprintf(p.w, "\n%s\n%s\n", p.paint(bold, "p99 <= "+Shortly(slo)+" s"), p.paint(bold, strings.TrimRight(head, " ")))
	for _, v := range p.of.Variants {
		line := ""
		for i, value := range v.Values {
			line += pad(cut(value), p.of.Axes[i].width())
		}
		best := v.summary.bestCapacity(slo)
		for _, policy := range policies {
			code, mark := "", " "
			if policy == best {
				code, mark = green, "*"
			}
			line += p.paint(code, pad(v.summary.capacityText(policy, slo), variantCell(policy)-1)+mark)
		}
		fmt.Fprintln(p.w, strings.TrimRight(line, " "))
	}
}
