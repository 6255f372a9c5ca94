#!/usr/bin/env bash
# Checks that the workspace builds with the oldest Rust that Cargo.toml states: every dependency must
# allow it, and, if that Rust is installed, it must compile the workspace. In every commit, clippy's
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
if rustup toolchain list | grep -q "^$oldest"; then
  cargo "+$(rustup toolchain list | grep -o "^$oldest[^ ]*" | head -n 1)" check --workspace --locked
else
  echo "every dependency allows Rust $oldest, which is not installed here"
fi
