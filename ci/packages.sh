#!/usr/bin/env bash
# Makes the packages for pip and npm, installs them into empty environments, and runs them there.
#   ci/packages.sh [OUT [TARGET]]   OUT is the folder for the packages (target/packages); TARGET is
#                                   rustc's name of the target
# ci/program.sh decides which program is used: FENCEPOST=PATH, or one that it builds. BUILD_ONLY=1
# skips the tests, for a target whose programs do not run on this machine. Needs Python 3.9 or later
# with venv, and Node 18 or later with npm. Also tests the package for Go if the command go exists,
# and the package for JUnit 5 if mvn exists.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "${1:-target/packages}"
out=$(realpath "${1:-target/packages}")
. ci/program.sh "${2:-}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$program" "$scratch/$executable"
program=$scratch/$executable

# Copies a package's folder and adds the licence. Adds the common README if the package has none.
staged() {
  mkdir -p "$scratch/stage"
  cp -r "packages/$1" LICENSE "$scratch/stage"
  mv "$scratch/stage/LICENSE" "$scratch/stage/$1"
  [ -e "$scratch/stage/$1/README.md" ] || cp packages/README.md "$scratch/stage/$1"
  echo "$scratch/stage/$1"
}

# Prints the platform of a wheel for a program on Linux. A static program runs on every Linux.
# Another program needs a GNU C library that is at least as new as the newest symbol that the
# program uses.
linux() {
  local glibc
  glibc=$(grep -aoE 'GLIBC_2\.[0-9]+' "$program" | sort -uV | tail -n 1 || true)
  case $glibc in
    "") echo "manylinux2014_$1.musllinux_1_1_$1" ;;
    *) echo "manylinux_2_${glibc#GLIBC_2.}_$1" ;;
  esac
}
case $target in
  x86_64-unknown-linux-*) node=linux-x64 wheel=$(linux x86_64) ;;
  aarch64-unknown-linux-*) node=linux-arm64 wheel=$(linux aarch64) ;;
  x86_64-apple-darwin) node=darwin-x64 wheel=macosx_10_12_x86_64 ;;
  aarch64-apple-darwin) node=darwin-arm64 wheel=macosx_11_0_arm64 ;;
  x86_64-pc-windows-*) node=win32-x64 wheel=win_amd64 ;;
  *) echo "error: no packages for $target" >&2 && exit 2 ;;
esac

echo "pip: fencepost and pytest-fencepost $version, for $wheel"
FENCEPOST=$program WHEEL_PLATFORM=$wheel python3 -m pip --quiet --disable-pip-version-check \
  wheel --no-deps --wheel-dir "$out" "$(staged fencepost-py)" "$(staged pytest-fencepost)"

echo "npm: fencepost, @fencepost/$node and fencepost-redis-clock $version"
mkdir -p "$scratch/stage/platform"
cp "$program" LICENSE "$scratch/stage/platform"
cat >"$scratch/stage/platform/package.json" <<JSON
{
  "name": "@fencepost/$node",
  "version": "$version",
  "description": "The fencepost program for $node",
  "license": "MIT",
  "os": ["${node%-*}"],
  "cpu": ["${node#*-}"]
}
JSON
npm pack --silent --pack-destination "$out" "$scratch/stage/platform" "$(staged fencepost-npm)" \
  "$(staged redis-clock-node)" >"$scratch/packed"
ls -l "$out"
[ -z "${BUILD_ONLY:-}" ] || exit 0

echo "== pip"
python3 -m venv "$scratch/python"
"$scratch/python/bin/pip" --quiet --disable-pip-version-check \
  install --find-links "$out" "fencepost==$version" pytest-fencepost
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

echo "== npm"
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
echo "== Node: fencepost-redis-clock"
mkdir "$scratch/node-project"
cp packages/redis-clock-node/test/locks.test.js packages/redis-clock-node/vitest/locks.spec.js \
  "$scratch/node-project"
(
  cd "$scratch/node-project"
  # Packages for other machines are optional, and need not exist.
  ln -s "$out" out
  line=$(sed -n 's/^    \(npm install --save-dev .*\)$/\1/p' "$OLDPWD/packages/README.md")
  eval "$line" vitest@3 --silent --no-audit --no-fund
  unset FENCEPOST # the installed program must be found
  node --test
  npx --no-install vitest run locks.spec.js
)
if command -v go >/dev/null; then
  echo "== Go: redisclock"
  (cd packages/redis-clock-go && test -z "$(gofmt -l .)" && go vet ./... && go test -count=1 ./...)
fi
if command -v mvn >/dev/null; then
  echo "== JUnit 5: redis-clock-junit"
  mvn --batch-mode --quiet --file packages/redis-clock-junit/pom.xml \
    -DbuildDirectory="$scratch/junit" verify
fi
