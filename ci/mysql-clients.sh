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

REAL=
[ "${1:-}" != --real ] || { REAL=1; shift; }
[ $# -eq 0 ] || { echo "unknown argument: $1; --real is known" >&2; exit 2; }
scratch=$(mktemp -d)
SERVER=
trap '[ -z "$SERVER" ] || { kill "$SERVER"; wait "$SERVER" || true; }; rm -rf "$scratch"' EXIT

if [ -n "$REAL" ]; then
  PATH=$PATH:/usr/sbin
  PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  # MariaDB refuses to run as root.
  as=()
  [ "$(id -u)" -ne 0 ] || { chown nobody "$scratch"; as=(setpriv --reuid=nobody --regid=nogroup --clear-groups); }
  options=(--no-defaults "--datadir=$scratch/data")
  "${as[@]}" mariadb-install-db "${options[@]}" --auth-root-authentication-method=normal --skip-test-db >"$scratch/made" 2>&1
  "${as[@]}" mariadbd "${options[@]}" "--socket=$scratch/socket" "--port=$PORT" --bind-address=127.0.0.1 \
    --character-set-server=utf8mb4 >"$scratch/log" 2>&1 &
  SERVER=$!
  until grep -q "ready for connections" "$scratch/log"; do kill -0 "$SERVER"; sleep 0.05; done
else
  if [ -z "${FENCEPOST:-}" ]; then
    cargo build --quiet --locked --profile test -p fencepost
    FENCEPOST=target/debug/fencepost
  fi
  "$FENCEPOST" serve --coordinator mysql --port 0 >"$scratch/ready" &
  SERVER=$!
  until [ -s "$scratch/ready" ]; do kill -0 "$SERVER"; sleep 0.05; done
  PORT=$(sed 's/.*://' "$scratch/ready")
fi

folder=.cache/python-mysql
[ -d "$folder" ] || python3 -m venv "$folder"
"$folder/bin/pip" install -q pymysql==1.2.4
if "$folder/bin/python" ci/mysql-locks.py "$PORT"; then echo "python: passed"; else echo "python: failed"; exit 1; fi
