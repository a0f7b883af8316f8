package sweep

import (
	"strings"

	"cacheroute/scenarios"
)

// Kubernetes takes at most so many indices of a Job at a time.
const maxParallelism = 100_000

// kubernetesValues wants an image and a volume that has plan and inputs at the
// paths that they have here.
func kubernetesValues(j *job) error {
	if j.Image == "" || j.Claim == "" || j.Mount == "" {
		return scenarios.Badf("--engine kubernetes: wanted --image, --claim (a ReadWriteMany volume) and --mount (the path at which the volume is mounted, here and in the pods)")
	}
	for _, path := range append([]string{j.Plan}, j.inputs...) {
		if !strings.HasPrefix(path, strings.TrimRight(j.Mount, "/")+"/") {
			return scenarios.Badf("%s: not below --mount %s, wanted all files of the sweep on the volume", path, j.Mount)
		}
	}
	if j.Shards > maxParallelism {
		return scenarios.Badf("--shards %d: wanted at most %d, as Kubernetes does", j.Shards, maxParallelism)
	}
	if j.Memory == "" {
		j.Memory = "2Gi"
	}
	return nil
}
