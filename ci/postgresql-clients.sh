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
. ci/clients.sh
arguments "--real python node" "$@"

if [ -n "$REAL" ]; then
  PORT=${PORT:-5432}
else
  serve --coordinator postgresql
fi

use_python() { in_python postgresql pg8000==1.31.2 -- ci/postgresql-locks.py "$PORT"; }
use_node() { in_node ci/node-postgresql "$PORT"; }

for language in "${languages[@]}"; do check "$language"; done
exit "$failed"
