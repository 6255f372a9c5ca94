#!/usr/bin/env bash
# Builds a release: the stripped program with man pages, completions, the README and the licences of
# all crates in it, as a tarball.
#   ci/release.sh [OUT [TARGET]]   OUT gets fencepost-VERSION-TARGET.tar.gz (target/release-files);
#                                  TARGET is rustc's (this machine's)
# Needs an installed target, and jq.
set -euo pipefail
cd "$(dirname "$0")/.."
host=$(rustc -vV | sed -n 's/^host: //p')
mkdir -p "${1:-target/release-files}"
out=$(cd "${1:-target/release-files}" && pwd)
target=${2:-$host}
profile=${PROFILE:-release}
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
name=fencepost-$version-$target
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
files=$scratch/$name
mkdir -p "$files/man" "$files/completions"

cargo build --locked --profile "$profile" --package fencepost --target "$target"
case $profile in test | dev) folder=debug ;; *) folder=$profile ;; esac
cp "${CARGO_TARGET_DIR:-target}/$target/$folder/fencepost" "$files"
# A program for another machine cannot write its pages here; that of this one can.
program=$files/fencepost
if [ "$target" != "$host" ] && ! "$program" --version >/dev/null 2>&1; then
  cargo build --locked --profile "$profile" --package fencepost
  program=${CARGO_TARGET_DIR:-target}/$folder/fencepost
fi
"$program" man --out "$files/man"
for shell in bash zsh fish powershell elvish; do
  "$program" completions "$shell" >"$files/completions/fencepost.$shell"
done
cp README.md CHANGELOG.md LICENSE "$files"

# The licence of each crate in the program, with its text where the crate has one.
cargo metadata --locked --format-version 1 --filter-platform "$target" >"$scratch/metadata.json"
cargo tree --locked --package fencepost --target "$target" --edges normal --prefix none \
  --format '{p}' | awk '{print $1 " " substr($2, 2)}' | sort -u >"$scratch/crates"
jq --raw-output '.packages[] | select(.source) | [.name, .version, .license // "see its file", .manifest_path] | @tsv' \
  "$scratch/metadata.json" |
  while IFS=$'\t' read -r crate crate_version licence manifest; do
    grep -qxF "$crate $crate_version" "$scratch/crates" || continue
    printf '=== %s %s: %s\n\n' "$crate" "$crate_version" "$licence"
    find "$(dirname "$manifest")" -maxdepth 1 -iname 'licen[cs]e*' -type f -exec cat {} +
    echo
  done >"$files/THIRD-PARTY-LICENSES"

tar -C "$scratch" --owner=0 --group=0 -czf "$out/$name.tar.gz" "$name"
(cd "$out" && { sha256sum ./*.tar.gz 2>/dev/null || shasum -a 256 ./*.tar.gz; } | sed 's|  \./|  |' >SHA256SUMS)
ls -l "$out"
