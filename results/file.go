package results

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
)

// temporaries numbers the temporary files of this process.
var temporaries atomic.Int64

// WriteFileAtomic makes the file at path of what write writes: under a
// temporary name in the same directory, synced, then renamed. After an error
// (or a panic in write) nothing is left and a file that was there is untouched.
func WriteFileAtomic(path string, write func(io.Writer) error) (err error) {
	name := fmt.Sprintf(".%s.%d-%d.tmp", filepath.Base(path), os.Getpid(), temporaries.Add(1))
	temporary := filepath.Join(filepath.Dir(path), name)
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
