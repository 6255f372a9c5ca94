#!/usr/bin/env bash
# Installs what the workers of examples/programs need, in versions that are pinned, then runs them
# all, as the lock under test: each run twice, under eight families of faults.
#
#   ci/own-programs.sh                    # the tests, and a row of results for each worker
#   ci/own-programs.sh SEEDS [NAME...]    # so many seeds of each worker, or of these
#   ci/own-programs.sh speed [NAME...]    # what a run of each costs
#
# Wants python3 with pip, node with npm, cargo, and apt-get for Go with redigo and a JDK; what cannot
# be installed is skipped by its test, with a line. Nothing is installed outside of $FOLDER but what
# apt-get installs. FENCEPOST names the program; without it, it is built.
set -euo pipefail
cd "$(dirname "$0")/.."
FOLDER=${FOLDER:-target/own-programs}
mkdir -p "$FOLDER/bin"
FOLDER=$(cd "$FOLDER" && pwd)
if [ -z "${FENCEPOST:-}" ]; then
  cargo build --release --locked --quiet -p fencepost --bin fencepost
  FENCEPOST=$PWD/target/release/fencepost
fi

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
for package in golang golang-github-gomodule-redigo-dev default-jdk-headless redis-tools; do
  dpkg -s "$package" >/dev/null 2>&1 || "${as_root[@]}" apt-get install -y -q "$package" \
    || echo "$package could not be installed" >&2
done
[ -d "$FOLDER/python" ] || python3 -m venv "$FOLDER/python"
"$FOLDER/python/bin/pip" install -q redis==8.1.0 python-redis-lock==4.0.1 redlock-py==1.0.8 \
  pottery==3.0.1
npm install --silent --no-audit --no-fund --prefix "$FOLDER" ioredis@5.11.1 \
  redis-semaphore@5.8.0 redlock4@npm:redlock@4.2.0 redlock5@npm:redlock@5.0.0-beta.2

examples=examples/programs
cc -O2 -w -static -o "$FOLDER/bin/plain-c" $examples/plain.c
rustc --edition 2021 -O -o "$FOLDER/bin/plain-rust" $examples/plain.rs
CARGO_TARGET_DIR="$FOLDER/rslock" cargo build --release --locked --quiet \
  --manifest-path $examples/rslock/Cargo.toml
GO111MODULE=off GOPATH=/usr/share/gocode CGO_ENABLED=0 GOCACHE="$FOLDER/cache" \
  go build -o "$FOLDER/bin/redigo" $examples/redigo.go
javac -d "$FOLDER/bin" $examples/Plain.java

if [ $# -eq 0 ]; then
  export PATH="$FOLDER/python/bin:$PATH" NODE_PATH="$FOLDER/node_modules"
  cargo test -p fencepost-programs --locked
  FENCEPOST_PROGRAM_FAULTS=all cargo test -p fencepost --locked --test programs -- --nocapture
fi
python3 ci/own-programs.py "$FENCEPOST" "$FOLDER" "$@"
