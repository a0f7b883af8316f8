package scenarios

import (
	"path/filepath"

	"cacheroute/results"
)

// Report writes the page of a finished run from its folder alone and returns
// its path.
func Report(dir string) (path string, err error) {
	r, err := results.ReadReport(dir)
	if err != nil {
		return "", bad(err)
	}
	path = ReportPath(dir)
	return path, bad(results.WriteReport(path, r))
}

// ReportPath is where the page of a folder of results lies.
func ReportPath(dir string) string { return filepath.Join(dir, reportFile) }
