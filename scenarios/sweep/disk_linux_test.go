package sweep

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"cacheroute/scenarios"
)

// TestDisk: on a full disk and in a folder that cannot be written, a shard says
// that it is to be tried again, loses nothing and goes on when it can.
func TestDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to mount a small disk")
	}
	for _, requests := range []bool{false, true} {
		t.Run(fmt.Sprintf("requests=%t", requests), func(t *testing.T) { testDisk(t, requests) })
	}
}

func testDisk(t *testing.T, requests bool) {
	dir := t.TempDir()
	mount := func(flags uintptr, options string) {
		t.Helper()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", flags, options); err != nil {
			t.Skipf("cannot mount a small disk: %v", err)
		}
	}
	mount(0, "size=28k")
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	study, err := scenarios.Parse("small.yaml", []byte(small), scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Make(dir, []scenarios.Variant{{Study: study}}, MakeOptions{Name: study.Name, Requests: requests}); err != nil {
		t.Fatal(err)
	}
	fails := func(want string) (ran int64) {
		t.Helper()
		o := RunOptions{Shard: Shard{0, 1}, Workers: 1, Tally: &scenarios.Tally{}}
		err := Run(t.Context(), dir, o)
		var again *Transient
		if !errors.As(err, &again) || !strings.Contains(err.Error(), want) {
			t.Fatalf("error %v, want %q at another try", err, want)
		}
		return o.Tally.Done.Load()
	}
	ran := fails("no space left on device")
	if ran < 1 || ran > 7 {
		t.Fatalf("%d cells stored before the disk was full, want some of 8", ran)
	}
	fails("no space left on device")
	mount(syscall.MS_REMOUNT, "size=1m")
	mount(syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
	fails("read-only file system")
	mount(syscall.MS_REMOUNT, "")
	if rest := runShard(t, dir, 0, 1); int64(rest) > 8-ran {
		t.Errorf("%d cells run again, want the %d that were lost", rest, 8-ran)
	}
	same(t, "after it all", collected(t, dir), sweptWith(t, scenarios.SweepOptions{Requests: requests}))
}
