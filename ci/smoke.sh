#!/usr/bin/env bash
# Runs the program as users do: three tasks of newcomers, sweeps whose results are compared with
# their expectations, and a sample of the published matrix. FENCEPOST names the program.
set -euo pipefail
cd "$(dirname "$0")/.."
export FENCEPOST=${FENCEPOST:-$PWD/target/debug/fencepost}
step() { printf '\n== %s\n' "$*"; "$@"; }

step ci/tasks.sh
step "$FENCEPOST" sweep --seeds 0..60 --fault none --quiet --no-shrink
step "$FENCEPOST" sweep --seeds 0..100 --client single-node,redlock \
  --fault none,pause,restart,clock-jump --expect ci/expectations.toml --quiet --no-shrink
step "$FENCEPOST" matrix --check docs/data/matrix.json --seeds 0..2 --quiet
