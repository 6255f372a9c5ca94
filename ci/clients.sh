# Sourced by ci/lock-libraries.sh and the ci/*-clients.sh, which test unmodified clients. Each of
# them defines a function use_LANGUAGE for each of its languages. When the script ends, it stops the
# servers in SERVERS and deletes $scratch.
scratch=$(mktemp -d)
SERVERS=()
trap 'stop_servers; rm -rf "$scratch"' EXIT
failed=0

# arguments KNOWN ARGUMENT...: sets REAL if --real is among the arguments, and languages to the
# others (without any, to all known languages). KNOWN lists the known arguments.
arguments() {
  local known=$1 one
  shift
  REAL=
  languages=()
  for one in "$@"; do
    case " $known " in
      *" $one "*) ;;
      *) echo "unknown argument: $one; expected one of: $known" >&2; exit 2 ;;
    esac
    if [ "$one" = --real ]; then REAL=1; else languages+=("$one"); fi
  done
  [ ${#languages[@]} -gt 0 ] || read -ra languages <<<"${known#--real }"
}

# Sets FENCEPOST to a program that it builds in the test profile, if FENCEPOST is not set.
build_program() {
  [ -z "${FENCEPOST:-}" ] || return 0
  cargo build --quiet --locked --profile test -p fencepost
  FENCEPOST=target/debug/fencepost
}

# serve OPTION...: starts servers of `fencepost serve`. Sets HOSTS to their addresses, and PORT to
# the port of the first.
serve() {
  build_program
  "$FENCEPOST" serve "$@" --port 0 >"$scratch/ready" &
  SERVERS+=($!)
  until [ -s "$scratch/ready" ]; do kill -0 "${SERVERS[@]}"; sleep 0.05; done
  mapfile -t HOSTS < <(grep -o '[0-9.]*:[0-9]*' "$scratch/ready")
  PORT=${HOSTS[0]##*:}
}

stop_servers() {
  [ ${#SERVERS[@]} -eq 0 ] || { kill "${SERVERS[@]}"; wait "${SERVERS[@]}"; } 2>/dev/null || true
  SERVERS=()
}

# Prints a free port.
free_port() {
  python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])'
}

# in_python NAME PACKAGE... -- SCRIPT ARGUMENT...: runs a script with these packages from PyPI. They
# are kept in .cache/python-NAME.
in_python() {
  local folder=.cache/python-$1 packages=()
  shift
  while [ "$1" != -- ]; do packages+=("$1"); shift; done
  shift
  [ -x "$folder/bin/python" ] || python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}"
  "$folder/bin/python" "$@"
}

# in_node FOLDER ARGUMENT...: runs locks.js in this folder with the packages of its package.json.
in_node() {
  (cd "$1" && npm install --silent --no-audit --no-fund --no-package-lock && node locks.js "${@:2}")
}

# Runs the test of a language, and prints a line.
check() {
  if "use_$1"; then echo "$1: passed"; else echo "$1: failed"; failed=1; fi
}
