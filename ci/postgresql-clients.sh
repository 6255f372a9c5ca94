#!/usr/bin/env bash
# Tests unmodified PostgreSQL clients of Python and Node against `fencepost serve`, in the ways in
# which people lock with them.
#
#   ci/postgresql-clients.sh [--real] [python|node...]
#
# With --real, tests them for comparison against the PostgreSQL that listens on 127.0.0.1 at PORT
# (5432) and trusts the user postgres. Without languages, tests both. Needs python3 with venv and
# node with npm. Packages from the registries are kept in folders that git ignores
# (.cache/python-postgresql, ci/node-postgresql/node_modules). FENCEPOST names the program; if it is
# not set, the script builds the program in the test profile. Prints a line for each language. The
# exit status is 1 if a test failed.
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
  PORT=${PORT:-5432}
else
  if [ -z "${FENCEPOST:-}" ]; then
    cargo build --quiet --locked --profile test -p fencepost
    FENCEPOST=target/debug/fencepost
  fi
  "$FENCEPOST" serve --coordinator postgresql --port 0 >"$scratch/ready" &
  SERVER=$!
  until [ -s "$scratch/ready" ]; do kill -0 "$SERVER"; sleep 0.05; done
  PORT=$(sed 's/.*://' "$scratch/ready")
fi

python() {
  local folder=.cache/python-postgresql
  [ -d "$folder" ] || python3 -m venv "$folder"
  "$folder/bin/pip" install -q pg8000==1.31.2
  "$folder/bin/python" ci/postgresql-locks.py "$PORT"
}
node() {
  (cd ci/node-postgresql && npm install --silent --no-audit --no-fund --no-package-lock)
  command node ci/node-postgresql/locks.js "$PORT"
}

status=0
for language in "$@"; do
  if "$language"; then echo "$language: passed"; else echo "$language: failed"; status=1; fi
done
exit "$status"
