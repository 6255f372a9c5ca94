#!/usr/bin/env bash
# Writes a comment on a pull request, or updates the comment that it wrote before:  comment.sh FILE
# Needs curl, jq, $GITHUB_TOKEN, $GITHUB_REPOSITORY and $PULL_REQUEST.
set -euo pipefail
file=${1:?file of the comment}
marker="<!-- fencepost ${PROFILE:-} -->"
api=${GITHUB_API_URL:-https://api.github.com}/repos/${GITHUB_REPOSITORY:?}
longest=60000

request() {
  curl --fail --silent --show-error --header "Authorization: Bearer ${GITHUB_TOKEN:?}" \
    --header "Accept: application/vnd.github+json" "$@"
}

own_comment() {
  local page=1 comments
  while :; do
    comments=$(request "$api/issues/${PULL_REQUEST:?}/comments?per_page=100&page=$page")
    jq --raw-output --arg marker "$marker" \
      '.[] | select(.body | startswith($marker)) | .id' <<<"$comments"
    [ "$(jq length <<<"$comments")" -eq 100 ] || return 0
    page=$((page + 1))
  done
}

body=$(jq --null-input --rawfile text "$file" --arg marker "$marker" --argjson longest "$longest" \
  '{body: ($marker + "\n" + $text | .[:$longest])}')
known=$(own_comment | head -n 1)
if [ -n "$known" ]; then
  request --request PATCH --data "$body" "$api/issues/comments/$known" >/dev/null
else
  request --request POST --data "$body" "$api/issues/$PULL_REQUEST/comments" >/dev/null
fi
