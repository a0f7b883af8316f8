package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// CellProfile is the profile of a cell with its name.
type CellProfile struct {
	Policy  string  `json:"policy"`
	LoadQPS float64 `json:"load_qps"`
	Seed    uint64  `json:"seed"`
	Profile
}

// WriteProfiles writes a file of profiles: a JSON list with a line for each.
func WriteProfiles(path string, profiles []CellProfile) error {
	return WriteFileAtomic(path, func(w io.Writer) error {
		before := "["
		for i := range profiles {
			text, err := json.Marshal(&profiles[i])
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "%s\n%s", before, text); err != nil {
				return err
			}
			before = ","
		}
		if len(profiles) == 0 {
			_, err := io.WriteString(w, "[]\n")
			return err
		}
		_, err := io.WriteString(w, "\n]\n")
		return err
	})
}

// ReadProfiles reads what WriteProfiles wrote. Unknown fields and lists that
// belong together but differ in length are errors: such a file is of another
// program or version.
func ReadProfiles(path string) ([]CellProfile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var profiles []CellProfile
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&profiles); err != nil {
		return nil, fmt.Errorf("%s: not profiles of this version: %w", path, err)
	}
	if d.More() {
		return nil, fmt.Errorf("%s: text after the end of the profiles", path)
	}
	for i := range profiles {
		p := &profiles[i]
		n := len(p.Timeline.Requests)
		if p.Policy == "" || len(p.Timeline.KVHit) != n || len(p.Timeline.InFlight) != n ||
			len(p.Timeline.Waiting) != n || !p.ByDestination.whole(len(p.Destinations)) || len(p.TTFT.Seconds) != len(p.TTFT.Fraction) || p.Within == nil {
			return nil, fmt.Errorf("%s: not profiles of this version: entry %d is not whole", path, i)
		}
	}
	return profiles, nil
}

// whole says whether the lists are of so many destinations, or empty.
func (b *ByDestination) whole(destinations int) bool {
	n := len(b.KVHit)
	return (n == 0 || n == destinations) && len(b.TTFTP99) == n && len(b.RunBusy) == n && len(b.RunMostInFlight) == n
}
