#!/usr/bin/env bash
# Writes a comment on a pull request, or updates the comment that it wrote before:  comment.sh FILE
# Needs curl, jq, $GITHUB_TOKEN, $GITHUB_REPOSITORY and $PULL_REQUEST. If the token may not write,
# as in a pull request from a fork, prints a warning and succeeds.
set -euo pipefail
file=${1:?file of the comment}
marker="<!-- fencepost ${PROFILE:-} -->"
api=${GITHUB_API_URL:-https://api.github.com}/repos/${GITHUB_REPOSITORY:?}
longest=60000

options=(
  --silent --show-error
  --header "Authorization: Bearer ${GITHUB_TOKEN:?}"
  --header "Accept: application/vnd.github+json"
)

# Prints the answer of GitHub. If GitHub refuses the request, prints the reason to stderr and fails.
request() {
  local answer status
  answer=$(curl "${options[@]}" --write-out '\n%{http_code}' "$@") || return 1
  status=${answer##*$'\n'}
  answer=${answer%$'\n'*}
  if [[ $status == 2?? ]]; then
    printf '%s\n' "$answer"
    return 0
  fi
  echo "GitHub refused the request with status $status: $(reason "$answer")" >&2
  return 1
}

reason() {
  jq --exit-status --raw-output '.message // empty' <<<"$1" 2>/dev/null || printf '%.300s\n' "$1"
}

own_comment() {
  local page=1 comments
  while :; do
    comments=$(request "$api/issues/${PULL_REQUEST:?}/comments?per_page=100&page=$page") || return 1
    jq --raw-output --arg marker "$marker" \
      '.[] | select(.body | startswith($marker)) | .id' <<<"$comments"
    [ "$(jq length <<<"$comments")" -eq 100 ] || return 0
    page=$((page + 1))
  done
}

write() {
  local refused
  refused=$(request "$@" 2>&1 >/dev/null) && return 0
  if [[ $refused == *"status 403"*"Resource not accessible"* ]]; then
    echo "::warning::the token may not comment on the pull request"
    return 0
  fi
  echo "the comment was not written: $refused" >&2
  return 1
}

body=$(jq --null-input --rawfile text "$file" --arg marker "$marker" --argjson longest "$longest" \
  '{body: ($marker + "\n" + $text | .[:$longest])}')
known=$(own_comment | head -n 1)
if [ -n "$known" ]; then
  write --request PATCH --data "$body" "$api/issues/comments/$known"
else
  write --request POST --data "$body" "$api/issues/$PULL_REQUEST/comments"
fi
