#!/usr/bin/env bash
# Puts fencepost on the PATH of later steps: the program $FENCEPOST, or release $FENCEPOST_VERSION
# from $FENCEPOST_RELEASES, checked against its SHA256SUMS. Registers the problem matcher.
set -euo pipefail
bin=${RUNNER_TEMP:?}/fencepost-bin
mkdir -p "$bin"
if [ -n "${FENCEPOST:-}" ]; then
  install -m 755 "$FENCEPOST" "$bin/fencepost"
else
  case $(uname -s)-$(uname -m) in
    Linux-x86_64) target=x86_64-unknown-linux-gnu ;;
    Linux-aarch64) target=aarch64-unknown-linux-gnu ;;
    Darwin-arm64) target=aarch64-apple-darwin ;;
    Darwin-x86_64) target=x86_64-apple-darwin ;;
    *) echo "::error::no release of fencepost for $(uname -s) on $(uname -m)" && exit 2 ;;
  esac
  name=fencepost-$FENCEPOST_VERSION-$target
  cd "$RUNNER_TEMP"
  for file in "$name.tar.gz" SHA256SUMS; do
    curl --fail --silent --show-error --location --retry 3 --output "$file" \
      "$FENCEPOST_RELEASES/v$FENCEPOST_VERSION/$file"
  done
  grep --fixed-strings "  $name.tar.gz" SHA256SUMS >"$name.sum"
  sha256sum --check --quiet "$name.sum" 2>/dev/null || shasum -a 256 --check "$name.sum"
  tar -xzf "$name.tar.gz"
  install -m 755 "$name/fencepost" "$bin/fencepost"
fi
"$bin/fencepost" --version
echo "$bin" >>"$GITHUB_PATH"
echo "::add-matcher::${GITHUB_ACTION_PATH:?}/recipes/github-actions/problem-matcher.json"
