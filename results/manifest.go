package results

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Origin is where a number comes from.
type Origin string

// The origins of a number, from the most to the least trustworthy.
const (
	Measured Origin = "measured"
	Given    Origin = "given" // by the study
	Fitted   Origin = "fitted"
	Assumed  Origin = "assumed"
)

// Origins are all of them, in that order.
var Origins = []Origin{Measured, Given, Fitted, Assumed}

// Assumption is one number that the results rest on.
type Assumption struct {
	Parameter string `json:"parameter"`
	Value     any    `json:"value"`
	Origin    Origin `json:"origin"`
	Source    string `json:"source"`
}

// Count is how many of the assumptions have an origin.
func (m *Manifest) Count(o Origin) (n int) {
	for _, a := range m.Assumptions {
		if a.Origin == o {
			n++
		}
	}
	return n
}

// Manifest says how a folder of results was made and what it holds.
type Manifest struct {
	Study       string `json:"study"`
	Description string `json:"description"`
	Preset      string `json:"preset"` // of the destinations
	// Simulated says in words what fleet met what requests, a line each.
	Simulated []string `json:"simulated"`
	// Policies names the rule behind each policy of the results.
	Policies    map[string]string `json:"policies"`
	Version     string            `json:"version"`
	Commit      string            `json:"commit"`
	Go          string            `json:"go"`
	Seeds       []uint64          `json:"seeds"`
	Inputs      []FileSum         `json:"inputs"` // files that the study read
	Assumptions []Assumption      `json:"assumptions"`
	Warnings    []string          `json:"warnings"`
	// Files are the other files of the folder, but for report.html, which can be
	// made of them at any time.
	Files []FileSum `json:"files"`
	// Own is the sum of the manifest itself, with no sum in this place.
	Own string `json:"manifest_sha256"`
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
	m.Own = ""
	text, err := m.encode()
	if err != nil {
		return err
	}
	m.Own = sumText(text)
	if text, err = m.encode(); err != nil {
		return err
	}
	return WriteFileAtomic(filepath.Join(dir, manifestName), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

const manifestName = "manifest.json"

func (m *Manifest) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(m)
	return b.Bytes(), err
}

func sumText(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// readManifest reads the manifest of a folder and refuses one that was changed.
func readManifest(dir string) (m Manifest, err error) {
	path := filepath.Join(dir, manifestName)
	text, err := os.ReadFile(path)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%s: not a manifest of this version: %w", path, err)
	}
	own := []byte(`"manifest_sha256": "`)
	bare := bytes.Replace(text, append(own, m.Own...), own, 1)
	if m.Own == "" || m.Own != sumText(bare) {
		return m, fmt.Errorf("%s: not as the run wrote it (it has another sum): run the study again", path)
	}
	return m, nil
}
