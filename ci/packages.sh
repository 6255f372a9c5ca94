#!/usr/bin/env bash
# Builds the packages for pip and npm, installs them into empty environments, and runs them there.
#   ci/packages.sh [OUT [PROFILE]]   OUT gets the packages (target/packages); PROFILE is Cargo's
#                                    (release)
# Needs Python 3.9 or later with venv, Node 18 or later with npm, and Linux. Tests the package for
# Go if there is a go command, and the one for JUnit 5 if there is mvn.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "${1:-target/packages}"
out=$(realpath "${1:-target/packages}")
profile=${2:-release}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)

echo "pip: fencepost and pytest-fencepost $version"
python3 -m venv "$scratch/python"
pip=("$scratch/python/bin/pip" --quiet --disable-pip-version-check)
MATURIN_PEP517_ARGS="--locked --profile $profile" \
  "${pip[@]}" wheel --no-deps --wheel-dir "$out" packages/fencepost-py packages/pytest-fencepost
"${pip[@]}" install --find-links "$out" "fencepost==$version" pytest-fencepost
mkdir "$scratch/empty"
(
  cd "$scratch/empty"
  PATH=$scratch/python/bin:$PATH
  [ "$(fencepost --version)" = "fencepost $version" ]
  status=0
  fencepost --seed 7 --fault failover --client single-node --no-shrink >report.txt || status=$?
  [ "$status" -eq 1 ]
  grep -q 'split-brain' report.txt
  cp -r "$OLDPWD/packages/pytest-fencepost/tests" .
  FENCEPOST=fencepost pytest --quiet tests
)

platform=$(node -p '`${process.platform}-${process.arch}`')
echo "npm: fencepost and @fencepost/$platform $version"
binary=$scratch/platform
mkdir "$binary"
cp "$scratch/python/bin/fencepost" LICENSE "$binary"
cat >"$binary/package.json" <<JSON
{
  "name": "@fencepost/$platform",
  "version": "$version",
  "description": "The fencepost program for $platform",
  "license": "MIT",
  "os": ["${platform%-*}"],
  "cpu": ["${platform#*-}"]
}
JSON
npm pack --silent --pack-destination "$out" "$binary" ./packages/fencepost-npm \
  ./packages/redis-clock-node >"$scratch/packed"
mapfile -t packed < <(sed "s|^|$out/|" "$scratch/packed")
npm install --silent --global --omit=optional --prefix "$scratch/node" "${packed[@]:0:2}"
(
  cd "$scratch/empty"
  PATH=$scratch/node/bin:$PATH
  [ "$(fencepost --version)" = "fencepost $version" ]
  status=0
  fencepost --falt x 2>error.txt || status=$?
  [ "$status" -eq 2 ]
  grep -q "'--fault'" error.txt
)

export FENCEPOST=$scratch/python/bin/fencepost
echo "node: fencepost-redis-clock $version"
mkdir "$scratch/node-project"
cp packages/redis-clock-node/test/locks.test.js "$scratch/node-project"
(
  cd "$scratch/node-project"
  npm install --silent --no-audit --no-fund --omit=peer "${packed[2]}" redis@5
  node --test
)
if command -v go >/dev/null; then
  echo "go: redisclock"
  (cd packages/redis-clock-go && test -z "$(gofmt -l .)" && go vet ./... && go test -count=1 ./...)
fi
if command -v mvn >/dev/null; then
  echo "JUnit 5: redis-clock-junit"
  mvn --batch-mode --quiet --file packages/redis-clock-junit/pom.xml \
    -DbuildDirectory="$scratch/junit" verify
fi
ls -l "$out"
