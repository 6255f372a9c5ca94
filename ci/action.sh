#!/usr/bin/env bash
# Runs the steps of action.yml as GitHub does, with a release in a folder and an API on this
# machine, and lints the workflows.
#   ci/action.sh FENCEPOST   a fencepost program
# Needs curl, jq, Python 3 and git. With Go, also lints with actionlint.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:?a fencepost program}")
export GITHUB_ACTION_PATH=$PWD
steps=$PWD/recipes/github-actions
scratch=$(mktemp -d)
trap 'kill "$api" 2>/dev/null || true; rm -rf "$scratch"' EXIT
api=

expect() {
  echo "$*"
  "$@" >/dev/null || { echo "failed: $*" >&2; exit 1; }
}

if command -v go >/dev/null; then
  GOBIN=$scratch/bin go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 2>/dev/null
  "$scratch/bin/actionlint" .github/workflows/*.yml
  # Lints the recipe in a repository that also has the action, so that the recipe's inputs are
  # checked.
  mkdir -p "$scratch/recipe/.github/workflows"
  git -C "$scratch/recipe" init --quiet
  cp action.yml "$scratch/recipe"
  sed 's|OWNER/fencepost@v0.1.0|./|' recipes/github-actions/sweep.yml \
    >"$scratch/recipe/.github/workflows/sweep.yml"
  (cd "$scratch/recipe" && "$scratch/bin/actionlint")
fi

# Before version 4.4, bash treats an empty array as unset, so `set -u` stops at a bare "${x[@]}".
# Only `options` is never empty.
if sed -E 's/\$\{([a-z_]+)\[@\]\+"\$\{\1\[@\]\}"\}//g; s/"\$\{options\[@\]\}"//g' "$steps"/*.sh |
  grep -F '[@]}'; then
  echo 'write ${x[@]+"${x[@]}"} for an array that may be empty' >&2
  exit 1
fi

# Makes a release with the same files as the release workflow.
target=$(uname -m)-unknown-linux-gnu
name=fencepost-0.1.0-$target
mkdir -p "$scratch/releases/v0.1.0/$name"
cp "$program" "$scratch/releases/v0.1.0/$name/fencepost"
(
  cd "$scratch/releases/v0.1.0"
  tar -czf "$name.tar.gz" "$name"
  sha256sum "$name.tar.gz" >SHA256SUMS
)

mkdir -p "$scratch/temp" "$scratch/project/locks"
export RUNNER_TEMP=$scratch/temp GITHUB_PATH=$scratch/path GITHUB_STEP_SUMMARY=$scratch/summary.md
export GITHUB_OUTPUT=$scratch/output GITHUB_REPOSITORY=octo/orders PULL_REQUEST=7
FENCEPOST_VERSION=0.1.0 FENCEPOST_RELEASES=file://$scratch/releases bash "$steps/install.sh"
PATH=$(cat "$GITHUB_PATH"):$PATH
expect test "$(command -v fencepost)" = "$RUNNER_TEMP/fencepost-bin/fencepost"
echo "broken" >>"$scratch/releases/v0.1.0/$name.tar.gz"
if FENCEPOST_VERSION=0.1.0 FENCEPOST_RELEASES=file://$scratch/releases \
  bash "$steps/install.sh" >/dev/null 2>&1; then
  echo "a damaged release is installed" >&2
  exit 1
fi

cd "$scratch/project"
fencepost new lock orders --on redis >/dev/null
mv orders.lua locks/
cat >fencepost.toml <<'TOML'
lock = "locks/orders.lua"
fault = ["none", "pause"]
cycles = 5
no-shrink = true

[profile.pull-request]
seeds = "0..12"
TOML
export PROFILE=pull-request SLICES=2
for slice in 1 2; do
  SLICE=$slice bash "$steps/sweep.sh" results
done
expect test "$(ls results/slice-*.json | wc -l)" -eq 2
bash "$steps/report.sh" results
expect grep -qx 'status=1' "$GITHUB_OUTPUT"
expect jq --exit-status '.runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri == "locks/orders.lua"' results/findings.sarif
expect grep -q '<!DOCTYPE html>' results/page.html
expect grep -q '| \*\*new\*\* | ' results/comment.md
expect cmp results/comment.md "$GITHUB_STEP_SUMMARY"
expect jq --exit-status '.seeds.to == "12" and .complete' results/sweep.json

python3 "$GITHUB_ACTION_PATH/ci/github-api.py" "$scratch/comments.json" >"$scratch/port" &
api=$!
for _ in $(seq 100); do
  [ -s "$scratch/port" ] && break
  sleep 0.1
done
export GITHUB_API_URL=http://127.0.0.1:$(cat "$scratch/port") GITHUB_TOKEN=secret
bash "$steps/comment.sh" results/comment.md
expect jq --exit-status 'length == 121 and (.[-1].body | contains("**new**"))' "$scratch/comments.json"
GITHUB_TOKEN=reader bash "$steps/comment.sh" results/comment.md >"$scratch/warned"
expect grep -q '^::warning::the token may not comment' "$scratch/warned"
for refused in "late:issue is locked" "stranger:Bad credentials"; do
  if GITHUB_TOKEN=${refused%%:*} bash "$steps/comment.sh" results/comment.md 2>"$scratch/refused"
  then
    echo "a refused comment is no error" >&2
    exit 1
  fi
  expect grep -q "GitHub refused .*${refused#*:}" "$scratch/refused"
done

# A profile without the lock skips its findings, and an incomplete sweep is reported.
cat >>fencepost.toml <<'TOML'
[profile.night]
lock = []
client = "single-node"
seeds = "0..100000"
time-budget = "1s"
partial = true
TOML
(
  export PROFILE=night
  SLICE=1 SLICES=1 bash "$steps/sweep.sh" night
  bash "$steps/report.sh" night
)
expect grep -q 'Incomplete' night/comment.md
expect jq --exit-status '.runs[0].results | length > 0' night/findings.sarif
expect jq --exit-status '.runs[0].results[0].partialFingerprints.primaryLocationLineHash' night/findings.sarif
fencepost findings list --no-config --format json |
  jq --raw-output '.. | objects | select(.client? == "single-node") | .id' |
  xargs fencepost findings accept --no-config --findings findings.jsonl >/dev/null 2>&1
PROFILE=night bash "$steps/report.sh" night
expect jq --exit-status '.runs[0].results | length == 0' night/findings.sarif
sed -i '/profile.night/,$d' fencepost.toml

# Fixes the lock, so that its known seeds show no violation. The script must then update its comment
# instead of writing a second one.
sed -i 's/, "PX", ttl//' locks/orders.lua
sed -i 's/\["none", "pause"\]/"none"/' fencepost.toml
rm -r results
for slice in 1 2; do
  SLICE=$slice bash "$steps/sweep.sh" results
done
: >"$GITHUB_OUTPUT"
bash "$steps/report.sh" results
expect grep -qx 'status=0' "$GITHUB_OUTPUT"
expect grep -q '| fixed | ' results/comment.md
bash "$steps/comment.sh" results/comment.md
expect jq --exit-status 'length == 121 and (.[-1].body | contains("| fixed |"))' "$scratch/comments.json"

# Makes an error whose line GitHub turns into an annotation.
echo 'function acquire(' >locks/orders.lua
status=0
SLICE=1 bash "$steps/sweep.sh" broken 2>errors || status=$?
expect test "$status" -eq 2
pattern=$(jq --raw-output '.problemMatcher[0].pattern[0].regexp' "$steps/problem-matcher.json")
expect python3 -c 'import re, sys; sys.exit(not re.match(sys.argv[1], open("errors").read()))' "$pattern"
echo "the action works"
