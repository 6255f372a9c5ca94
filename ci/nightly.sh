#!/usr/bin/env bash
# What takes hours: each fuzz target for an hour (or SECONDS), generated scripts beside a real
# redis-server, property tests with cases that .ci/run never draws, every mutant that is killed once
# more, a sample of every certificate, a stranger's crate that tests its own lock, and one new thing
# of each sort in a copy of this checkout. Says what it found; exit status 1 if that is anything.
# What crashed a target is in fuzz/found/crash-*; `fuzz/run.sh minimise` adds what reached something
# new to the corpora.
#   ci/nightly.sh [SECONDS [SCRIPTS]]
set -uo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-3600}
scripts=${2:-100000}
failed=0
echo "on $(git rev-parse --short HEAD), $(date -u +%FT%TZ), $seconds s for each target"
nice -n 15 fuzz/run.sh replay || failed=1
nice -n 15 fuzz/run.sh fuzz "$seconds" || failed=1
nice -n 15 fuzz/run.sh beside "$scripts" "$(date +%s)" || failed=1
PROPTEST_CASES=20000 nice -n 15 cargo test --quiet --workspace --lib --locked || failed=1
nice -n 15 cargo test --quiet --locked -p fencepost-postgresql -p fencepost-mysql --lib \
  -- --ignored many_drawn_statements || failed=1
cargo build --quiet --release --locked -p fencepost --bin fencepost --example mutants || failed=1
release=${CARGO_TARGET_DIR:-target}/release
nice -n 15 "$release/examples/mutants" check docs/data/mutants.tsv || failed=1
for certificate in docs/data/certificates/*.json; do
  nice -n 15 "$release/fencepost" explore --check "$certificate" --quiet || failed=1
done
nice -n 15 ci/tasks.sh failover picture program lock || failed=1
nice -n 15 ci/one-of-each.sh || failed=1
reports=$(mktemp -d)
for seed in $(shuf -i 1-1000000000 -n 4); do
  for fault in failover restart eviction clock-jump partition lost-reply operator pause all; do
    nice -n 15 "$release/fencepost" run --seed "$seed" --fault "$fault" --client all --engine fast \
      --no-shrink --availability --format json --with-history >"$reports/$seed-$fault.json"
    [ $? -le 1 ] || failed=1
  done
done
ci/independent-judge.py "$reports"/*.json || failed=1
rm -r "$reports"
found=$(find fuzz/found -name 'crash-*' -type f)
if [ -n "$found" ]; then
  failed=1
  printf 'crashes:\n%s\n' "$found"
fi
[ "$failed" -eq 0 ] && echo "nothing was found"
exit "$failed"
