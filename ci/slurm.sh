#!/usr/bin/env bash
# Runs recipes/slurm/sweep.sh on a Slurm cluster that consists of this machine, as an array. One
# task is killed and another is requeued. The merged slices must have the same bytes as a sweep
# without Slurm.
#   ci/slurm.sh FENCEPOST   a fencepost program
# Installs Debian's slurm-wlm, as root. Its daemons listen only on the loopback interface.
set -euo pipefail
cd "$(dirname "$0")/.."
FENCEPOST=$(realpath "${1:?a fencepost program}")
export FENCEPOST
command -v slurmctld >/dev/null ||
  apt-get install --yes --no-install-recommends slurm-wlm munge >/dev/null

scratch=$(mktemp -d)
daemons=()
trap 'kill "${daemons[@]}" 2>/dev/null || true; wait; rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
mkdir "$scratch/state" "$scratch/spool"
export SLURM_CONF=$scratch/slurm.conf
cpus=$(nproc)
cat >"$SLURM_CONF" <<CONF
ClusterName=walk
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$scratch/munge.socket
CryptoType=crypto/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
SlurmctldLogFile=$scratch/slurmctld.log
SlurmdLogFile=$scratch/slurmd.log
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$cpus RealMemory=1000
PartitionName=all Nodes=ALL Default=YES State=UP
CONF
dd if=/dev/urandom bs=1 count=1024 of="$scratch/munge.key" 2>/dev/null
chmod 400 "$scratch/munge.key"
munged --foreground --force --key-file="$scratch/munge.key" --socket="$scratch/munge.socket" \
  --pid-file="$scratch/munge.pid" --seed-file="$scratch/munge.seed" 2>/dev/null &
daemons+=($!)
sleep 1
slurmctld -D 2>/dev/null &
daemons+=($!)
slurmd -D 2>/dev/null &
daemons+=($!)

# Waits until a command succeeds.
until_true() {
  for _ in $(seq 3000); do
    if "$@"; then return; fi
    sleep 0.2
  done
  echo "gave up: $*" >&2
  tail -n 5 "$scratch"/slurm*.log >&2
  exit 1
}
node_is_idle() { [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ]; }
task_is() { squeue --noheader --states=all --jobs="$1" --format=%T 2>/dev/null | grep -qx "$2"; }
has_progress() { [ -s "$OUT/slice-$1-reports/sweep-$1-of-3.checkpoint" ]; }
none_is_left() { [ -z "$(squeue --noheader --jobs="$job" 2>/dev/null)" ]; }
until_true node_is_idle

# Puts a task back into the queue, and starts it without Slurm's delay of two minutes.
requeue() {
  until_true is_requeued "$1"
  until_true scontrol update "jobid=$1" starttime=now
}
is_requeued() { task_is "$1" PENDING || { scontrol requeue "$1" 2>/dev/null; false; }; }

export OUT=$scratch/sweep SEEDS=0..3000 CLIENTS=single-node FAULTS=pause
job=$(sbatch --parsable --array=1-3 --output="$scratch/task-%a.out" recipes/slurm/sweep.sh)
echo "job $job: three slices of a sweep"
until_true has_progress 1
requeue "${job}_1"
echo "task 1 requeued while it ran"
until_true has_progress 2
kill -KILL "$(pgrep --full -- "^$FENCEPOST sweep .*$OUT/slice-2-reports")"
until_true task_is "${job}_2" FAILED
requeue "${job}_2"
echo "task 2 killed, and requeued"
until_true none_is_left
[ "$(ls "$OUT"/slice-*.json | wc -l)" -eq 3 ]

"$FENCEPOST" merge "$OUT"/slice-*.json --format json >"$scratch/sum.json" || [ $? -eq 1 ]
"$FENCEPOST" sweep --seeds "$SEEDS" --client "$CLIENTS" --fault "$FAULTS" --quiet --format json \
  >"$scratch/alone.json" || [ $? -eq 1 ]
# The measurements and the slices of the two files differ, so they are not compared.
same='del(.. | .measured?) | del(.shard, .checksum)'
cmp <(jq --sort-keys "$same" "$scratch/sum.json") <(jq --sort-keys "$same" "$scratch/alone.json")
echo "the slices of Slurm are one machine's sweep"
