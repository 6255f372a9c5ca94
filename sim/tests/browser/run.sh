#!/bin/sh
# Writes HTML pages of all kinds, and opens them in headless Chromium. Does nothing without
# FENCEPOST_BROWSER=1; with it, a missing browser or package is a failure.
# FENCEPOST names the program (default: the debug build). SHOTS names a folder for screenshots.
set -eu
cd "$(dirname "$0")"
if [ "${FENCEPOST_BROWSER:-}" != 1 ]; then
    echo "skipped: browser tests run only with FENCEPOST_BROWSER=1"
    exit 0
fi
program=${FENCEPOST:-../../../target/debug/fencepost}
rm -rf pages
mkdir pages
# The exit status is 1, because these runs have violations.
"$program" --seed 7 --fault failover --client single-node,redlock --format html > pages/run.html || [ $? -eq 1 ]
"$program" --seed 15 --fault pause --client single-node --format html > pages/one.html || [ $? -eq 1 ]
"$program" sweep --quiet --seeds 0..20 --fault failover,pause --format html > pages/sweep.html || [ $? -eq 1 ]
# A hostile input: a slice whose lock is named in markup. Without its checksum, fencepost reads it
# with a warning.
"$program" sweep --quiet --seeds 0..20 --fault pause --client single-node --no-shrink --format json > pages/slice.json || [ $? -eq 1 ]
sed -e '/"checksum": /d' \
    -e 's|"client": "single-node"|"client": "\\"><img src=x onerror=alert(1)></script><script>alert(2)</script><svg onload=alert(3)>"|' \
    pages/slice.json > pages/hostile.json
"$program" merge pages/hostile.json --format html > pages/hostile-sweep.html 2> pages/warning || [ $? -eq 1 ]
"$program" merge pages/hostile.json --format svg > pages/hostile-sweep.svg 2> pages/warning || [ $? -eq 1 ]
"$program" matrix --from pages/hostile.json --format html > pages/hostile-matrix.html 2> pages/warning || [ $? -eq 1 ]
"$program" boundary --client single-node --fault pause --vary pause --between 1s..25s --parts 4 --step 2s --seeds 0..20 -q --format html > pages/boundary.html || [ $? -eq 1 ]
"$program" load --requests 300 --processes 20 --format html > pages/load.html
"$program" docs --from .. --out pages/site > pages/site.txt
npm ci --no-audit --no-fund --silent
exec node run.mjs pages ${SHOTS:+"$SHOTS"}
