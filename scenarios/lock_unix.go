//go:build unix

package scenarios

import (
	"errors"
	"os"
	"syscall"
)

// lock keeps other runs out of a folder until the returned function is called,
// or the process ends.
func lock(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case err == nil:
		return func() { f.Close() }, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		f.Close()
		return nil, Badf("%s: another run is writing its results here, wanted another --out", dir)
	}
	f.Close()
	return func() {}, nil // a file system without locks
}
