#!/usr/bin/env bash
# Builds the fuzz targets and runs them. Needs only the stable compiler and a C++ compiler.
#   fuzz/run.sh build                      prints the folder of the programs
#   fuzz/run.sh replay                     runs every input of the corpora once
#   fuzz/run.sh fuzz SECONDS [TARGET...]   runs each target for SECONDS, two targets at a time; new
#                                          inputs are in fuzz/found; another run with the same
#                                          FUZZ_SEED=N and the same inputs draws the same
#   fuzz/run.sh minimise [TARGET...]       reduces the corpora and the found inputs to as few inputs
#                                          as possible with the same coverage
#   fuzz/run.sh beside COUNT [SEED]        compares generated scripts with a real redis-server
set -euo pipefail
cd "$(dirname "$0")"
mode=${1:?build, replay, fuzz, minimise or beside}
shift
all=(protocol commands scripts rdb aof psync hello memcached zookeeper mysql postgresql etcd chubby gemfire scenario plan history report)
host=x86_64-unknown-linux-gnu
# A separate folder, so that other builds need not wait.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/../target}/fuzzing
out=$CARGO_TARGET_DIR/$host/fuzz

# Every compiler accepts the flags for coverage. The flag for the address sanitizer is unstable.
# SANITIZE_RUST=1 makes a stable compiler accept it.
export CARGO_INCREMENTAL=0
flags=(--cfg fuzzing -Cpasses=sancov-module)
for flag in level=3 inline-8bit-counters pc-table; do flags+=("-Cllvm-args=-sanitizer-coverage-$flag"); done
if [ -n "${SANITIZE_RUST:-}" ]; then
  export RUSTC_BOOTSTRAP=1
  flags+=(-Zsanitizer=address)
fi
export RUSTFLAGS="${flags[*]}"
# Leaks are not detected, because a thread keeps its Lua state until it ends.
export ASAN_OPTIONS=detect_leaks=0:detect_odr_violation=0:abort_on_error=1
cargo build --quiet --locked --profile fuzz --features libfuzzer --target "$host" --bins

# Runs a target. Each line of the output names the target.
run() {
  local target=$1
  shift
  FUZZ_TARGET=$target "$out/fuzz" -rss_limit_mb=4096 -timeout=60 -print_final_stats=0 -verbosity="${VERBOSITY:-0}" \
    -artifact_prefix="found/crash-$target-" "$@" 2>&1 | sed "s/^/$target: /"
}
# Runs a command for each target, two targets at a time.
each() {
  local failed=0 running=()
  for target in "${targets[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do sleep 0.2; done
    "$@" "$target" & running+=($!)
  done
  for pid in "${running[@]}"; do wait "$pid" || failed=1; done
  return "$failed"
}
replay() { run "$1" -runs=0 "corpus/$1" && echo "$1: $(find "corpus/$1" -type f | wc -l) inputs, no failure"; }
fuzz() {
  mkdir -p "found/$1"
  run "$1" -seed="${FUZZ_SEED:-0}" -max_total_time="$seconds" -max_len="${MAX_LEN:-16384}" -len_control=20 "found/$1" "corpus/$1" \
    && echo "$1: $seconds s, no failure, $(find "found/$1" -type f | wc -l) inputs reach something new"
}
minimise() {
  mkdir -p "found/$1" "least/$1"
  run "$1" -merge=1 "least/$1" "corpus/$1" "found/$1"
  rm -r "corpus/$1" "found/$1" && mv "least/$1" "corpus/$1"
  echo "$1: $(find "corpus/$1" -type f | wc -l) inputs"
}
beside() {
  local folder server port=7901 status=0
  folder=$(mktemp -d)
  redis-server --port "$port" --bind 127.0.0.1 --save '' --dir "$folder" >"$folder/log" & server=$!
  until redis-cli -p "$port" ping >/dev/null 2>&1; do sleep 0.1; done
  "$out/beside" "$port" "$1" "${2:-1}" || status=$?
  kill "$server" && wait "$server" || true
  rm -r "$folder"
  return "$status"
}

mkdir -p found least
case $mode in
  build) realpath "$out" ;;
  replay) targets=("${all[@]}"); each replay ;;
  fuzz) seconds=${1:?how many seconds}; shift; targets=("${@:-${all[@]}}"); each fuzz ;;
  minimise) targets=("${@:-${all[@]}}"); each minimise ;;
  beside) beside "$@" ;;
  *) echo "unknown mode $mode: expected build, replay, fuzz, minimise or beside" >&2; exit 2 ;;
esac
