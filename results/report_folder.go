package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// ReadReport reads the folder of a finished run. The manifest and the files that
// it names must be those that the run wrote. A run of an older version has no
// profiles.
func ReadReport(dir string) (*Report, error) {
	r := &Report{}
	var err error
	if r.Manifest, err = readManifest(dir); err != nil {
		var missing *fs.PathError
		if errors.As(err, &missing) {
			err = notWhole(dir, err)
		}
		return nil, err
	}
	if err := r.Manifest.verify(dir, studyName, summaryName); err != nil {
		return nil, err
	}
	study, err := os.ReadFile(filepath.Join(dir, studyName))
	if err != nil {
		return nil, err
	}
	r.Study = string(study)
	if r.Summary, err = ReadSummary(filepath.Join(dir, summaryName)); err != nil {
		return nil, err
	}
	if r.Manifest.has(profilesName) {
		r.Profiles, err = ReadProfiles(filepath.Join(dir, profilesName))
	}
	return r, err
}

// The files that a report is made of.
const (
	studyName    = "study.yaml"
	summaryName  = "summary.json"
	profilesName = "profiles.json"
)

// notWhole says why a folder without a manifest that can be read is no result.
func notWhole(dir string, unread error) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s: is not a folder of results", dir)
	case !errors.Is(unread, fs.ErrNotExist):
		return unread
	}
	if _, err := os.Stat(filepath.Join(dir, "cells")); err == nil {
		return fmt.Errorf("%s: the run has not finished (no %s): its command with --resume runs the rest", dir, manifestName)
	}
	return fmt.Errorf("%s: is not a folder of results (no %s)", dir, manifestName)
}

// has reports whether the manifest names a file.
func (m *Manifest) has(name string) bool {
	return slices.ContainsFunc(m.Files, func(f FileSum) bool { return f.Name == name })
}

// verify compares all files that the manifest names with it; some it must name.
func (m *Manifest) verify(dir string, must ...string) error {
	for _, name := range must {
		if !m.has(name) {
			return fmt.Errorf("%s: names no %s", filepath.Join(dir, manifestName), name)
		}
	}
	for _, want := range m.Files {
		if want.Name != filepath.Base(want.Name) {
			return fmt.Errorf("%s: names %q, wanted a file of its folder", filepath.Join(dir, manifestName), want.Name)
		}
		path := filepath.Join(dir, want.Name)
		got, err := SumFile(want.Name, path)
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%s: not the file that the run wrote (%s has another sum): run the study again", path, manifestName)
		}
	}
	return nil
}
