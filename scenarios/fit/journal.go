package fit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"

	"cacheroute/scenarios"
)

// Journal keeps the losses of finished generations in a file, a line each, so
// that a search that was stopped goes on where it was: points are drawn again
// from their seed, only their losses are kept. A line that was cut off is
// dropped. The first line names spec, study and program; losses of others are
// refused, those of other points simulated again.
type Journal struct {
	file  *os.File
	known map[generation]journalLine
}

// generation names one of a search; 0 are the points that a stage may begin at.
type generation struct {
	Start      string `json:"start"`
	Stage      int    `json:"stage"`
	Generation int    `json:"generation"`
}

type journalLine struct {
	generation
	// Points hashes the points that the losses are of: those of a stage depend on
	// how long the one before was.
	Points string    `json:"points"`
	Losses []float64 `json:"losses"`
}

type journalHead struct {
	Spec string `json:"spec"` // sha256, of the study and its input files too
	Code string `json:"code"`
}

// OpenJournal opens or makes the journal of a spec. Without resume an existing
// one is begun anew.
func (s *Spec) OpenJournal(path, code string, resume bool) (*Journal, error) {
	j := &Journal{known: map[generation]journalLine{}}
	base, err := s.base()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(append([]byte(s.hash), base...))
	head := journalHead{hex.EncodeToString(sum[:]), code}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	if !resume {
		if len(whole) > 0 && !head.sameSearch(whole) {
			return nil, scenarios.Badf("%s:1: the journal of another spec, wanted another folder or that file removed", path)
		}
		whole = nil
	}
	if len(whole) > 0 {
		if err := j.read(path, whole, head); err != nil {
			return nil, err
		}
	}
	if j.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return nil, err
	}
	if err := j.file.Truncate(int64(len(whole))); err != nil {
		return nil, err
	}
	if _, err := j.file.Seek(0, 2); err != nil {
		return nil, err
	}
	if len(whole) == 0 {
		return j, j.line(head)
	}
	return j, nil
}

// sameSearch reports whether a journal is of the same spec, by any program.
func (h journalHead) sameSearch(journal []byte) bool {
	var other journalHead
	first, _, _ := bytes.Cut(journal, []byte("\n"))
	return json.Unmarshal(first, &other) == nil && other.Spec == h.Spec
}

func (j *Journal) read(path string, data []byte, want journalHead) error {
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for n := 1; lines.Scan(); n++ {
		if n == 1 {
			var head journalHead
			if json.Unmarshal(lines.Bytes(), &head) != nil || head != want {
				return scenarios.Badf("%s:1: the journal of another spec or program, wanted one of this or a run without --resume", path)
			}
			continue
		}
		var l journalLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return scenarios.Badf("%s:%d: %v, wanted the losses of a generation", path, n, err)
		}
		j.known[l.generation] = l
	}
	return nil
}

// Generations is how many the journal holds.
func (j *Journal) Generations() int { return len(j.known) }

// find gives the losses of a generation if they are of these points.
func (j *Journal) find(g generation, points [][]float64) ([]float64, bool) {
	if j == nil {
		return nil, false
	}
	l, ok := j.known[g]
	if !ok || l.Points != hashOf(points) || len(l.Losses) != len(points) {
		return nil, false
	}
	return l.Losses, true
}

func (j *Journal) put(g generation, points [][]float64, losses []float64) error {
	if j == nil {
		return nil
	}
	return j.line(journalLine{g, hashOf(points), losses})
}

func hashOf(points [][]float64) string {
	h := sha256.New()
	for _, p := range points {
		for _, x := range p {
			h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// line appends and syncs one.
func (j *Journal) line(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(b, '\n')); err != nil {
		return err
	}
	return j.file.Sync()
}

// Close closes the file.
func (j *Journal) Close() error { return j.file.Close() }
