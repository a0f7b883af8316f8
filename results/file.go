package results

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// temporary is a name that no other process uses, on whatever machine: pods on
// one volume all have the process id 1.
func temporary(path string) string {
	return filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%016x.tmp", filepath.Base(path), rand.Uint64()))
}

// staleAfter is how long nobody has written to a temporary file whose writer
// was killed.
const staleAfter = time.Hour

// RemoveStale removes what killed writers of the file at path have left.
func RemoveStale(path string) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return cannotWrite(path, err)
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, "."+filepath.Base(path)+".") || !strings.HasSuffix(name, ".tmp") {
			continue
		}
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < staleAfter {
			continue // removed meanwhile, or perhaps being written
		}
		if err := os.Remove(filepath.Join(filepath.Dir(path), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return cannotWrite(path, err)
		}
	}
	return nil
}

// WriteFileAtomic makes the file at path of what write writes: under a
// temporary name in the same directory, synced, then renamed. After an error
// (or a panic in write) nothing is left and a file that was there is untouched.
func WriteFileAtomic(path string, write func(io.Writer) error) (err error) {
	temporary := temporary(path)
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return cannotWrite(path, fmt.Errorf("it is there and not a regular file"))
	}
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return cannotWrite(path, err)
	}
	renamed := false
	defer func() {
		if !renamed {
			f.Close()
			os.Remove(temporary)
		}
	}()
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return cannotWrite(path, err)
	}
	if err := errors.Join(w.Flush(), f.Sync(), f.Close()); err != nil {
		return cannotWrite(path, err)
	}
	if err := os.Rename(temporary, path); err != nil {
		return cannotWrite(path, err)
	}
	renamed = true
	return nil
}

// cannotWrite names the file that the user knows rather than the temporary one.
func cannotWrite(path string, err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		err = p.Err
	case errors.As(err, &l):
		err = l.Err
	}
	return fmt.Errorf("%s: cannot be written: %w", path, err)
}

// FileSum names a file and its content.
type FileSum struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	// Requests names the requests of a trace as they are replayed: two files of
	// one name hold the same, in another form.
	Requests string `json:"requests,omitempty"`
}

// SumFile reads the file at path and returns its sum under the given name.
func SumFile(name, path string) (FileSum, error) {
	f, err := os.Open(path)
	if err != nil {
		return FileSum{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return FileSum{}, err
	}
	return FileSum{Name: name, Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}
