#!/usr/bin/env bash
# Runs Redis's own test suite (Debian's source package of 7.0.15) against `fencepost serve`, with a
# new server for each file.
#
#   ci/redis-tcl-tests.sh [--real] [UNIT...]
#
# With --real, runs the suite against redis-server instead, for comparison. The suite is fetched
# once into .cache/, which git ignores, and is never committed. Needs tclsh. To fetch the suite, it
# needs root, apt and a deb-src entry, which it writes to a separate file. Prints a line for each
# file, `unit passed failed skipped`, and writes the whole output to .cache/redis-tcl/. The exit
# status is 1 if a test failed that ci/redis-tcl-known.txt does not name.
set -euo pipefail
cd "$(dirname "$0")/.."

SUITE=$PWD/.cache/redis-source/redis-7.0.15
OUTPUT=$PWD/.cache/redis-tcl
SKIP=$PWD/ci/redis-tcl-skip.txt
KNOWN=$PWD/ci/redis-tcl-known.txt
FILE_SECONDS_MAX=${FILE_SECONDS_MAX:-120}
UNITS=(unit/type/string unit/type/incr unit/type/hash unit/expire unit/keyspace unit/scan unit/multi unit/pubsub unit/scripting
  unit/protocol unit/pause unit/type/list unit/type/zset)

fetch_suite() {
  [ -d "$SUITE" ] && return
  # Adds the source packages of the archives that apt already uses.
  local lists=/etc/apt/sources.list.d
  sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >$lists/fencepost-redis-source.list 2>/dev/null || true
  sed 's/^Types:.*/Types: deb-src/' $lists/debian.sources >$lists/fencepost-redis-source.sources 2>/dev/null || true
  apt-get update -q
  apt-get install -y -q dpkg-dev tclsh || apt-get install -y -q dpkg-dev tcl
  mkdir -p "$(dirname "$SUITE")"
  (cd "$(dirname "$SUITE")" && apt-get source -q redis)
}

# unit/scripting runs every test twice, with FUNCTION LOAD and with EVAL. `fencepost serve` does not
# support functions, and the first of them would end the file early.
leave_out_functions() {
  sed -i 's/^foreach is_eval {0 1}/foreach is_eval {1}/' "$SUITE/tests/unit/scripting.tcl"
}

# Starts a server. Sets SERVER to its process and PORT to its port.
start_server() {
  local ready
  if [ "$REAL" = yes ]; then
    PORT=$((20000 + RANDOM % 10000))
    redis-server --port "$PORT" --save '' --appendonly no --enable-debug-command yes >"$OUTPUT/server.log" 2>&1 &
    SERVER=$!
    for _ in $(seq 100); do redis-cli -p "$PORT" ping >/dev/null 2>&1 && return; sleep 0.05; done
    return 1
  fi
  : >"$OUTPUT/ready"
  "$FENCEPOST" serve --port 0 >"$OUTPUT/ready" 2>"$OUTPUT/server.log" &
  SERVER=$!
  for _ in $(seq 100); do
    ready=$(cat "$OUTPUT/ready")
    [ -n "$ready" ] && break
    sleep 0.05
  done
  PORT=${ready##*:}
}

stop_server() {
  kill "$SERVER" 2>/dev/null || true
  wait "$SERVER" 2>/dev/null || true
}

run_unit() {
  local unit=$1 log
  log=$OUTPUT/${unit//\//-}.log
  start_server
  (cd "$SUITE" && timeout "$FILE_SECONDS_MAX" tclsh tests/test_helper.tcl --host 127.0.0.1 --port "$PORT" --single "$unit" --durable \
    --tags "-slow -needs:debug -needs:repl -needs:save -needs:reset" --ignore-encoding --ignore-digest --skipfile "$SKIP") >"$log" 2>&1 || true
  stop_server
  sed -i 's/\x1b\[[0-9;]*m//g' "$log"
  grep -oE '^\[(err|exception)\]: .*' "$log" | sed -E 's/ in tests\/.*//; s/^\[[a-z]+\]: //' | sort -u >>"$OUTPUT/failed.txt" || true
  printf '%-18s %4d passed %3d failed %3d skipped%s\n' "$unit" "$(grep -c '^\[ok\]' "$log")" "$(grep -cE '^\[(err|exception)\]' "$log")" \
    "$(grep -cE '^\[(ignore|skip)' "$log")" "$(grep -q 'All tests passed\|The End' "$log" && echo || echo '  (did not end)')"
}

REAL=no
if [ "${1:-}" = --real ]; then REAL=yes; shift; fi
[ $# -gt 0 ] && UNITS=("$@")
fetch_suite
leave_out_functions
mkdir -p "$OUTPUT"
: >"$OUTPUT/failed.txt"
if [ "$REAL" = no ]; then
  FENCEPOST=${FENCEPOST:-target/debug/fencepost}
  [ -x "$FENCEPOST" ] || cargo build --locked
fi
trap stop_server EXIT
for unit in "${UNITS[@]}"; do run_unit "$unit"; done
trap - EXIT
new=$(grep -vxFf "$KNOWN" "$OUTPUT/failed.txt" || true)
if [ -n "$new" ]; then printf 'failed, and not known:\n%s\n' "$new"; exit 1; fi
