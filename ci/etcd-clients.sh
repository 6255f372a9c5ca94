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
. ci/clients.sh
arguments "--real python" "$@"

if [ -n "$REAL" ]; then
  HOSTS=("127.0.0.1:$(free_port)")
  client=http://${HOSTS[0]} peer=http://127.0.0.1:$(free_port)
  "${ETCD:-etcd}" --data-dir "$scratch/data" --listen-client-urls "$client" --advertise-client-urls "$client" \
    --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "default=$peer" >"$scratch/log" 2>&1 &
  SERVERS+=($!)
else
  serve --coordinator etcd --servers 3
fi

use_python() { in_python etcd etcd3gw==2.7.0 -- ci/etcd-locks.py "${HOSTS[@]##*:}"; }

for language in "${languages[@]}"; do check "$language"; done
exit "$failed"
