package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ReadReport reads the folder of a finished run. Files that the manifest names
// must be those that the run wrote. A run of an older version has no profiles.
func ReadReport(dir string) (*Report, error) {
	r := &Report{}
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notWhole(dir)
	}
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "manifest.json")
	if err := json.Unmarshal(text, &r.Manifest); err != nil {
		return nil, fmt.Errorf("%s: not a manifest of this version: %w", path, err)
	}
	if err := r.Manifest.verify(dir, "study.yaml", "summary.json"); err != nil {
		return nil, err
	}
	study, err := os.ReadFile(filepath.Join(dir, "study.yaml"))
	if err != nil {
		return nil, err
	}
	r.Study = string(study)
	if r.Summary, err = ReadSummary(filepath.Join(dir, "summary.json")); err != nil {
		return nil, err
	}
	if r.Manifest.sum("profiles.json") == nil {
		return r, nil
	}
	if err := r.Manifest.verify(dir, "profiles.json"); err != nil {
		return nil, err
	}
	r.Profiles, err = ReadProfiles(filepath.Join(dir, "profiles.json"))
	return r, err
}

// notWhole says why a folder without a manifest is no result.
func notWhole(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s: read a file, wanted the folder of a run", dir)
	}
	if _, err := os.Stat(filepath.Join(dir, "cells")); err == nil {
		return fmt.Errorf("%s: the run has not finished (no manifest.json): its command with --resume runs the rest", dir)
	}
	return fmt.Errorf("%s: not the folder of a run (no manifest.json)", dir)
}

// sum is what the manifest says of a file, nil if nothing.
func (m *Manifest) sum(name string) *FileSum {
	for i := range m.Files {
		if m.Files[i].Name == name {
			return &m.Files[i]
		}
	}
	return nil
}

// verify compares files of the folder with the manifest.
func (m *Manifest) verify(dir string, names ...string) error {
	for _, name := range names {
		want := m.sum(name)
		if want == nil {
			return fmt.Errorf("%s: names no %s", filepath.Join(dir, "manifest.json"), name)
		}
		path := filepath.Join(dir, name)
		got, err := SumFile(name, path)
		if err != nil {
			return err
		}
		if got != *want {
			return fmt.Errorf("%s: not the file that the run wrote (manifest.json has another sum): run the study again", path)
		}
	}
	return nil
}
