#!/usr/bin/env bash
# Merges the shards in a folder, and writes sweep.json, page.html, findings.sarif and comment.md
# there; comment.md is also the job's summary:  report.sh FOLDER
# Updates the findings store $FINDINGS. The output `status` is the exit status of the merged sweep.
# Needs jq.
set -euo pipefail
out=${1:?folder of the results}
findings=${FINDINGS:-findings.jsonl}
profile=()
[ -z "${PROFILE:-}" ] || profile=(--profile "$PROFILE")

# Statuses 1 and 3 are results; 2 is an error.
result() {
  local status=0
  "$@" || status=$?
  [ "$status" -ne 2 ] || exit 2
  return "$status"
}

if [ -e "$findings" ]; then
  result fencepost findings retest ${profile[@]+"${profile[@]}"} --findings "$findings" >/dev/null || true
fi
status=0
result fencepost merge ${profile[@]+"${profile[@]}"} --findings "$findings" --format json \
  "$out"/slice-*.json >"$out/sweep.json" || status=$?
# The first merge refused an incomplete sweep unless the profile allows it, so this one accepts it.
show() {
  result fencepost merge --no-config --partial "$out/sweep.json" --format "$1" || true
}
show html >"$out/page.html"
# GitHub ignores suppressions, so accepted findings would be open alerts.
show sarif | jq 'del(.runs[].results[] | select(.suppressions | length > 0))' >"$out/findings.sarif"
{
  show markdown | sed '1s/^# /### fencepost: /'
  echo
  fencepost findings list --no-config --findings "$findings" --format markdown
} >"$out/comment.md"
cat "$out/comment.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
echo "status=$status" >>"${GITHUB_OUTPUT:-/dev/null}"
