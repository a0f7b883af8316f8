#!/usr/bin/env bash
# Starts a Slurm of three nodes on this machine, as the user who calls it and
# without systemd: up.sh FOLDER keeps all of its state in FOLDER and prints the
# configuration for SLURM_CONF; down.sh FOLDER ends it. For tests: nodes pretend
# to have two CPUs each, nothing is confined, and lost nodes are noticed in
# seconds. Needs the packages slurm-wlm and munge.
set -eu
dir=$(realpath -m "${1:?folder for the state}")
host=$(hostname -s)
user=$(id -un)
# Ports of our own: a second cluster, or a real one, may be on this machine.
base=${SLURM_TEST_PORT:-17816}

export PATH="$PATH:/usr/sbin:/sbin"
mkdir -p "$dir"/munge "$dir"/state "$dir"/log "$dir"/spool/n1 "$dir"/spool/n2 "$dir"/spool/n3
chmod 755 "$dir"
chmod 700 "$dir/munge"
if [ ! -f "$dir/munge/key" ]; then
  head -c 1024 /dev/urandom >"$dir/munge/key"
  chmod 400 "$dir/munge/key"
fi

# cred_expire: a requeued task waits until the credential of its last run has
# expired, by default two minutes.
cat >"$dir/slurm.conf" <<CONF
ClusterName=sweep
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket=$dir/munge/socket,cred_expire=5
SlurmctldPort=$base
SlurmdPort=$((base + 1))
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/%n.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0
SlurmdParameters=config_overrides
ReturnToService=2
JobRequeue=1
SlurmdTimeout=10
KillWait=5
MpiDefault=none
NodeName=n[1-3] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((base + 11))-$((base + 13))] CPUs=2 RealMemory=2000 State=UNKNOWN
PartitionName=sim Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP
CONF

munged --force --key-file="$dir/munge/key" --socket="$dir/munge/socket" --pid-file="$dir/munge/pid" \
  --log-file="$dir/munge/log" --seed-file="$dir/munge/seed"
export SLURM_CONF="$dir/slurm.conf"
slurmctld -f "$SLURM_CONF"
for node in n1 n2 n3; do slurmd -N $node -f "$SLURM_CONF"; done
for _ in $(seq 150); do
  if [ "$(sinfo -h -o '%t %D' 2>/dev/null)" = "idle 3" ]; then
    echo "$SLURM_CONF"
    exit 0
  fi
  sleep 0.2
done
echo "slurm: the nodes did not come up; see $dir/log" >&2
sinfo >&2 || true
exit 1
