package sweep

import (
	"os/exec"
	"regexp"
	"strconv"

	"cacheroute/scenarios"
)

// slurmLimit finds a limit in the output of scontrol show config.
var slurmLimit = regexp.MustCompile(`(?m)^(MaxArraySize|MaxJobCount)\s*=\s*(\d+)`)

// slurmValues keeps to what the cluster takes: indices of an array are below
// MaxArraySize, and all jobs of the cluster are at most MaxJobCount. Without
// scontrol, as when a script is made elsewhere, it asks for no more than the
// defaults of Slurm.
func slurmValues(j *job) error {
	limits := map[string]int{"MaxArraySize": 1001, "MaxJobCount": 10_000}
	text, _ := exec.Command("scontrol", "show", "config").Output()
	for _, m := range slurmLimit.FindAllStringSubmatch(string(text), -1) {
		limits[m[1]], _ = strconv.Atoi(m[2]) // the pattern is a number
	}
	for _, name := range []string{"MaxArraySize", "MaxJobCount"} {
		if most := limits[name]; j.Shards > most {
			return scenarios.Badf("--shards %d: wanted at most %d, the cluster's %s", j.Shards, most, name)
		}
	}
	return nil
}
