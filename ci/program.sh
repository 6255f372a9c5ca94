# Sourced by ci/release.sh and ci/packages.sh. Sets these variables:
#   version   the version of the crates
#   host      rustc's name for this machine. Needs no rustc if $FENCEPOST is set
#   target    $1, or else a static Linux if its target is installed, or else this machine
#   program   the program for the target: $FENCEPOST if it is set, or else one that is built with
#             Cargo's $PROFILE (release)
#   executable   the name under which users run the program
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)

# Prints rustc's name for this machine, without rustc.
machine() {
  case "$(uname -sm)" in
    "Linux x86_64") echo x86_64-unknown-linux-gnu ;;
    "Linux aarch64") echo aarch64-unknown-linux-gnu ;;
    "Darwin x86_64") echo x86_64-apple-darwin ;;
    "Darwin arm64") echo aarch64-apple-darwin ;;
    MINGW*x86_64 | MSYS*x86_64) echo x86_64-pc-windows-msvc ;;
    *) echo "error: FENCEPOST: no packages for $(uname -sm)" >&2 && return 2 ;;
  esac
}
if [ -n "${FENCEPOST:-}" ]; then
  host=$(machine)
  target=${1:-$host}
else
  host=$(rustc -vV | sed -n 's/^host: //p')
  static=${host/%-gnu/-musl}
  if [ -n "${1:-}" ]; then
    target=$1
  elif [ -d "$(rustc --print target-libdir --target "$static")" ]; then
    target=$static
  else
    target=$host
  fi
fi

# Builds the program for a target of rustc, and prints its path.
built() {
  local profile=${PROFILE:-release} suffix=
  case $1 in *-windows-*) suffix=.exe ;; esac
  cargo build --locked --profile "$profile" --package fencepost --bin fencepost --target "$1" >&2
  case $profile in test | dev) profile=debug ;; esac
  echo "${CARGO_TARGET_DIR:-target}/$1/$profile/fencepost$suffix"
}
program=${FENCEPOST:-$(built "$target")}
program=$(realpath "$program")
case $target in *-windows-*) executable=fencepost.exe ;; *) executable=fencepost ;; esac
