package results

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

const golden = `small: p99 TTFT in seconds (inf: over 1 % failed) and KV hit in %, mean over 5 seeds

     QPS      flat-lb      dualmap       preble   cacheroute
            p99   hit    p99   hit    p99   hit    p99   hit
      30   3.00  54.0   3.30  54.0   1.50* 54.0   1.50* 54.0
      60   3.90  54.0   3.60  54.0   3.00  54.0   1.50* 54.0
      80   4.50  54.0   4.20  54.0   3.30  54.0   1.50* 54.0
     120   24.0  54.0   24.0  54.0   4.50  54.0   1.50* 54.0
     160   32.0  54.0   32.0  54.0   32.0  54.0   3.00* 54.0
     180   36.0  54.0   36.0  54.0   36.0  54.0   3.30* 54.0
     220   44.0  54.0   44.0  54.0   44.0  54.0   4.50* 54.0
     300    inf  54.0   60.0  54.0   60.0  54.0   4.50* 54.0
 by load     ▂▃▃▇▇▇█∞     ▂▂▃▇▇▇██     ▁▂▂▃▇▇██     ▁▁▁▁▂▂▃▃

*: lowest p99 of the row; by load: p99 from 1.50 s ▁ to 60.0 s █, log scale

capacity in QPS: highest load with p99 TTFT within the objective and at most 5 % failed,
mean ± 95 % interval over 5 seeds

policy         p99 <= 2 s            p99 <= 3.5 s              p99 <= 5 s
flat-lb               <30               42 ± 20.4    0.24×      80 (<120)
dualmap               <30             >=46 ± 38.9               80 (<120)
preble           30 (<60)    0.25×      76 ± 11.1    0.43×     120 (<160)
cacheroute     120 (<160)*   4.00×     176 ± 11.1*   2.32×           >300* >=2.50×

*: the highest mean; ×: over the best other policy; <: fails at the lowest load; >: passes at the
highest; >=: some seeds do either; (<b): less than b, the next load; the seeds differ by less than
that

p99 <= 2 s: cacheroute takes 120 QPS in all 5 seeds; near it (120 QPS): TTFT p50 0.75 s, TPOT p50 20
ms, E2E p99 2.50 s

note: mind this
note: below 30 at every seed: add lower loads (flat-lb, p99 <= 2 s and 1 more)
note: above 300 at every seed: add higher loads (cacheroute, p99 <= 5 s)
note: fewer than 100 requests: p99 is the maximum (flat-lb, 220 QPS, seed 2 and 1 more)
`

// paperlike makes cells whose knees at 2, 3.5 and 5 s are those given, for five
// seeds, with the values that the paper's Table 1 leaves to guess.
func paperlike(policy string, at2, at35, at5 [5]float64) []Cell {
	loads := []float64{30, 60, 80, 120, 160, 180, 220, 300}
	var cells []Cell
	for i := range 5 {
		p99 := make([]float64, len(loads))
		for j, load := range loads {
			switch {
			case load <= at2[i]:
				p99[j] = 1.5
			case load <= at35[i]:
				p99[j] = 3
			case load <= at5[i]:
				p99[j] = 4.5
			default:
				p99[j] = 6 * load / 30
			}
		}
		cells = append(cells, ladderOf(policy, uint64(i+2), loads, p99)...)
	}
	return cells
}

func all(qps float64) [5]float64 { return [5]float64{qps, qps, qps, qps, qps} }

func TestPrintLadder(t *testing.T) {
	cells := paperlike("flat-lb", all(0), [5]float64{30, 30, 30, 60, 60}, all(80))
	cells = append(cells, paperlike("dualmap", all(0), [5]float64{0, 30, 60, 60, 80}, all(80))...)
	cells = append(cells, paperlike("preble", all(30), [5]float64{80, 80, 80, 80, 60}, all(120))...)
	cells = append(cells, paperlike("cacheroute", all(120), [5]float64{160, 180, 180, 180, 180}, all(300))...)
	cells[7].TTFTP99, cells[6].Warnings, cells[7].Warnings = infinite, warnings(10), warnings(10)
	s := Summarise("small", cells, []float64{2, 3.5, 5}, 0.05)
	var b bytes.Buffer
	if err := PrintLadder(&b, &s, Style{}, "mind this"); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(golden, b.String()); d != "" {
		t.Errorf("printed:\n%s\ndifference:\n%s", b.String(), d)
	}
}

// Nine policies with five objectives take more lines, not longer ones.
func TestPrintLadderKeepsToItsWidth(t *testing.T) {
	var cells []Cell
	for p := range 9 {
		for seed := range uint64(5) {
			cells = append(cells, ladderOf(fmt.Sprintf("some-policy-%d", p), seed, []float64{30, 1000.5}, []float64{1, float64(seed)})...)
		}
	}
	s := Summarise("wide", cells, []float64{1, 2, 3, 4, 5}, 0.05)
	var b bytes.Buffer
	if err := PrintLadder(&b, &s, Style{}); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if utf8.RuneCountInString(line) > lineWidth {
			t.Errorf("%d columns: %s", utf8.RuneCountInString(line), line)
		}
	}
	if n := strings.Count(b.String(), "some-policy-8"); n < 3 {
		t.Errorf("the last policy is printed %d times:\n%s", n, b.String())
	}
}

// TestShortly: loads keep their whole digits, others have four in all.
func TestShortly(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 30: "30", 123456: "123456", 93.33333333: "93.33", 1234.5678: "1235", 12345.678: "12346", 0.0123456: "0.01235", math.Inf(1): "+Inf"} {
		if got := Shortly(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}
