#!/usr/bin/env bash
# Tests the unmodified Python client etcd3gw against `fencepost serve`: the client's own lock, and
# the way in which people lock with it.
#
#   ci/etcd-clients.sh [--real]
#
# With --real, starts an etcd in a temporary folder and tests the client against it, for comparison.
# The etcd is Debian's etcd-server, or the program that ETCD names. Needs python3 with venv.
# Packages from PyPI are kept in .cache/python-etcd, which git ignores. FENCEPOST names the program;
# if it is not set, the script builds the program in the test profile. Prints a line. The exit
# status is 1 if the test failed.
set -euo pipefail
cd "$(dirname "$0")/.."

REAL=
[ "${1:-}" != --real ] || { REAL=1; shift; }
[ $# -eq 0 ] || { echo "unknown argument: $1; --real is known" >&2; exit 2; }
scratch=$(mktemp -d)
SERVER=
trap '[ -z "$SERVER" ] || kill "$SERVER"; rm -rf "$scratch"' EXIT

if [ -n "$REAL" ]; then
  free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
  PORTS=$(free)
  client=http://127.0.0.1:$PORTS peer=http://127.0.0.1:$(free)
  "${ETCD:-etcd}" --data-dir "$scratch/data" --listen-client-urls "$client" --advertise-client-urls "$client" \
    --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "default=$peer" >"$scratch/log" 2>&1 &
  SERVER=$!
else
  if [ -z "${FENCEPOST:-}" ]; then
    cargo build --quiet --locked --profile test -p fencepost
    FENCEPOST=target/debug/fencepost
  fi
  "$FENCEPOST" serve --coordinator etcd --servers 3 --port 0 >"$scratch/ready" &
  SERVER=$!
  until [ -s "$scratch/ready" ]; do kill -0 "$SERVER"; sleep 0.05; done
  PORTS=$(grep -o ':[0-9]*' "$scratch/ready" | tr -d ':' | tr '\n' ' ')
fi

folder=.cache/python-etcd
[ -d "$folder" ] || python3 -m venv "$folder"
"$folder/bin/pip" install -q etcd3gw==2.7.0
# shellcheck disable=SC2086
if "$folder/bin/python" ci/etcd-locks.py $PORTS; then echo "python: passed"; else echo "python: failed"; exit 1; fi
