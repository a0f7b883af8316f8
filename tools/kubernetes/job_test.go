// Package kubernetes holds what cacheroute sweep submits to Kubernetes against
// the types of its API. It is a module of its own, so that the program needs
// none of them.
package kubernetes

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// job plans a study, and returns the Job that submit prints for it.
func job(t *testing.T, flags ...string) (j batchv1.Job, plan string) {
	t.Helper()
	dir := t.TempDir()
	program, plan := filepath.Join(dir, "cacheroute"), filepath.Join(dir, "plan")
	run := func(name string, args ...string) []byte {
		t.Helper()
		c := exec.Command(name, args...)
		c.Dir, c.Stderr = "../..", os.Stderr
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
		}
		return out
	}
	run("go", "build", "-o", program, "./cmd/cacheroute")
	run(program, "sweep", "plan", "quick", "--out", plan)
	text := run(program, append([]string{"sweep", "submit", plan, "--engine", "kubernetes", "--image", "registry.example/cacheroute:1", "--claim", "shared", "--mount", dir, "--dry-run"}, flags...)...)
	if err := yaml.UnmarshalStrict(text, &j); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return j, plan
}

// TestJob: every field of the manifest is one of the API, and says what the
// contract of a shard needs.
func TestJob(t *testing.T) {
	j, plan := job(t, "--shards", "30", "--cpus", "2", "--memory", "3Gi", "--at-most", "8")
	if j.APIVersion != "batch/v1" || j.Kind != "Job" || j.GenerateName != "cacheroute-quick-" {
		t.Errorf("%s %s %s", j.APIVersion, j.Kind, j.GenerateName)
	}
	s := j.Spec
	if *s.CompletionMode != batchv1.IndexedCompletion || *s.Completions != 30 || *s.Parallelism != 8 || *s.BackoffLimitPerIndex != 3 {
		t.Errorf("%v, %d completions, parallelism %d, backoff limit %d", *s.CompletionMode, *s.Completions, *s.Parallelism, *s.BackoffLimitPerIndex)
	}
	rules := s.PodFailurePolicy.Rules
	if len(rules) != 2 || rules[0].Action != batchv1.PodFailurePolicyActionIgnore || rules[0].OnPodConditions[0].Type != corev1.DisruptionTarget ||
		rules[1].Action != batchv1.PodFailurePolicyActionFailIndex || rules[1].OnExitCodes.Values[0] != 2 {
		t.Errorf("rules %+v", rules)
	}
	pod := s.Template.Spec
	if pod.RestartPolicy != corev1.RestartPolicyNever || len(pod.Containers) != 1 || *rules[1].OnExitCodes.ContainerName != pod.Containers[0].Name {
		t.Errorf("restart policy %s, %d containers", pod.RestartPolicy, len(pod.Containers))
	}
	c := pod.Containers[0]
	want := "sweep run " + plan + " --shard=$(JOB_COMPLETION_INDEX)/30 --only=0-29 --workers=2 --progress=none"
	if got := strings.Join(c.Args, " "); got != want || c.Image != "registry.example/cacheroute:1" {
		t.Errorf("args %s\nwant %s; image %s", got, want, c.Image)
	}
	if cpu, memory := c.Resources.Requests[corev1.ResourceCPU], c.Resources.Limits[corev1.ResourceMemory]; cpu.String() != "2" || memory.String() != "3Gi" {
		t.Errorf("cpu %v, memory %v", cpu, memory)
	}
	if pod.Volumes[0].PersistentVolumeClaim.ClaimName != "shared" || c.VolumeMounts[0].Name != pod.Volumes[0].Name || c.VolumeMounts[0].MountPath != filepath.Dir(plan) {
		t.Errorf("volumes %+v, mounts %+v", pod.Volumes, c.VolumeMounts)
	}
}

// TestRetry: failed cells run again when asked to.
func TestRetry(t *testing.T) {
	j, _ := job(t, "--retry-failed")
	args := j.Spec.Template.Spec.Containers[0].Args
	if args[len(args)-1] != "--retry-failed" || *j.Spec.Completions != 100 || *j.Spec.Parallelism != 100 {
		t.Errorf("args %v, %d completions, parallelism %d", args, *j.Spec.Completions, *j.Spec.Parallelism)
	}
}
