#!/usr/bin/env bash
# Uses fencepost in the way of four kinds of newcomers, each from an empty folder and with at most
# five commands, and measures the time: a lock in Lua, a Python team, a Node team, and the owner of
# a project's CI.
#   ci/walks.sh PACKAGES   the folder with the packages that ci/packages.sh made
# Needs Python 3.9 with venv, Node 18 with npm, curl and jq.
set -euo pipefail
packages=$(realpath "${1:?the folder with the packages}")
repository=$(realpath "$(dirname "$0")/..")
scratch=$(mktemp -d)
api=
trap 'kill "$api" 2>/dev/null || true; rm -rf "$scratch"' EXIT
export PIP_FIND_LINKS=$packages PIP_DISABLE_PIP_VERSION_CHECK=1
PATH_BEFORE=$PATH

# Begins a walk in an empty folder.
walk() {
  printf '\n== %s\n' "$1"
  mkdir "$scratch/$2"
  cd "$scratch/$2"
  PATH=$PATH_BEFORE commands=0 began=$(date +%s)
}

# Runs the next command of a walk, which must end with this status:  run STATUS COMMAND...
run() {
  local expected=$1 status=0
  shift
  commands=$((commands + 1))
  echo "\$ $*"
  "$@" >output 2>&1 || status=$?
  if [ "$status" -ne "$expected" ]; then
    cat output
    echo "status $status, expected $expected" >&2
    exit 1
  fi
}

# Ends a walk. Fails if the last command did not print the text.
arrived() {
  grep -q -- "$1" output || { cat output; echo "nothing says '$1'" >&2; exit 1; }
  echo "arrived after $commands commands and $(($(date +%s) - began)) s"
  [ "$commands" -le 5 ]
}

# Prints the first code block of a language in a README.
example() {
  awk -v fence="\`\`\`$1" '$0 == fence {on = 1; next} /^```/ && on {exit} on' "$2"
}

walk "A lock in Lua: from pip install to its first verdict" lua
run 0 python3 -m venv .
PATH=$PWD/bin:$PATH
run 0 pip install --quiet fencepost
run 0 fencepost new lock orders --on redis
run 1 fencepost --lock orders.lua --seed 15 --fault pause
arrived 'orders.lua  VIOLATED'

walk "A Python team: a lock in pytest" python
example python "$repository/packages/pytest-fencepost/README.md" >test_orders.py
# pytest does not look for tests in a folder below with a virtual environment.
run 0 python3 -m venv venv
PATH=$PWD/venv/bin:$PATH
run 0 pip install --quiet pytest-fencepost
run 0 pytest --quiet --fencepost-seeds 3
arrived '1 passed'

walk "A Node team: a Redis whose clock the test owns" node
example js "$repository/packages/redis-clock-node/README.md" >orders.test.mjs
platform=$(node -p '`${process.platform}-${process.arch}`')
run 0 npm init --yes
run 0 npm install --silent --no-audit --no-fund --omit=optional redis@5 \
  "$packages"/fencepost-"$platform"-*.tgz "$packages"/fencepost-[0-9]*.tgz \
  "$packages"/fencepost-redis-clock-*.tgz
run 0 npx --no-install -c 'node --test'
arrived 'pass 1'

walk "The owner of CI: slices, their sum, and a comment on a pull request" ci
PATH=$scratch/lua/bin:$PATH
export GITHUB_REPOSITORY=octo/orders GITHUB_TOKEN=secret PULL_REQUEST=1 SLICES=2
python3 "$repository/ci/github-api.py" comments.json >port &
api=$!
cp "$scratch/lua/orders.lua" .
cat >fencepost.toml <<'TOML'
lock = "orders.lua"
fault = ["none", "pause"]
seeds = "0..20"
no-shrink = true
TOML
steps=$repository/recipes/github-actions
run 0 env SLICE=1 bash "$steps/sweep.sh" results
run 0 env SLICE=2 bash "$steps/sweep.sh" results
run 0 bash "$steps/report.sh" results
GITHUB_API_URL=http://127.0.0.1:$(cat port)
export GITHUB_API_URL
run 0 bash "$steps/comment.sh" results/comment.md
run 0 jq --raw-output '.[-1].body' comments.json
arrived '| \*\*new\*\* | '
