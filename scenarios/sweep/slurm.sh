#!/bin/sh
#SBATCH --job-name=cacheroute-{{.Name}}
#SBATCH --array={{.List}}{{if .AtMost}}%{{.AtMost}}{{end}}
#SBATCH --cpus-per-task={{.CPUs}}
{{- if .Memory}}
#SBATCH --mem={{.Memory}}
{{- end}}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output={{.Logs}}/slurm-%A_%a.log
# A shard of a sweep. 0: done. 2: a cell has failed or the plan is bad, and
# would again. All else, a killed process or a plan that this node does not see,
# is worth another try, here first, as a requeued task waits for minutes.
for pause in 1 5 25; do
  ls {{.Plan}}/plan.json >/dev/null && {{.Program}} sweep run {{.Plan}} --shard "$SLURM_ARRAY_TASK_ID/{{.Shards}}" --workers {{.CPUs}} --progress none{{if .RetryFailed}} --retry-failed{{end}}
  code=$?
  case $code in 0 | 2) exit $code ;; esac
  echo "shard $SLURM_ARRAY_TASK_ID on $(hostname): exit code $code" >&2
  sleep $pause
done
if [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ]; then
  # Perhaps another node can: this task ends here and goes back to the queue.
  scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" && sleep 60
fi
exit $code
