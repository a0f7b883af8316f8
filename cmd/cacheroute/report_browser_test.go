package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"cacheroute/results"
)

// ranStudy runs the paper's 300 cells, in short, and returns their folder.
func ranStudy(t *testing.T) (dir string, s results.Summary) {
	t.Helper()
	dir = t.TempDir()
	return dir, ranInto(t, dir, "run", "table-1", "--set", "measure.warmup_s=1", "--set", "measure.duration_s=3")
}

// TestReportInABrowser opens the page of 300 cells as a reader does.
func TestReportInABrowser(t *testing.T) {
	b := openBrowser(t)
	dir, s := ranStudy(t)
	page := filepath.Join(dir, "report.html")
	info, err := os.Stat(page)
	if err != nil {
		t.Fatal(err)
	}
	ms := b.open(t, page)
	t.Logf("%d cells: %d bytes, drawn after %.0f ms", len(s.Cells), info.Size(), ms)
	if info.Size() > 1_500_000 || ms > 20_000 { // 2 s on an idle machine; this bound only catches a page that hangs
		t.Errorf("%d bytes, %.0f ms", info.Size(), ms)
	}
	t.Run("drawn", func(t *testing.T) { drawn(t, b) })
	t.Run("hover", func(t *testing.T) { hover(t, b, &s) })
	t.Run("zoom", func(t *testing.T) { zoom(t, b) })
	t.Run("legend", func(t *testing.T) { legend(t, b) })
	t.Run("choice", func(t *testing.T) { choice(t, b) })
	t.Run("cells", func(t *testing.T) { cellRow(t, b, dir) })
	if said := b.heard(); said != nil {
		t.Errorf("the page said %v", said)
	}
	t.Run("phone", func(t *testing.T) { onPhone(t, b, page) })
	// What the policy is for: a script that got in does not run.
	eval[string](t, b, "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.pwned = 1'})); ''")
	if eval[bool](t, b, "'pwned' in window") {
		t.Error("a foreign script has run")
	}
	said := ""
	for range 100 {
		if said += strings.Join(b.heard(), " "); said != "" {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if !strings.Contains(said, "Content Security Policy") {
		t.Errorf("a blocked script is not heard of: %q", said)
	}
}

// drawn: every chart has drawn something, and not one thing only.
func drawn(t *testing.T, b *browser) {
	inked(t, b, "ladder", "tpot_p50", "tpot_p99", "hit", "parts", "imbalance", "strip", "ecdf", "goodput", "over-waiting", "over-flight", "over-hit")
	if n := eval[float64](t, b, `document.querySelectorAll("#knees .knee").length`); n != 18 {
		t.Errorf("%v knees, want 6 policies x 3 objectives", n)
	}
}

// inked says which of these charts show less than lines of several colours do.
func inked(t *testing.T, b *browser, ids ...string) {
	t.Helper()
	colours := eval[map[string]float64](t, b, `Object.fromEntries([...document.querySelectorAll(".plot canvas")].map(c => {
		const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, colors = new Set();
		for (let i = 0; i < d.length; i += 4) if (d[i + 3]) colors.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
		return [c.closest("figure").id, colors.size];
	}))`)
	for _, id := range ids {
		if colours[id] < 20 {
			t.Errorf("chart %s has %v colours", id, colours[id])
		}
	}
}

// at returns the place in the window of a load in the ladder's chart.
func at(t *testing.T, b *browser, qps float64) (x, y float64) {
	t.Helper()
	return within(t, b, "ladder", qps)
}

// within returns the place in the window of a value of x in a chart.
func within(t *testing.T, b *browser, id string, value float64) (x, y float64) {
	t.Helper()
	p := eval[[]float64](t, b, fmt.Sprintf(`(async () => {
		const u = [...charts].find(c => c.figure.id === %q).u;
		u.root.scrollIntoView({block: "center"});
		for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame); // the page hears of its scrolling
		const box = u.over.getBoundingClientRect();
		return [box.left + u.valToPos(%v, "x"), box.top + box.height / 2];
	})()`, id, value))
	return p[0], p[1]
}

// fourDigits is a value as the page words it.
func fourDigits(v float64) string {
	if math.IsInf(v, 1) {
		return "∞"
	}
	if math.Abs(v) >= 1e4 {
		return strconv.FormatFloat(math.Round(v), 'f', -1, 64)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// hover: the box beside the pointer has the values of summary.json.
func hover(t *testing.T, b *browser, s *results.Summary) {
	for _, load := range []float64{30, 160} {
		x, y := at(t, b, load)
		b.mouse(t, input.DispatchMouseEventTypeMouseMoved, x, y)
		text := eval[string](t, b, "tip.hidden ? '' : tip.innerText")
		if !strings.HasPrefix(text, fmt.Sprintf("%v requests/s offered", load)) {
			t.Errorf("hover at %v says %q", load, text)
		}
		for _, row := range s.Ladder {
			// The page holds six digits.
			mean, _ := strconv.ParseFloat(strconv.FormatFloat(float64(row.TTFTP99.Mean), 'g', 6, 64), 64)
			want := row.Policy + "\t" + fourDigits(mean)
			if row.LoadQPS == load && !strings.Contains(text, want) {
				t.Errorf("hover at %v: no %q in %q", load, want, text)
			}
		}
	}
}

// zoom: a drag shows a part of the loads, the button all of them.
func zoom(t *testing.T, b *browser) {
	width := `(() => { const s = [...charts].find(c => c.figure.id === "ladder").u.scales.x; return s.max - s.min; })()`
	before := eval[float64](t, b, width)
	x1, y := at(t, b, 80)
	x2, _ := at(t, b, 180)
	b.mouse(t, input.DispatchMouseEventTypeMouseMoved, x1, y)
	b.mouse(t, input.DispatchMouseEventTypeMousePressed, x1, y, chromedp.ButtonLeft, chromedp.ClickCount(1))
	b.mouse(t, input.DispatchMouseEventTypeMouseMoved, x2, y, chromedp.ButtonLeft)
	b.mouse(t, input.DispatchMouseEventTypeMouseReleased, x2, y, chromedp.ButtonLeft, chromedp.ClickCount(1))
	if part := eval[float64](t, b, width); math.Abs(part-100) > 2 {
		t.Errorf("a drag over 100 requests/s shows %v", part)
	}
	eval[string](t, b, `document.querySelector("#ladder .reset").click(); ""`)
	if all := eval[float64](t, b, width); all != before {
		t.Errorf("after the reset %v requests/s are shown, want %v", all, before)
	}
}

// legend: a click hides a policy in every chart, another shows it again.
func legend(t *testing.T, b *browser) {
	click := `document.querySelector("#ladder .legend button").click(); ""`
	shown := `[...charts].filter(c => c.u).map(c => c.u.series.filter((s, i) => i && s.label === "flat-lb" && s.show).length).reduce((a, b) => a + b)`
	before := eval[float64](t, b, shown)
	eval[string](t, b, click)
	if n := eval[float64](t, b, shown); before < 8 || n != 0 {
		t.Errorf("flat-lb is shown in %v charts, %v after it was hidden", before, n)
	}
	eval[string](t, b, click)
	if n := eval[float64](t, b, shown); n != before {
		t.Errorf("flat-lb is shown in %v charts again, want %v", n, before)
	}
}

// choice: another load is chosen for all figures that show one run.
func choice(t *testing.T, b *browser) {
	eval[string](t, b, `(() => { const s = document.querySelector("#ecdf select"); s.value = 0; s.dispatchEvent(new Event("change")); return ""; })()`)
	got := eval[string](t, b, `["strip", "within"].map(id => document.querySelector("#" + id + " select").selectedOptions[0].text).join()`)
	if got != "30 requests/s,30 requests/s" {
		t.Errorf("other figures show %q", got)
	}
}

// cellRow: rows of the table of cells are those of summary.json.
func cellRow(t *testing.T, b *browser, dir string) {
	text, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Cells []map[string]any `json:"cells"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	eval[string](t, b, `new Promise(done => {
		const cells = document.querySelector("#cells");
		cells.addEventListener("toggle", () => done(""), {once: true});
		cells.open = true;
	})`)
	table := eval[[][]string](t, b, `[...document.querySelectorAll("#cells tr")].map(r => [...r.cells].map(c => c.dataset.name ? c.dataset.name + "|" + c.innerText : c.innerText))`)
	if len(table) != len(s.Cells)+1 {
		t.Fatalf("%d rows, want %d", len(table)-1, len(s.Cells))
	}
	for _, i := range []int{0, 137, len(s.Cells) - 1} {
		for j, got := range table[i+1] {
			name, label, _ := strings.Cut(table[0][j], "|")
			want := fmt.Sprint(s.Cells[i][name])
			if v, ok := s.Cells[i][name].(float64); ok {
				if strings.Contains(label, "(%)") {
					v *= 100
				}
				want = fourDigits(v)
			}
			if got != want {
				t.Errorf("row %d, %s: %s, want %s", i, name, got, want)
			}
		}
	}
}

// TestHostileReport: texts of the user that look like markup are text.
func TestHostileReport(t *testing.T) {
	b := openBrowser(t)
	dir := t.TempDir()
	ranInto(t, dir, "run", "quick", "--loads", "30,60")
	r, err := results.ReadReport(dir)
	if err != nil {
		t.Fatal(err)
	}
	const attack = `</script><script>window.pwned=1</script><img src=x onerror="window.pwned=1">'"` + "\u2028${alert(1)}"
	poison(reflect.ValueOf(r).Elem(), attack)
	page := filepath.Join(dir, "report.html")
	if err := results.WriteReport(page, r); err != nil {
		t.Fatal(err)
	}
	b.open(t, page)
	eval[string](t, b, `document.querySelectorAll("details").forEach(d => { d.open = true; }); ""`)
	x, y := at(t, b, 60)
	b.mouse(t, input.DispatchMouseEventTypeMouseMoved, x, y)
	if eval[bool](t, b, `"pwned" in window || document.querySelector("img") !== null`) {
		t.Error("a text of the user became markup")
	}
	if text := eval[string](t, b, "document.querySelector('#ladder .legend').innerText + tip.innerText"); strings.Count(text, "onerror=") != 2*6 {
		t.Errorf("policies are not named as they were: %q", text)
	}
	if said := b.heard(); said != nil {
		t.Errorf("the page said %v", said)
	}
}

// TestReportWithoutProfiles: the page of an older run says what it lacks.
func TestReportWithoutProfiles(t *testing.T) {
	b := openBrowser(t)
	var cells []results.Cell
	for _, load := range []float64{10, 20} {
		cells = append(cells, results.Cell{Policy: "sticky", LoadQPS: load, Seed: 1, Requests: 1000, TTFTP99: results.Float(math.Inf(1)), Fingerprint: "0"})
	}
	page := filepath.Join(t.TempDir(), "report.html")
	if err := results.WriteReport(page, &results.Report{Summary: results.Summarise("old", cells, []float64{1}, 0.05)}); err != nil {
		t.Fatal(err)
	}
	b.open(t, page)
	seen := eval[string](t, b, `["ladder", "strip", "ecdf", "within", "goodput"].filter(id => document.getElementById(id).offsetHeight > 0).join()`)
	text := eval[string](t, b, `document.body.innerText`)
	if seen != "ladder" || !strings.Contains(text, "no profiles") || !strings.Contains(text, "No policy keeps the objective") {
		t.Errorf("seen are %q in\n%s", seen, text)
	}
	if said := b.heard(); said != nil {
		t.Errorf("the page said %v", said)
	}
}

// ranInto runs the program with an output folder and returns its summary.
func ranInto(t *testing.T, dir string, args ...string) results.Summary {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(context.Background(), append(args, "--out", dir, "--progress", "none"), &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	s, err := results.ReadSummary(filepath.Join(dir, "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// poison appends a text to every text.
func poison(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			poison(v.Field(i), text)
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), text)
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString(v.String() + text)
		}
	}
}
