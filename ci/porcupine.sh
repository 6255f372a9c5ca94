#!/usr/bin/env bash
# Judges runs with Porcupine, a linearizability checker that shares no code with fencepost, and
# compares the verdicts. Runs SEEDS seeds of each cell. Needs go 1.19 or newer.
#   ci/porcupine.sh [SEEDS] [FOLDER]   FOLDER: a copy of github.com/anishathalye/porcupine, for
#                                      machines that cannot fetch modules
#   LOCKS and FAULTS in the environment replace the default cells of three locks and five families.
set -euo pipefail
cd "$(dirname "$0")/.."
seeds=${1:-20}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp examples/porcupine/* "$work"
if [ -n "${2:-}" ]; then
  (cd "$work" && go mod edit -replace "github.com/anishathalye/porcupine=$(realpath "$2")")
fi
(cd "$work" && GOFLAGS=-mod=mod go build -o judge .)
fencepost=${FENCEPOST:-target/release/fencepost}
[ -x "$fencepost" ] || cargo build --release --locked
status=0
for seed in $(seq 0 $((seeds - 1))); do
  # Exit status 1 means that violations were found, and 3 that no run exercised the lock.
  "$fencepost" --seed "$seed" --fault "${FAULTS:-none,pause,failover,restart,client-crash}" \
    --client "${LOCKS:-single-node,redlock,redisson}" --engine fast --no-shrink --format porcupine || [ $? -ne 2 ]
done > "$work/runs.json"
"$work/judge" < "$work/runs.json" > "$work/verdicts.txt" || status=$?
grep -c '^seed' "$work/verdicts.txt" | sed 's/$/ runs judged/'
for name in mutex register; do
  for verdict in holds violated unknown; do
    count=$(grep -c "^  $name  *porcupine: $verdict" "$work/verdicts.txt" || true)
    echo "$name: $count $verdict"
  done
done
# The comparison must also detect a disagreement.
if sed 's/"overlap"/"stuck"/g' "$work/runs.json" | "$work/judge" > "$work/planted.txt" 2>&1; then
  echo "a verdict that was taken away is not noticed" >&2
  exit 1
fi
[ "$status" -eq 0 ] && echo "Porcupine and fencepost agree on all" || cat "$work/verdicts.txt" >&2
exit "$status"
