#!/bin/sh
# Makes the pictures of the README anew, in docs/images: the page of the run beside the first one,
# on a screen and on a telephone, and the page of a sweep. load.svg is no picture of a page, see
# docs/load.md. FENCEPOST names the program (default: the release build).
set -eu
cd "$(dirname "$0")"
program=${FENCEPOST:-../target/release/fencepost}
rm -rf pages
mkdir pages
# Exit status 1 means that violations were found, which is what these pages are about.
"$program" --seed 15 --fault pause --client single-node --format html > pages/run.html || [ $? -eq 1 ]
"$program" sweep --quiet --seeds 0..20 --fault failover,pause,clock-jump,restart --format html > pages/sweep.html || [ $? -eq 1 ]
npm ci --no-audit --no-fund --silent
exec node images.mjs pages ../docs/images
