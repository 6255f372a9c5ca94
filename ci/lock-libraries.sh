#!/usr/bin/env bash
# Tests unmodified lock libraries of Python, Node and Rust from their registries against five
# servers of `fencepost serve`.
#
#   ci/lock-libraries.sh [python|node|rust...]
#
# Without arguments, tests all three languages. Needs python3 with venv, node with npm, and cargo.
# Packages from the registries are kept in folders that git ignores (.cache/python-locks,
# ci/node-locks/node_modules, ci/rust-locks/target). FENCEPOST names the program; if it is not set,
# the script builds the program in the test profile. Prints a line for each language. The exit
# status is 1 if a test failed.
set -euo pipefail
cd "$(dirname "$0")/.."

SERVERS=5
[ $# -gt 0 ] || set -- python node rust
for language in "$@"; do
  case $language in
    python | node | rust) ;;
    *) echo "unknown language: $language; python, node and rust are known" >&2; exit 2 ;;
  esac
done
if [ -z "${FENCEPOST:-}" ]; then
  cargo build --quiet --locked --profile test -p fencepost
  FENCEPOST=target/debug/fencepost
fi
scratch=$(mktemp -d)
SERVER=
stop_servers() {
  [ -z "$SERVER" ] || { kill "$SERVER" 2>/dev/null && wait "$SERVER"; } || true
  SERVER=
}
trap 'stop_servers; rm -rf "$scratch"' EXIT

# Starts five servers at consecutive free ports. Sets SERVER to their process and PORT to the first
# port.
start_servers() {
  for _ in $(seq 20); do
    PORT=$((20000 + RANDOM % 10000))
    : >"$scratch/ready"
    "$FENCEPOST" serve --port "$PORT" --nodes "$SERVERS" >"$scratch/ready" 2>"$scratch/server.log" &
    SERVER=$!
    for _ in $(seq 100); do
      [ "$(wc -l <"$scratch/ready")" -ge 1 ] && return
      kill -0 "$SERVER" 2>/dev/null || break
      sleep 0.05
    done
    stop_servers
  done
  cat "$scratch/server.log" >&2
  echo "no five free ports in a row were found" >&2
  return 1
}

use_python() {
  local folder=.cache/python-locks
  [ -x "$folder/bin/python" ] || python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check redis python-redis-lock redlock-py pottery
  "$folder/bin/python" ci/python-locks.py "$PORT"
}

use_node() {
  (cd ci/node-locks && npm install --silent --no-audit --no-fund --no-package-lock && node locks.js "$PORT")
}

use_rust() {
  cargo run --quiet --manifest-path ci/rust-locks/Cargo.toml -- "$PORT"
}

failed=0
for language in "$@"; do
  start_servers
  if "use_$language"; then echo "$language: passed"; else echo "$language: FAILED"; failed=1; fi
  stop_servers
done
exit "$failed"
