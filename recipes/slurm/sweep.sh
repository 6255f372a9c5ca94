#!/bin/bash
# A sweep as a Slurm array, one shard per task:
#   sbatch --array=1-8 recipes/slurm/sweep.sh
# The shard comes from SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT, so the array must count from 1
# without gaps. A requeued task continues from its checkpoint. `fencepost merge --watch sweep` shows
# the progress of all tasks. When all are done, merge the shards:
#   sbatch --dependency=afterok:JOBID --wrap 'fencepost merge sweep/slice-*.json --format json > sweep/sum.json'
#SBATCH --job-name=fencepost
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=256M
#SBATCH --requeue
#SBATCH --open-mode=append
set -u

FENCEPOST=${FENCEPOST:-fencepost}
OUT=${OUT:-$PWD/sweep}
SEEDS=${SEEDS:-0..100000}
CLIENTS=${CLIENTS:-single-node,redlock,fencing}
FAULTS=${FAULTS:-pause,failover,restart,all}

slice=$OUT/slice-$SLURM_ARRAY_TASK_ID
mkdir -p "$OUT"
"$FENCEPOST" sweep --seeds "$SEEDS" --client "$CLIENTS" --fault "$FAULTS" --jobs "${SLURM_CPUS_PER_TASK:-1}" \
  --format json --out "$slice-reports" --resume > "$slice.partial"
status=$?
# Statuses 1 (violations were found) and 3 (a cell did not exercise the lock) are results. The task
# fails only if there is no summary.
case $status in
  0 | 1 | 3) mv "$slice.partial" "$slice.json" ;;
  *) exit $status ;;
esac
