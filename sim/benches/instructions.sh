#!/bin/sh
# Counts instructions per command and per run with callgrind, so the figures do not depend on what
# else the machine does.
#
# Usage: sim/benches/instructions.sh [KIND...], where KIND is an argument of sim/examples/workload.
# Needs valgrind. The script subtracts two runs of different lengths, so that start and warm-up do
# not count. With KEEP=DIR, the profiles are kept in DIR, for callgrind_annotate.
set -eu
cd "$(dirname "$0")/../.."
cargo build --quiet --profile counted --example workload
workload=${CARGO_TARGET_DIR:-target}/counted/examples/workload
directory=${KEEP:-$(mktemp -d)}
[ "$#" -gt 0 ] || set -- fast failover masters

count() { # KIND RUNS: instructions, commands, events
    said=$("$workload" "$1" "$2")
    instructions=$(valgrind --tool=callgrind --callgrind-out-file="$directory/$1.$2" "$workload" "$1" "$2" 2>&1 |
        sed -n 's/.*Collected : //p')
    echo "$instructions" "$said" | awk '{ print $1, $2, $4 }'
}

echo "| what | instructions/run | /command | /event |"
echo "| --- | ---: | ---: | ---: |"
for kind in "$@"; do
    { count "$kind" 8; count "$kind" 24; } | awk -v kind="$kind" '
        { instructions[NR] = $1; commands[NR] = $2; events[NR] = $3 }
        function per(all) { return all > 0 ? sprintf("%.0f", (instructions[2] - instructions[1]) / all) : "-" }
        END { print "| " kind " | " per(16) " | " per(commands[2] - commands[1]) " | " per(events[2] - events[1]) " |" }'
done
[ -n "${KEEP:-}" ] || rm -r "$directory"
