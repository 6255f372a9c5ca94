#!/usr/bin/env bash
# Tests unmodified lock libraries of Python, Node and Rust from their registries against five
# servers of `fencepost serve`.
#
#   ci/lock-libraries.sh [python|node|rust...]
#
# Without arguments, tests all three languages. Needs python3 with venv, node with npm, and cargo.
# Packages from the registries are kept in folders that git ignores (.cache/python-locks,
# ci/node-locks/node_modules, ci/rust-locks/target). FENCEPOST names the program; if it is not set,
# the script builds the program in the test profile. Prints a line for each language. The exit
# status is 1 if a test failed.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/clients.sh
arguments "python node rust" "$@"
build_program

# Starts five servers at consecutive free ports. Sets PORT to the first port.
start_servers() {
  for _ in $(seq 20); do
    PORT=$((20000 + RANDOM % 10000))
    : >"$scratch/ready"
    "$FENCEPOST" serve --port "$PORT" --nodes 5 >"$scratch/ready" 2>"$scratch/server.log" &
    SERVERS=($!)
    for _ in $(seq 100); do
      [ "$(wc -l <"$scratch/ready")" -ge 1 ] && return
      kill -0 "${SERVERS[@]}" 2>/dev/null || break
      sleep 0.05
    done
    stop_servers
  done
  cat "$scratch/server.log" >&2
  echo "no five free ports in a row were found" >&2
  return 1
}

use_python() {
  in_python locks redis python-redis-lock redlock-py pottery -- ci/python-locks.py "$PORT"
}
use_node() { in_node ci/node-locks "$PORT"; }
use_rust() { cargo run --quiet --manifest-path ci/rust-locks/Cargo.toml -- "$PORT"; }

for language in "${languages[@]}"; do
  start_servers
  check "$language"
  stop_servers
done
exit "$failed"
