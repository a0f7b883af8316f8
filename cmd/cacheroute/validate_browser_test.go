package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestValidatePageInABrowser opens the page of a validation: it draws its
// points, asks for nothing and fits a phone.
func TestValidatePageInABrowser(t *testing.T) {
	b := openBrowser(t)
	page := filepath.Join(t.TempDir(), "v.html")
	var out, errs bytes.Buffer
	args := []string{"validate", "../../docs/examples/bench.csv", "--preset", "../../docs/examples/presets/example.yaml", "--html", page}
	if code := run(context.Background(), args, &out, &errs); code != 0 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	if info, err := os.Stat(page); err != nil || info.Size() > 100_000 {
		t.Fatalf("%v, %v", info, err)
	}
	for _, width := range []int64{1200, 390} {
		if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(width, 900)); err != nil {
			t.Fatal(err)
		}
		if err := chromedp.Do(b.ctx, chromedp.Navigate("file://"+page)); err != nil {
			t.Fatal(err)
		}
		if got := eval[float64](t, b, "document.documentElement.scrollWidth"); got > float64(width) {
			t.Errorf("the page is %v pixels wide in a window of %d", got, width)
		}
		drawn := eval[float64](t, b, `[...document.querySelectorAll(".plot path[stroke=currentColor]")].filter(p => {
			const point = p.getBoundingClientRect(), plot = p.closest(".plot").getBoundingClientRect();
			return point.width > 3 && point.left >= plot.left && point.right <= plot.right && point.top >= plot.top && point.bottom <= plot.bottom;
		}).length`)
		runs := eval[float64](t, b, `document.querySelectorAll(".compared tbody tr").length`)
		if runs == 0 || drawn != 3*runs {
			t.Errorf("%v points are drawn in their pictures, want 3 for each of %v runs", drawn, runs)
		}
	}
	if said := b.heard(); said != nil {
		t.Errorf("the page said %v", said)
	}
}
