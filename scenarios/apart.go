package scenarios

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"cacheroute/results"
)

// What a sweep over several machines (scenarios/sweep) needs of a study: the
// identity of its cells, and the ordinary folder of results made of cells that
// were run elsewhere.

// Identify returns the identity of the i-th cell: a hash of everything that
// determines what is stored of it. The profile of a cell counts what is within
// the objectives, so these are part of it where there is a profile.
func (r *Runner) Identify(code string) (id func(i int) string, err error) {
	s, err := r.store("", code)
	if err != nil {
		return nil, err
	}
	slos := fmt.Sprintf("%x", r.Study.Measure.SLOs)
	return func(i int) string {
		c := r.Cell(i)
		if !r.Profiled(c) {
			return s.name(c)
		}
		sum := sha256.Sum256([]byte(s.name(c) + slos))
		return hex.EncodeToString(sum[:16])
	}, nil
}

// Requests is about how many requests the i-th cell has.
func (r *Runner) Requests(i int) float64 {
	load := r.Cell(i).LoadQPS
	return r.requests(load, r.Study.Measure.span(load))
}

// Inputs are the files that the study read.
func (r *Runner) Inputs() []results.FileSum { return r.inputs }

// Collect makes the folder of results of cells that were run elsewhere; requests
// are the files of theirs, if they are kept. Results of another study in the
// folder are moved aside.
func (r *Runner) Collect(o SweepOptions, s *results.Summary, profiles []results.CellProfile, requests []string) error {
	release, err := Claim(o.Dir)
	if err != nil {
		return err
	}
	defer release()
	if _, err := r.openStore(o); err != nil {
		return err
	}
	if len(requests) > 0 {
		if err := r.joinRequests(o.Dir, o.Build.Version, requests); err != nil {
			return err
		}
	}
	return r.write(o.Dir, o.Build, s, profiles)
}
