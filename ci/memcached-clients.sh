#!/usr/bin/env bash
# Tests unmodified memcached clients of Python and Node against `fencepost serve`, in the ways in
# which people lock with them.
#
#   ci/memcached-clients.sh [--real] [python|node...]
#
# With --real, tests them against memcached instead, for comparison. Without languages, tests both.
# Needs python3 with venv and node with npm. Packages from the registries are kept in folders that
# git ignores (.cache/python-memcached, ci/node-memcached/node_modules). FENCEPOST names the
# program; if it is not set, the script builds the program in the test profile. Prints a line for
# each language. The exit status is 1 if a test failed.
set -euo pipefail
cd "$(dirname "$0")/.."

REAL=
[ "${1:-}" != --real ] || { REAL=1; shift; }
[ $# -gt 0 ] || set -- python node
for language in "$@"; do
  case $language in
    python | node) ;;
    *) echo "unknown language: $language; python and node are known" >&2; exit 2 ;;
  esac
done
scratch=$(mktemp -d)
SERVER=
trap '[ -z "$SERVER" ] || kill "$SERVER"; rm -rf "$scratch"' EXIT

if [ -n "$REAL" ]; then
  PORT=${PORT:-21211}
  memcached -l 127.0.0.1 -p "$PORT" -u nobody &
  SERVER=$!
else
  if [ -z "${FENCEPOST:-}" ]; then
    cargo build --quiet --locked --profile test -p fencepost
    FENCEPOST=target/debug/fencepost
  fi
  "$FENCEPOST" serve --coordinator memcached --port 0 >"$scratch/ready" &
  SERVER=$!
  until [ -s "$scratch/ready" ]; do kill -0 "$SERVER"; sleep 0.05; done
  PORT=$(sed 's/.*://' "$scratch/ready")
fi
until (exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2>/dev/null; do kill -0 "$SERVER"; sleep 0.05; done

python() {
  local folder=.cache/python-memcached
  [ -d "$folder" ] || python3 -m venv "$folder"
  "$folder/bin/pip" install -q pymemcache==4.0.0
  "$folder/bin/python" ci/memcached-locks.py "$PORT"
}
node() {
  (cd ci/node-memcached && npm install --silent --no-audit --no-fund --no-package-lock)
  command node ci/node-memcached/locks.js "$PORT"
}

status=0
for language in "$@"; do
  if "$language"; then echo "$language: passed"; else echo "$language: failed"; status=1; fi
done
exit "$status"
