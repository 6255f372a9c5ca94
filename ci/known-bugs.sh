#!/usr/bin/env bash
# Runs real lock libraries in a version that is known to be wrong and in the one that was fixed, and
# holds both to it: the old one breaks its rule within some seeds, the new one never.
#
#   ci/known-bugs.sh [NAME]
#
# Wants python3 with pip, python3.8 (or PYTHON38) for celery-redbeat, node with npm for what is
# written in JavaScript, and the network; everything is installed into $FOLDER. Takes some minutes.
# What each case is about is in docs/known-bugs.md.
set -euo pipefail
cd "$(dirname "$0")/.."
FOLDER=${FOLDER:-target/known-bugs}
mkdir -p "$FOLDER"
FOLDER=$(cd "$FOLDER" && pwd)
only=${1:-}
failed=0
if [ -z "${FENCEPOST:-}" ]; then
  cargo build --release --locked --quiet -p fencepost --bin fencepost
  FENCEPOST=$PWD/target/release/fencepost
fi

# The interpreter that has these packages: PYTHON PACKAGE==VERSION[,...]
python_with() {
  local folder="$FOLDER/${2//[=,]/-}"
  if [ ! -e "$folder/done" ]; then
    "$1" -m venv "$folder"
    # shellcheck disable=SC2086 # several packages
    "$folder/bin/pip" install -q setuptools ${2//,/ } >&2
    touch "$folder/done"
  fi
  echo "$folder/bin/python"
}

# The folder of modules that has these packages: PACKAGE@VERSION[,...]
modules_with() {
  local folder="$FOLDER/${1//[@,]/-}"
  if [ ! -e "$folder/done" ]; then
    # shellcheck disable=SC2086 # several packages
    npm install --silent --no-audit --no-fund --prefix "$folder" ${1//,/ } >&2
    touch "$folder/done"
  fi
  echo "$folder/node_modules"
}

# How many runs broke a rule, how many were exercised, and the first seed: COMMAND RULE OPTIONS...
broken() {
  local command=$1 rule=$2 status=0
  shift 2
  "$FENCEPOST" sweep --program "worker=$command" --no-shrink --quiet --format json "$@" \
    > "$FOLDER/sum.json" || status=$?
  [ "$status" -ne 2 ] || exit 2
  python3 - "$FOLDER/sum.json" "$rule" <<'PYTHON'
import json
import sys

cell = json.load(open(sys.argv[1]))["cells"][0]
broke = cell["violations_by_kind"].get(sys.argv[2], 0)
print(broke, cell["runs"] - cell["unknown"], cell["first_seed"].get(sys.argv[2], "-"))
PYTHON
}

# NAME RULE OLD NEW WORKER OPTIONS...: OLD and NEW are the packages of either version.
known() {
  local name=$1 rule=$2 old=$3 new=$4 worker=examples/programs/known-bugs/$5
  local packages interpreter found broke exercised seed language=${PYTHON:-python3} modules=()
  shift 5
  [ "${worker##*.}" != js ] || language=node
  [ -z "$only" ] || [ "$only" = "$name" ] || return 0
  if ! "$language" --version > /dev/null 2>&1; then
    echo "$name: skipped, there is no $language"
    return 0
  fi
  for packages in "$old" "$new"; do
    if [ "$language" = node ]; then
      interpreter=node
      modules=(--env "NODE_PATH=$(modules_with "$packages")")
    else
      interpreter=$(python_with "$language" "$packages")
    fi
    found=$(broken "$interpreter $worker" "$rule" "$@" "${modules[@]}")
    read -r broke exercised seed <<< "$found"
    echo "$name: $packages: $rule in $broke of $exercised runs, first in seed $seed"
    if [ "$packages" = "$old" ] && [ "$broke" -eq 0 ]; then
      failed=1
      echo "  the bug was not found"
    elif [ "$packages" = "$new" ] && { [ "$broke" -gt 0 ] || [ "$exercised" -eq 0 ]; }; then
      failed=1
      echo "  expected quiet runs that were exercised"
    fi
  done
}

short=(--strategy aimed --processes 2 --cycles 4 --set fault-window=0s..12s)
known redis-py-554 stuck redis==2.10.6 redis==3.0.1 redis_py_lock.py \
  --fault lost-reply --seeds 0..16 "${short[@]}"
known redis-py-415 foreign-release redis==2.9.1 redis==2.10.0 redis_py_old_lock.py \
  --fault pause --seeds 0..16 "${short[@]}" --set pause=10s..20s
known beaker-164 stuck Beaker==1.10.0,redis==2.10.6 Beaker==1.10.1,redis==2.10.6 \
  beaker_synchronizer.py --fault lost-reply --seeds 0..16 "${short[@]}" \
  --lock-key beaker_lock:orders
known sherlock-66 overlap sherlock==0.4.0,redis==4.5.1 sherlock==0.4.1,redis==4.5.1 \
  sherlock_renew.py --fault none --seeds 0..8 --processes 2 --cycles 4
PYTHON=${PYTHON38:-python3.8} known redbeat-127 lost-update \
  celery-redbeat==1.0.0,celery==4.4.7,redis==3.5.3 \
  celery-redbeat==2.0.0,celery==4.4.7,redis==3.5.3 redbeat_scheduler.py \
  --fault pause --seeds 0..12 "${short[@]}" --hold 2s..6s --set pause=10s..20s
known rq-1914 foreign-release rq==1.14.1,redis==4.5.1 rq==1.15.0,redis==4.5.1 rq_scheduler.py \
  --fault none --seeds 0..8 --processes 2 --cycles 4 --ttl 61s \
  --lock-key rq:scheduler-lock:orders
known rq-2458 foreign-release rq==2.10.0,redis==5.2.1 rq==2.11.0,redis==5.2.1 rq_scheduler.py \
  --fault pause --seeds 0..16 "${short[@]}" --ttl 61s --hold 2s..6s --set pause=65s..90s \
  --lock-key rq:scheduler-lock:orders
known cashews-387 wrong-answer cashews==7.4.3,redis==5.2.1 cashews==7.4.4,redis==5.2.1 \
  cashews_lock.py --fault none --seeds 0..8 --processes 2 --cycles 4
known redis-py-2665 duplicate-number redis==4.5.3 redis==4.5.4 redis_py_cancelled.py \
  --fault storage-delay --seeds 0..16 --strategy aimed --processes 2 --cycles 8 \
  --set fault-window=0s..12s --set storage-delay=500ms..2s --ttl 60s --hold 500ms..2s \
  --workload sequence
known redis-semaphore-175 lost-update redis-semaphore@5.3.0,ioredis@5.3.2 \
  redis-semaphore@5.3.1,ioredis@5.3.2 redis_semaphore.js \
  --fault pause --seeds 0..32 --strategy aimed --processes 2 --cycles 2 \
  --set fault-window=0s..12s --set pause=12s..20s --ttl 3s --hold 2s..6s --lock-key mutex:orders
known python-redis-lock-35 overlap python-redis-lock==2.3.0,redis==2.10.6 \
  python-redis-lock==3.0.0,redis==2.10.6 python_redis_lock.py \
  --fault none --seeds 0..8 --processes 2 --cycles 4 --ttl 3s
exit $failed
