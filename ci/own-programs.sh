#!/usr/bin/env bash
# Installs what the workers of examples/programs need, in versions that are pinned, then runs them
# all, as the lock under test: each run twice, under eight families of faults.
#
#   ci/own-programs.sh                    # the tests, and a row of results for each worker
#   ci/own-programs.sh SEEDS [NAME...]    # so many seeds of each worker, or of these
#   ci/own-programs.sh speed [NAME...]    # what a run of each costs
#
# Wants python3 with pip, node with npm, cargo, and apt-get for Go with redigo, a JDK and Ruby; what
# cannot be installed is skipped by its test, with a line. redsync is built where the source of
# version 4.13.0 is, in $FOLDER/go/src/github.com/go-redsync/redsync/v4. Nothing is installed
# outside of $FOLDER but what apt-get installs. FENCEPOST names the program; without it, it is
# built.
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
for package in golang golang-github-gomodule-redigo-dev golang-github-hashicorp-go-multierror-dev \
  default-jdk-headless redis-tools ruby ruby-redis; do
  dpkg -s "$package" >/dev/null 2>&1 || "${as_root[@]}" apt-get install -y -q "$package" \
    || echo "$package could not be installed" >&2
done
[ -d "$FOLDER/python" ] || python3 -m venv "$FOLDER/python"
"$FOLDER/python/bin/pip" install -q redis==8.1.0 python-redis-lock==4.0.1 redlock-py==1.0.8 \
  pottery==3.0.1 dramatiq==2.2.1
# Its own: it brings a parser that redis-py would use, too.
[ -d "$FOLDER/aioredlock" ] || python3 -m venv "$FOLDER/aioredlock"
"$FOLDER/aioredlock/bin/pip" install -q aioredlock==0.7.3
npm install --silent --no-audit --no-fund --prefix "$FOLDER" ioredis@5.11.1 \
  redis-semaphore@5.8.0 redlock4@npm:redlock@4.2.0 redlock5@npm:redlock@5.0.0-beta.2

examples=examples/programs
cc -O2 -w -static -o "$FOLDER/bin/plain-c" $examples/plain.c
rustc --edition 2021 -O -o "$FOLDER/bin/plain-rust" $examples/plain.rs
CARGO_TARGET_DIR="$FOLDER/rslock" cargo build --release --locked --quiet \
  --manifest-path $examples/rslock/Cargo.toml
GO111MODULE=off GOPATH=/usr/share/gocode CGO_ENABLED=0 GOCACHE="$FOLDER/cache" \
  go build -o "$FOLDER/bin/redigo" $examples/redigo.go
redsync=$FOLDER/go/src/github.com/go-redsync/redsync/v4
if [ -d "$redsync" ]; then
  GO111MODULE=off GOPATH="$FOLDER/go:/usr/share/gocode" CGO_ENABLED=0 GOCACHE="$FOLDER/cache" \
    go build -o "$FOLDER/bin/redsync" $examples/redsync.go
fi
javac -d "$FOLDER/bin" $examples/Plain.java

if [ $# -eq 0 ]; then
  export PATH="$FOLDER/python/bin:$PATH" NODE_PATH="$FOLDER/node_modules"
  cargo test -p fencepost-programs --locked
  FENCEPOST_PROGRAM_FAULTS=all cargo test -p fencepost --locked --test programs -- --nocapture
fi
python3 ci/own-programs.py "$FENCEPOST" "$FOLDER" "$@"
