#!/usr/bin/env bash
# Checks that the workspace builds with the oldest Rust that Cargo.toml states: every dependency must
# allow it, and that Rust must compile the workspace if it can be installed. In every commit, clippy's
# lint incompatible_msrv also rejects our own uses of newer functions of the standard library.
# Needs jq.
set -euo pipefail
cd "$(dirname "$0")/.."
oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
newer=$(cargo metadata --locked --format-version 1 | jq --raw-output --arg oldest "$oldest" '
  def numbers: split(".") | map(tonumber) | .[:2];
  .workspace_members as $own | .packages[]
  | if .rust_version then select((.rust_version | numbers) > ($oldest | numbers))
    else select(.id | IN($own[])) end
  | "\(.name) \(.version): rust-version \(.rust_version // "is missing")"')
[ -z "$newer" ] || { printf 'not for Rust %s:\n%s\n' "$oldest" "$newer" >&2; exit 1; }
if rustup toolchain list | grep "^$oldest-" >/dev/null ||
  rustup toolchain install "$oldest" --profile minimal --no-self-update; then
  cargo "+$oldest" check --workspace --locked
else
  echo "every dependency allows Rust $oldest, which cannot be installed here"
fi
