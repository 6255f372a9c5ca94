#!/usr/bin/env bash
# Tests an unmodified MySQL client of Python (PyMySQL) against `fencepost serve`, in the ways in
# which people lock with it.
#
#   ci/mysql-clients.sh [--real]
#
# With --real, starts a MariaDB in a temporary folder and tests the client against it, for
# comparison (Debian's mariadb-server). Needs python3 with venv. Packages from PyPI are kept in
# .cache/python-mysql, which git ignores. FENCEPOST names the program; if it is not set, the script
# builds the program in the test profile. Prints a line. The exit status is 1 if the test failed.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/clients.sh
arguments "--real python" "$@"

if [ -n "$REAL" ]; then
  PATH=$PATH:/usr/sbin
  PORT=$(free_port)
  # MariaDB refuses to run as root.
  as=()
  [ "$(id -u)" -ne 0 ] || { chown nobody "$scratch"; as=(setpriv --reuid=nobody --regid=nogroup --clear-groups); }
  options=(--no-defaults "--datadir=$scratch/data")
  "${as[@]}" mariadb-install-db "${options[@]}" --auth-root-authentication-method=normal --skip-test-db >"$scratch/made" 2>&1
  "${as[@]}" mariadbd "${options[@]}" "--socket=$scratch/socket" "--port=$PORT" --bind-address=127.0.0.1 \
    --character-set-server=utf8mb4 >"$scratch/log" 2>&1 &
  SERVERS+=($!)
  until grep -q "ready for connections" "$scratch/log"; do kill -0 "${SERVERS[@]}"; sleep 0.05; done
else
  serve --coordinator mysql
fi

use_python() { in_python mysql pymysql==1.2.4 -- ci/mysql-locks.py "$PORT"; }

for language in "${languages[@]}"; do check "$language"; done
exit "$failed"
