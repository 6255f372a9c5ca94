#!/usr/bin/env bash
# Does three tasks of a newcomer, each in an empty folder and with the commands from the
# documentation, and checks that the output has what the newcomer wants to know.
#
#   ci/tasks.sh [failover|picture|program|lock]...
#
# Without an argument, does all tasks except `lock`, which builds fencepost again in a separate
# crate. FENCEPOST names the program; if it is not set, the script builds the program in the test
# profile.
set -euo pipefail
cd "$(dirname "$0")/.."
checkout=$PWD
if [ -z "${FENCEPOST:-}" ]; then
  cargo build --quiet --locked --profile test -p fencepost --bin fencepost
  FENCEPOST=${CARGO_TARGET_DIR:-target}/debug/fencepost
fi
FENCEPOST=$(realpath "$FENCEPOST")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# This folder contains nothing of the checkout. `fencepost` is the installed program.
mkdir "$scratch/bin"
ln -s "$FENCEPOST" "$scratch/bin/fencepost"
PATH=$scratch/bin:$PATH

# Runs a command that must end with this status. Its output is in the file `out`.
ends() {
  local wanted=$1 status=0
  shift
  "$@" >out 2>err || status=$?
  [ "$status" -eq "$wanted" ] && return
  printf '%s: exit status %s, not %s\n' "$*" "$status" "$wanted" >&2
  tail -n 30 out err >&2
  exit 1
}
# Checks that a file contains each text: FILE TEXT...
says() {
  local file=$1 text
  shift
  for text in "$@"; do
    grep -qF -- "$text" "$file" || { printf '%s does not say: %s\n' "$file" "$text" >&2; exit 1; }
  done
}

# "Is my single-node lock safe under a failover?"
failover() {
  ends 1 fencepost --seed 7 --fault failover --client single-node
  says out 'single-node  VIOLATED' 'overlap by split-brain' 'smallest' 'remedies' 'replay'
  ends 1 bash -c "$(sed -n 's/^  replay *//p' out | head -n 1)"
  # The report names the cause. The program explains it, and shows whether a safeguard helps.
  ends 0 fencepost explain split-brain
  ends 1 fencepost sweep --client single-node --fault failover --seeds 0..50 --no-shrink
  says out ' 50     38        12        0  24.00  14.30 to 37.41 '
  ends 0 fencepost sweep --client single-node --fault none --seeds 0..50
  echo "failover: no: overlap by split-brain, with its rate over seeds"
}

# "Bring a picture to a design review."
picture() {
  ends 1 fencepost --seed 7 --fault failover --client single-node --format html
  mv out review.html
  says review.html '<!DOCTYPE html>' '>violated<' 'split-brain' 'fencepost --seed 7 --fault failover'
  if grep -oE '(src|href)="[^"#]+' review.html | grep -v 'data:'; then
    echo "review.html is not alone in the world" >&2
    exit 1
  fi
  ends 1 fencepost --seed 7 --fault failover --client single-node --format svg
  mv out picture.svg
  python3 -c 'import sys, xml.dom.minidom as dom; dom.parse(sys.argv[1])' picture.svg
  ends 1 fencepost --seed 7 --fault failover --client single-node --format markdown
  says out 'split-brain'
  ends 1 fencepost --seed 7 --fault failover --client single-node --format json
  mv out report.json
  ends 1 fencepost replay report.json
  echo "picture: one page of $(wc -c <review.html) bytes, one picture, one text, and the run again"
}

# "Test my own lock in CI every night": a program of any language, with the same commands each
# night.
program() {
  cp "$checkout/examples/programs/plain.c" worker.c
  ends 0 cc -O1 -o worker worker.c
  ends 0 fencepost sweep --program ./worker --fault none --seeds 0..5 --format junit
  says out '<testsuite'
  ends 1 fencepost sweep --program ./worker --fault pause --seeds 0..10 --no-shrink --format github
  says out '::error'
  # The known results are written to a file once. From then on, CI reports only deviations from it.
  printf '[worker]\nnone = "safe"\npause = "violates"\n' >known.toml
  ends 0 fencepost sweep --program worker=./worker --fault none,pause --seeds 0..10 --no-shrink \
    --expect known.toml
  echo "program: green without faults, red under pauses, green once what is known is written down"
}

# The same task for a lock in Rust, from a separate crate.
lock() {
  mkdir -p own/src own/tests
  cp "$checkout/recipes/own-lock/Cargo.toml" own/Cargo.toml
  sed -i "s|path = \"[^\"]*\"|path = \"$checkout/sim\"|" own/Cargo.toml
  : >own/src/lib.rs
  cp "$checkout/sim/examples/your_lock.rs" own/tests/your_lock.rs
  cp "$checkout/Cargo.lock" own/Cargo.lock
  cd own
  export CARGO_TARGET_DIR=${OWN_TARGET:-$scratch/target}
  ends 0 cargo test
  says out 'test result: ok. 4 passed'
  # At night, runs other seeds and more of them.
  FENCEPOST_SEEDS=5000..5300 ends 0 cargo test it_excludes
  # The test must find a mistake: the ttl is passed in seconds as if they were milliseconds.
  sed -i 's/settings.ttl.as_millis()/settings.ttl.as_secs()/' tests/your_lock.rs
  ends 101 cargo test it_excludes
  says out 'replay: FENCEPOST_SEED='
  echo "lock: its tests pass, other seeds too, and a mistake turns them red"
}

[ $# -gt 0 ] || set -- failover picture program
for task in "$@"; do
  case $task in
    failover|picture|program|lock) ;;
    *) echo "unknown task: $task; failover, picture, program and lock are known" >&2; exit 2 ;;
  esac
  mkdir "$scratch/$task"
  (cd "$scratch/$task" && "$task")
done
