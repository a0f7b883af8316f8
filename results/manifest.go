package results

import (
	"encoding/json"
	"io"
	"path/filepath"
)

// Origin is where a number comes from.
type Origin string

// The origins of a number, from the most to the least trustworthy.
const (
	Measured Origin = "measured"
	Fitted   Origin = "fitted"
	Assumed  Origin = "assumed"
)

// Assumption is one number that the results rest on.
type Assumption struct {
	Parameter string `json:"parameter"`
	Value     any    `json:"value"`
	Origin    Origin `json:"origin"`
	Source    string `json:"source"`
}

// Manifest says how a folder of results was made and what it holds.
type Manifest struct {
	Study       string       `json:"study"`
	Description string       `json:"description"`
	Preset      string       `json:"preset"` // of the destinations
	Version     string       `json:"version"`
	Commit      string       `json:"commit"`
	Go          string       `json:"go"`
	Seeds       []uint64     `json:"seeds"`
	Inputs      []FileSum    `json:"inputs"` // files that the study read
	Assumptions []Assumption `json:"assumptions"`
	Warnings    []string     `json:"warnings"`
	// Files are the other files of the folder, but for report.html, which can be
	// made of them at any time.
	Files []FileSum `json:"files"`
}

// WriteManifest sums the named files of the folder dir into m and writes
// manifest.json beside them. It comes last: a folder with a manifest is whole.
func WriteManifest(dir string, m *Manifest, names ...string) error {
	m.Files = make([]FileSum, len(names))
	for i, name := range names {
		sum, err := SumFile(name, filepath.Join(dir, name))
		if err != nil {
			return err
		}
		m.Files[i] = sum
	}
	return WriteFileAtomic(filepath.Join(dir, "manifest.json"), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(m)
	})
}
