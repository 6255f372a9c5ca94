#!/usr/bin/env bash
# Uses an unmodified etcd client of Python (etcd3gw), with its lock and the way in which people lock
# with it, against `fencepost serve`.
#
#   ci/etcd-clients.sh [--real]
#
# --real runs it against an etcd that it starts in a temporary folder, for comparison (Debian's
# etcd-server; ETCD names another program). Wants python3 with venv; what PyPI gives is kept in a
# folder that git ignores (.cache/python-etcd). FENCEPOST names the program; without it, it is built
# in the test profile. Prints a line; exit status 1 if it failed.
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
