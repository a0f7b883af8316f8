package calib

import (
	"bytes"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cacheroute/results"
)

func pageOf(t *testing.T, v *Validation) string {
	t.Helper()
	var b bytes.Buffer
	if err := v.writePage(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestValidatePage: the page has every run, its deviation, the sums and the
// numbers of the preset, and its bytes depend on nothing else.
func TestValidatePage(t *testing.T) {
	p := idealPreset()
	p.Assumptions = append(p.Assumptions, assumptionsOf(t, "qwen3-32b-bf16-h100-tp2")...)
	b := ideal(t, p, p.Bench.Setup)
	b.Rows[2].TPOTMean /= 1.5
	b.Rows[7].TPOTMean *= 0.4
	v := validated(t, p, b, ValidateOptions{})
	page := pageOf(t, v)
	if again := pageOf(t, validated(t, p, b, ValidateOptions{})); again != page {
		t.Error("equal validations give different pages")
	}
	for _, want := range []string{"<td class=\"diff\">&#43;50.0</td>", "odd: line 9 has a lower TPOT", "cost.prefill_token_ms", `<span class="origin fitted">fitted</span>`, ">KV-bound</td>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if n := strings.Count(page, "<tr><th scope=\"row\">"); n != len(v.Rows)+len(v.Numbers)+2 {
		t.Errorf("%d rows of tables, want %d runs, %d numbers and 2 sums", n, len(v.Rows), len(v.Numbers))
	}
	// Each run is a point of each figure; the odd one lies outside of that of TPOT.
	if n := strings.Count(page, "<title>line "); n != 3*len(v.Rows) {
		t.Errorf("%d points, want 3 for each of %d runs", n, len(v.Rows))
	}
	for _, foreign := range []string{"<script", "NaN", "Inf", "src=", "@import"} {
		if strings.Contains(page, foreign) {
			t.Errorf("the page holds %s", foreign)
		}
	}
	path := filepath.Join(t.TempDir(), "v.html")
	if err := v.WritePage(path); err != nil {
		t.Fatal(err)
	}
	if written, err := os.ReadFile(path); err != nil || string(written) != page {
		t.Errorf("written %d bytes, want %d: %v", len(written), len(page), err)
	}
}

func assumptionsOf(t *testing.T, preset string) (all []results.Assumption) {
	t.Helper()
	p, err := Load(preset)
	if err != nil {
		t.Fatal(err)
	}
	return p.Assumptions
}

// TestValidatePageOfLittle: runs without figures, none at all, or one.
func TestValidatePageOfLittle(t *testing.T) {
	p := idealPreset()
	b := ideal(t, p, p.Bench.Setup)
	b.Rows = b.Rows[:1]
	if page := pageOf(t, validated(t, p, b, ValidateOptions{})); strings.Contains(page, "NaN") || strings.Count(page, "<svg") != 3 {
		t.Errorf("page of one run: %s", page)
	}
	b.Rows[0].Input = equalLengths(30000)
	if page := pageOf(t, validated(t, p, b, ValidateOptions{})); strings.Contains(page, "<svg") || !strings.Contains(page, "not simulated") {
		t.Errorf("page of a run that does not fit: %s", page)
	}
	log := stepLog("linear", 20, 0, 1)
	p.Bench.Setup = log.Setup
	steps := &Bench{File: "steps", Ran: log.Setup, Steps: log.Steps}
	if page := pageOf(t, validated(t, p, steps, ValidateOptions{})); !strings.Contains(page, "Mean absolute error of a step") || strings.Contains(page, "Every run") {
		t.Errorf("page of steps: %s", page)
	}
}

// TestPlotTicks: each axis has a label, also between two round values.
func TestPlotTicks(t *testing.T) {
	for _, c := range []struct {
		from, to float64
		want     []float64
	}{{9, 210, []float64{10, 20, 50, 100, 200}}, {261, 391, []float64{320}}, {1, 1e6, []float64{1, 10, 100, 1000, 1e4, 1e5, 1e6}}} {
		p := plot{from: c.from, to: c.to}
		if got := p.ticks(); !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a/b-1) < 1e-9 }) {
			t.Errorf("from %v to %v: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

// TestValidatePageEscapes: names of models, files and engines stay text.
func TestValidatePageEscapes(t *testing.T) {
	marks := func(attack string) map[string]int {
		p := idealPreset()
		p.Name += attack
		p.Assumptions = []results.Assumption{{Parameter: "x" + attack, Value: "x" + attack, Origin: results.Origin("fitted" + attack), Source: "x" + attack}}
		b := ideal(t, p, Setup{Model: "M" + attack, GPU: "G" + attack, TensorParallel: 2})
		b.File, b.Notes = "f"+attack, []string{"note" + attack}
		v := validated(t, p, b, ValidateOptions{})
		page := strings.ToLower(pageOf(t, v))
		n := map[string]int{}
		for _, mark := range []string{"<script", "</script", "<img", "<!--", "<b>", "onerror=\"", "</style", "<svg", "</title>"} {
			n[mark] = strings.Count(page, mark)
		}
		return n
	}
	plain, attacked := marks(""), marks(`</title></style><!--<script>alert(1)</script><svg onload=alert(1)><img src=x onerror="alert(1)"><b>'"`+"`\u2028")
	if !maps.Equal(plain, attacked) {
		t.Errorf("marks %v, with hostile texts %v", plain, attacked)
	}
}
