package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser is a headless Chromium with one page at a time, which may not
// complain and may not ask a network for anything.
type browser struct {
	ctx  context.Context
	mu   sync.Mutex
	said []string // by the console and the network
}

// openBrowser skips the test where there is no browser.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no chromium in the PATH: the report is not tried in a browser")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &browser{ctx: ctx}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1200, 900)); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *browser) listen(event any) {
	text := ""
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		text = fmt.Sprintf("console %s: %v", e.Type, e.Args)
	case *runtime.EventExceptionThrown:
		text = "exception: " + e.ExceptionDetails.Text
	case *log.EventEntryAdded:
		text = fmt.Sprintf("log %s: %s", e.Entry.Source, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, "file:") && !strings.HasPrefix(u, "data:") {
			text = "request " + u
		}
	}
	if text != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.said = append(b.said, text)
	}
}

// heard returns what the page has said, and forgets it.
func (b *browser) heard() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	said := b.said
	b.said = nil
	return said
}

// eval returns the value of an expression in the page, or of its promise.
func eval[T any](t *testing.T, b *browser, expression string) T {
	t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// open loads a page and returns the milliseconds until all was drawn.
func (b *browser) open(t *testing.T, path string) float64 {
	t.Helper()
	if err := chromedp.Do(b.ctx, chromedp.Navigate("file://"+path)); err != nil {
		t.Fatal(err)
	}
	ready := eval[string](t, b, "document.documentElement.dataset.ready || ''")
	ms, err := strconv.ParseFloat(ready, 64)
	if err != nil {
		t.Fatalf("the page is not ready: %v; it said %v", err, b.heard())
	}
	return ms
}

func (b *browser) mouse(t *testing.T, kind input.DispatchMouseEventType, x, y float64, options ...chromedp.MouseOption) {
	t.Helper()
	if err := chromedp.Do(b.ctx, chromedp.MouseEvent(kind, x, y, options...)); err != nil {
		t.Fatal(err)
	}
}

// onPhone: the page is not wider than a phone, what is read in words is not cut
// off, and no label is too small to read.
func onPhone(t *testing.T, b *browser, page string) {
	t.Helper()
	if err := chromedp.Do(b.ctx, chromedp.EmulateViewport(390, 800)); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(b.ctx, chromedp.Navigate("file://"+page)); err != nil {
		t.Fatal(err)
	}
	if width := eval[float64](t, b, "document.documentElement.scrollWidth"); width > 390 {
		t.Errorf("the page is %v pixels wide on a phone of 390", width)
	}
	for _, bad := range eval[[]string](t, b, `[...document.querySelectorAll("caption, .origins td, .ends span, svg text")].filter(e => {
		const box = e.getBoundingClientRect();
		return box.width > 0 && (box.right > innerWidth || box.height < 9);
	}).map(e => e.textContent)`) {
		t.Errorf("cut off or too small on a phone: %q", bad)
	}
}
