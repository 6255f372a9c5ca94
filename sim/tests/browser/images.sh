#!/bin/sh
# Regenerates the screenshots in docs/images: the page of a run on a wide and on a narrow screen, and
# the page of a sweep. `fencepost load` writes load.svg: see docs/load.md. FENCEPOST names the program
# (default: the release build).
set -eu
cd "$(dirname "$0")"
program=${FENCEPOST:-../../../target/release/fencepost}
rm -rf pages
mkdir pages
# The exit status is 1, because these runs have violations.
"$program" --seed 15 --fault pause --client single-node --format html > pages/run.html || [ $? -eq 1 ]
"$program" sweep --quiet --seeds 0..20 --fault failover,pause,clock-jump,restart --format html > pages/sweep.html || [ $? -eq 1 ]
npm ci --no-audit --no-fund --silent
exec node images.mjs pages ../../../docs/images
