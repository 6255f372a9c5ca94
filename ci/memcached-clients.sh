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
. ci/clients.sh
arguments "--real python node" "$@"

if [ -n "$REAL" ]; then
  PORT=${PORT:-21211}
  memcached -l 127.0.0.1 -p "$PORT" -u nobody &
  SERVERS+=($!)
  until (exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2>/dev/null; do kill -0 "${SERVERS[@]}"; sleep 0.05; done
else
  serve --coordinator memcached
fi

use_python() { in_python memcached pymemcache==4.0.0 -- ci/memcached-locks.py "$PORT"; }
use_node() { in_node ci/node-memcached "$PORT"; }

for language in "${languages[@]}"; do check "$language"; done
exit "$failed"
