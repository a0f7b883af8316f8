package paper

import (
	"io"
	"os"
	"path/filepath"

	"cacheroute/results"
)

// The files of a folder of results.
const (
	jsonFile      = "paper.json"
	pageFile      = "paper.html"
	studiesFolder = "studies"
)

// PagePath is where Write puts the page.
func PagePath(dir string) string { return filepath.Join(dir, pageFile) }

// Write puts the report, its page and the studies, ready to be run one by one,
// into the folder.
func (r *Report) Write(dir, version string) error {
	for _, s := range r.Studies {
		if s.yaml == nil {
			continue
		}
		if err := writeText(filepath.Join(dir, studiesFolder, s.Name+".yaml"), s.yaml); err != nil {
			return err
		}
	}
	if err := results.WriteFileAtomic(filepath.Join(dir, jsonFile), r.JSON); err != nil {
		return err
	}
	return r.WritePage(PagePath(dir), version)
}

func writeText(path string, text []byte) error {
	return results.WriteFileAtomic(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// inputFolder is where generated input files go: beside the studies, which name
// them without a folder.
func inputFolder(dir string) (string, error) {
	folder := filepath.Join(dir, studiesFolder)
	return folder, os.MkdirAll(folder, 0o777)
}
