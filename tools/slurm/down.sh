#!/usr/bin/env bash
# Ends what up.sh FOLDER has started, by the process numbers that it left there.
set -u
dir=$(realpath "${1:?folder of the state}")
for file in "$dir"/n[1-3].pid "$dir/slurmctld.pid" "$dir/munge/pid"; do
  [ -f "$file" ] && kill "$(cat "$file")" 2>/dev/null
done
for _ in $(seq 50); do
  ls "$dir"/*.pid "$dir/munge/pid" >/dev/null 2>&1 || exit 0
  sleep 0.1
done
exit 0
