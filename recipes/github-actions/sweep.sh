#!/usr/bin/env bash
# Runs shard $SLICE of $SLICES, and writes its summary and its reports to a folder:  sweep.sh FOLDER
# Violations do not fail this step; the report step judges the merged result.
set -uo pipefail
out=${1:?folder of the results}
mkdir -p "$out"
options=(--shard "${SLICE:-1}/${SLICES:-1}" --format json --out "$out/reports-${SLICE:-1}")
[ -z "${PROFILE:-}" ] || options+=(--profile "$PROFILE")
read -ra more <<<"${ARGUMENTS:-}"
fencepost sweep "${options[@]}" ${more[@]+"${more[@]}"} >"$out/slice-${SLICE:-1}.json"
status=$?
case $status in
  0 | 1 | 3) ;;
  *) exit "$status" ;;
esac
