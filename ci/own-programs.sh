#!/usr/bin/env bash
# Installs what the workers of examples/programs need, then runs them all, as the lock under test.
#
#   ci/own-programs.sh
#
# Wants python3 with pip, node with npm, and apt-get for Go with redigo and a JDK; what cannot be
# installed is skipped by its test, with a line. Nothing is installed outside of $FOLDER but what
# apt-get installs.
set -euo pipefail
cd "$(dirname "$0")/.."
FOLDER=${FOLDER:-target/own-programs}
mkdir -p "$FOLDER"
FOLDER=$(cd "$FOLDER" && pwd)

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
for package in golang golang-github-gomodule-redigo-dev default-jdk-headless redis-tools; do
  dpkg -s "$package" >/dev/null 2>&1 || "${as_root[@]}" apt-get install -y -q "$package" \
    || echo "$package could not be installed" >&2
done
[ -d "$FOLDER/python" ] || python3 -m venv "$FOLDER/python"
"$FOLDER/python/bin/pip" install -q redis==8.1.0
npm install --silent --no-audit --no-fund --prefix "$FOLDER" ioredis@5.11.1

export PATH="$FOLDER/python/bin:$PATH" NODE_PATH="$FOLDER/node_modules"
cargo test -p fencepost-programs --locked
FENCEPOST_PROGRAM_FAULTS=all cargo test -p fencepost --locked --test programs -- --nocapture "$@"
