#!/usr/bin/env bash
# Runs what takes hours: the long tests, the fuzz targets, the published matrix, mutants and
# certificates, the pages in a browser, and the tasks of newcomers. Exits with status 1 if anything
# failed.
#   ci/nightly.sh [SECONDS [SCRIPTS]]   SECONDS for each fuzz target (3600), SCRIPTS to compare
#                                       with a real redis-server (100000)
# Crashes are in fuzz/found/crash-*; `fuzz/run.sh minimise` adds new inputs to the corpora.
set -uo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-3600}
scripts=${2:-100000}
failed=0
check() {
  printf '\n== %s s: %s\n' "$SECONDS" "$*"
  nice -n 15 "$@" || { failed=1; echo "FAILED: $*"; }
}
echo "on $(git rev-parse --short HEAD), $(date -u +%FT%TZ), $seconds s for each fuzz target"
check ci/install.sh servers browser fuzzing deny
# Geode's libraries are in Maven Central, which may be unreachable.
if ci/install.sh geode; then
  export FENCEPOST_REAL_GEMFIRE=1
else
  echo "real GemFire members were not compared: their libraries cannot be had"
fi

check cargo deny --locked check bans licenses sources
# The database of advisories is a git repository, which may be unreachable.
if git ls-remote -q https://github.com/RustSec/advisory-db >/dev/null 2>&1; then
  check cargo deny --locked check advisories
else
  echo "advisories were not checked: their database cannot be reached"
fi

# Two tests are skipped. The first fails on purpose and is run by another test. The second takes
# minutes.
export FENCEPOST_REAL_REDIS=1 FENCEPOST_REAL_MEMCACHED=1 FENCEPOST_REAL_POSTGRESQL=1
export FENCEPOST_REAL_MYSQL=1 FENCEPOST_REAL_ETCD=1 FENCEPOST_REAL_ZOOKEEPER=1 FENCEPOST_REAL_BEANSTALKD=1
check cargo test --workspace --locked -- --ignored --skip fails_under_pauses \
  --skip more_time_makes_no_shorter_way_with_5_masters
FENCEPOST_PROGRAMS=all check cargo test -p fencepost --locked --test programs
PROPTEST_CASES=20000 check cargo test --quiet --workspace --lib --locked

check fuzz/run.sh replay
check fuzz/run.sh fuzz "$seconds"
check fuzz/run.sh beside "$scripts" "$(date +%s)"
check ci/digests.sh

check cargo build --quiet --release --locked -p fencepost --bin fencepost --example mutants
release=$(realpath "${CARGO_TARGET_DIR:-target}/release")
export FENCEPOST=$release/fencepost
check ci/redis-tcl-tests.sh
check "$release/examples/mutants" check docs/data/mutants.tsv
check "$FENCEPOST" matrix --check docs/data/matrix.json --seeds 0..2 --quiet
for certificate in docs/data/certificates/*.json; do
  check "$FENCEPOST" explore --check "$certificate" --quiet
done
reality=$(mktemp)
"$FENCEPOST" reality --gallery --format markdown >"$reality"
check diff docs/reality.md "$reality"
rm "$reality"
check ci/sources.py
check ci/which-lock.py
reports=$(mktemp -d)
for seed in $(shuf -i 1-1000000000 -n 4); do
  for fault in failover restart eviction clock-jump partition lost-reply operator pause all; do
    nice -n 15 "$FENCEPOST" run --seed "$seed" --fault "$fault" --client all --engine fast \
      --no-shrink --availability --format json --with-history >"$reports/$seed-$fault.json"
    [ $? -le 1 ] || failed=1
  done
done
check ci/independent-judge.py "$reports"/*.json
rm -r "$reports"
if command -v go >/dev/null; then
  check ci/porcupine.sh
else
  echo "runs were not judged with Porcupine: go is not installed"
fi
FENCEPOST_BROWSER=1 check sim/tests/browser/run.sh
check ci/packages.sh target/packages
check ci/walks.sh target/packages
check env -u FENCEPOST ci/release.sh target/release-files
check ci/action.sh "$FENCEPOST"
check ci/slurm.sh "$FENCEPOST"
check ci/kubernetes.sh "$FENCEPOST"
check cargo publish --dry-run --workspace --locked
check ci/oldest-rust.sh
# On platforms that this machine cannot run, checks only the types.
for target in x86_64-pc-windows-gnu aarch64-apple-darwin; do
  if [ -d "$(rustc --print target-libdir --target "$target")" ]; then
    check cargo check --package fencepost --locked --target "$target"
  else
    echo "$target was not checked: it is not installed"
  fi
done
check ci/tasks.sh failover picture program lock
check ci/one-of-each.sh

crashes=$(find fuzz/found -name 'crash-*' -type f 2>/dev/null)
[ -z "$crashes" ] || { failed=1; printf 'crashes:\n%s\n' "$crashes"; }
[ "$failed" -eq 0 ] && echo "nothing was found"
exit "$failed"
