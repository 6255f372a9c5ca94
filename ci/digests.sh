#!/usr/bin/env bash
# Builds fencepost without optimisation and with debug assertions, and compares its histories with
# the pinned ones. The tests compare the histories of an optimised build with the same pinned ones.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/unoptimised CARGO_PROFILE_DEV_OPT_LEVEL=0 CARGO_PROFILE_DEV_DEBUG_ASSERTIONS=true
cargo build --quiet --locked -p fencepost --bin fencepost
status=0
report=$("$CARGO_TARGET_DIR/debug/fencepost" --seed 7 --fault failover --no-shrink --format json) || status=$?
[ "$status" -eq 1 ] || { echo "expected exit status 1, a violation; got $status"; exit 1; }
client='s/^ *"client": "\(.*\)",$/\1/p'
digest='s/^ *"history_digest": "\(.*\)",$/\1/p'
paste -d ' ' <(sed -n "$client" <<<"$report") <(sed -n "$digest" <<<"$report") |
  diff - sim/tests/pinned-digests.txt
echo "same digests"
