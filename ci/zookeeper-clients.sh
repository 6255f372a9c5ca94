#!/usr/bin/env bash
# Tests unmodified ZooKeeper clients of Python, Java and Node, with their lock recipes, against an
# ensemble of `fencepost serve`.
#
#   ci/zookeeper-clients.sh [--real] [python|java|node...]
#
# With --real, tests them against an ensemble of ZooKeeper servers instead, for comparison. Without
# languages, tests all three. Needs python3 with venv and node with npm. Installs what Java needs
# (Curator, ZooKeeper, a compiler) with apt-get. Packages from the registries are kept in folders
# that git ignores (.cache/python-zookeeper, .cache/java-zookeeper, ci/node-zookeeper/node_modules).
# MEMBERS is the size of the ensemble, by default 3. FENCEPOST names the program; if it is not set,
# the script builds the program in the test profile. Prints a line for each language. The exit
# status is 1 if a test failed.
set -euo pipefail
cd "$(dirname "$0")/.."

REAL=
[ "${1:-}" != --real ] || { REAL=1; shift; }
[ $# -gt 0 ] || set -- python java node
for language in "$@"; do
  case $language in
    python | java | node) ;;
    *) echo "unknown language: $language; python, java and node are known" >&2; exit 2 ;;
  esac
done
MEMBERS=${MEMBERS:-3}
scratch=$(mktemp -d)
SERVERS=()
trap '[ ${#SERVERS[@]} -eq 0 ] || kill "${SERVERS[@]}"; wait; rm -rf "$scratch"' EXIT

jar() { printf '/usr/share/java/%s.jar' "$1"; }
CURATOR=$(jar curator-recipes):$(jar curator-framework):$(jar curator-client):$(jar guava):$(jar slf4j-api):$(jar slf4j-nop):$(jar zookeeper)
install_java() {
  command -v javac >/dev/null && [ -e "$(jar curator-recipes)" ] && [ -e "$(jar slf4j-nop)" ] && return
  local as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  local packages=(libcurator-recipes-java libzookeeper-java libslf4j-java default-jdk-headless)
  "${as_root[@]}" apt-get install -y -q --no-install-recommends "${packages[@]}" >"$scratch/apt.log" 2>&1 ||
    { "${as_root[@]}" apt-get update -q && "${as_root[@]}" apt-get install -y -q --no-install-recommends "${packages[@]}"; } >"$scratch/apt.log" 2>&1 ||
    { cat "$scratch/apt.log" >&2; return 1; }
}

# Starts an ensemble of real servers. Each server has a port for clients and two for the other
# servers.
start_real() {
  install_java
  local base=$((20000 + RANDOM % 10000)) id
  for id in $(seq "$MEMBERS"); do echo "server.$id=127.0.0.1:$((base + 20 + id)):$((base + 40 + id))"; done >"$scratch/members"
  for id in $(seq "$MEMBERS"); do
    mkdir "$scratch/$id"
    echo "$id" >"$scratch/$id/myid"
    printf '%s\n' tickTime=2000 initLimit=10 syncLimit=5 admin.enableServer=false "dataDir=$scratch/$id" "clientPort=$((base + id))" \
      >"$scratch/$id.cfg"
    [ "$MEMBERS" -eq 1 ] || cat "$scratch/members" >>"$scratch/$id.cfg"
    java -Xmx256m -cp "$(jar zookeeper)" org.apache.zookeeper.server.quorum.QuorumPeerMain "$scratch/$id.cfg" >"$scratch/$id.log" 2>&1 &
    SERVERS+=($!)
  done
  HOSTS=$(for id in $(seq "$MEMBERS"); do echo "127.0.0.1:$((base + id))"; done | paste -sd,)
}
start_fake() {
  if [ -z "${FENCEPOST:-}" ]; then
    cargo build --quiet --locked --profile test -p fencepost
    FENCEPOST=target/debug/fencepost
  fi
  "$FENCEPOST" serve --coordinator zookeeper --servers "$MEMBERS" --port 0 >"$scratch/ready" &
  SERVERS+=($!)
  until [ -s "$scratch/ready" ]; do kill -0 "${SERVERS[0]}"; sleep 0.05; done
  HOSTS=$(grep -o '[0-9.]*:[0-9]*' "$scratch/ready" | paste -sd,)
}
# Returns whether every member reports its mode. Then there is a leader, and the others follow it.
is_serving() {
  local host
  for host in ${HOSTS//,/ }; do
    (exec 3<>"/dev/tcp/${host/:/\/}" && printf srvr >&3 && grep -q Mode <&3) 2>/dev/null || return 1
  done
}

use_python() {
  local folder=.cache/python-zookeeper
  [ -x "$folder/bin/python" ] || python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check kazoo==2.11.0
  "$folder/bin/python" ci/zookeeper-locks.py "$HOSTS"
}
use_java() {
  install_java
  local folder=.cache/java-zookeeper
  mkdir -p "$folder"
  javac -cp "$CURATOR" -d "$folder" ci/java-zookeeper/Locks.java
  java -cp "$CURATOR:$folder" Locks "$HOSTS"
}
use_node() {
  (cd ci/node-zookeeper && npm install --silent --no-audit --no-fund --no-package-lock && node locks.js "$HOSTS")
}

if [ -n "$REAL" ]; then start_real; else start_fake; fi
until is_serving; do kill -0 "${SERVERS[@]}"; sleep 0.1; done
failed=0
for language in "$@"; do
  if "use_$language"; then echo "$language: passed"; else echo "$language: FAILED"; failed=1; fi
done
exit "$failed"
