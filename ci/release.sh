#!/usr/bin/env bash
# Makes a release as a tarball: the stripped program with man pages, completions, the README, the
# licences of all crates in the program, and their list (SBOM, in CycloneDX's format).
#   ci/release.sh [OUT [TARGET]]   OUT is the folder for fencepost-VERSION-TARGET.tar.gz and
#                                  SHA256SUMS (target/release-files); TARGET is rustc's name of
#                                  the target
# ci/program.sh decides which program is used: FENCEPOST=PATH, or one that it builds. Needs jq.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "${1:-target/release-files}"
out=$(cd "${1:-target/release-files}" && pwd)
. ci/program.sh "${2:-}"
name=fencepost-$version-$target
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
files=$scratch/$name
mkdir -p "$files/man" "$files/completions"
cp "$program" "$files/$executable"
cp README.md CHANGELOG.md LICENSE "$files"

# A program for another machine cannot write its man pages here, so this machine's program writes
# them.
"$program" --version >/dev/null 2>&1 || program=$(realpath "$(built "$host")")
"$program" man --out "$files/man" >/dev/null
for shell in bash zsh fish powershell elvish; do
  "$program" completions "$shell" >"$files/completions/fencepost.$shell"
done

# Lists the crates in the program, each with its licence, and the licence's text if the crate has
# it.
cargo metadata --locked --format-version 1 --filter-platform "$target" >"$scratch/metadata.json"
cargo tree --locked --package fencepost --target "$target" --edges normal --prefix none \
  --format '{p}' | awk '{print $1 " " substr($2, 2)}' | sort -u >"$scratch/crates"
jq --rawfile used "$scratch/crates" \
  '($used | split("\n")) as $used
  | [.packages[] | select(.source and ("\(.name) \(.version)" | IN($used[])))]' \
  "$scratch/metadata.json" >"$scratch/used.json"
jq --arg version "$version" '{
  bomFormat: "CycloneDX", specVersion: "1.5", version: 1,
  metadata: {component: {type: "application", name: "fencepost", version: $version}},
  components: [.[] | {type: "library", name, version, purl: "pkg:cargo/\(.name)@\(.version)"}
    + if .license then {licenses: [{expression: (.license | gsub("/"; " OR "))}]} else {} end]
}' "$scratch/used.json" >"$files/sbom.cdx.json"
jq --raw-output '.[] | [.name, .version, .license // "see its file", .manifest_path] | @tsv' \
  "$scratch/used.json" |
  while IFS=$'\t' read -r crate crate_version licence manifest; do
    printf '=== %s %s: %s\n\n' "$crate" "$crate_version" "$licence"
    find "$(dirname "$manifest")" -maxdepth 1 -iname 'licen[cs]e*' -type f -exec cat {} +
    echo
  done >"$files/THIRD-PARTY-LICENSES"

tar -C "$scratch" --owner=0 --group=0 -czf "$out/$name.tar.gz" "$name"
(cd "$out" && { sha256sum ./*.tar.gz 2>/dev/null || shasum -a 256 ./*.tar.gz; } | sed 's|  \./|  |' >SHA256SUMS)
ls -l "$out"
