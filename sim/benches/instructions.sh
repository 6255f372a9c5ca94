#!/bin/sh
# Instructions per command and per run, counted by callgrind, so that the figures repeat whatever
# else the machine does.
#
# Usage: sim/benches/instructions.sh [KIND...]; a KIND is what sim/examples/workload takes. Wants
# valgrind. Two runs of different length are subtracted, so that starting and warming up do not
# count. With KEEP=DIR the profiles are kept there, for callgrind_annotate.
set -eu
cd "$(dirname "$0")/../.."
cargo build --quiet --profile counted --example workload
workload=target/counted/examples/workload
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
