package sweep

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cacheroute/scenarios"
)

// TestDamagedRequests: files of requests that are damaged or of another cell are
// all named, nothing is collected, and the cure that is told helps.
func TestDamagedRequests(t *testing.T) {
	dir := t.TempDir()
	study, err := scenarios.Parse("small.yaml", []byte(small), scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Make(dir, []scenarios.Variant{{Study: study}}, MakeOptions{Name: study.Name, Requests: true})
	if err != nil {
		t.Fatal(err)
	}
	runShard(t, dir, 0, 1)
	want := collected(t, dir)
	ids, err := p.ids()
	if err != nil {
		t.Fatal(err)
	}
	// The cells 1 and 5 are of two policies at one load with one seed.
	text, err := os.ReadFile(p.requestsPath(ids[5]))
	if err != nil {
		t.Fatal(err)
	}
	swapped, flipped := p.requestsPath(ids[1]), p.requestsPath(ids[5])
	put := func(path string) {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	put(swapped)
	refused(t, dir, swapped+": not the requests of its cell: delete it, then cacheroute sweep resume "+dir+" runs the cell again")
	text[len(text)/4] ^= 1
	put(flipped)
	refused(t, dir, swapped+", "+flipped+": not the requests of their cells, 2 files: delete them, then cacheroute sweep resume "+dir+" runs the cells again")
	if err := errors.Join(os.Remove(swapped), os.Remove(flipped)); err != nil {
		t.Fatal(err)
	}
	if ran := runShard(t, dir, 0, 1); ran != 2 {
		t.Errorf("%d cells run, want 2", ran)
	}
	same(t, "mended", collected(t, dir), want)
	if s, err := StatusOf(dir, true); err != nil || len(s.DamagedRequests) > 0 {
		t.Errorf("status %+v, %v, want nothing damaged", s, err)
	}
}

// refused checks that a plan is not collected at all because of its requests,
// and that status tells the same if it is to look.
func refused(t *testing.T, dir, want string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	var b *scenarios.BadInput
	if err := collect(dir, out, false); !errors.As(err, &b) || err.Error() != want {
		t.Errorf("collect: %v, want %s", err, want)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a folder of results was begun")
	}
	s, err := StatusOf(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := s.Print(&text, func(float64) string { return "" }); err != nil || !strings.HasSuffix(text.String(), "\n"+want+"\n") {
		t.Errorf("status %q, %v, want %s", text.String(), err, want)
	}
	if s, err := StatusOf(dir, false); err != nil || len(s.DamagedRequests) > 0 {
		t.Errorf("status that is not to look: %+v, %v", s, err)
	}
}
