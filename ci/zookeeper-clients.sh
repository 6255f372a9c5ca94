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
. ci/clients.sh
arguments "--real python java node" "$@"
MEMBERS=${MEMBERS:-3}

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
  for id in $(seq "$MEMBERS"); do HOSTS+=("127.0.0.1:$((base + id))"); done
}
# Returns whether every member reports its mode. Then there is a leader, and the others follow it.
is_serving() {
  local host
  for host in "${HOSTS[@]}"; do
    (exec 3<>"/dev/tcp/${host/:/\/}" && printf srvr >&3 && grep -q Mode <&3) 2>/dev/null || return 1
  done
}

use_python() { in_python zookeeper kazoo==2.11.0 -- ci/zookeeper-locks.py "$members"; }
use_java() {
  install_java
  local folder=.cache/java-zookeeper
  mkdir -p "$folder"
  javac -cp "$CURATOR" -d "$folder" ci/java-zookeeper/Locks.java
  java -cp "$CURATOR:$folder" Locks "$members"
}
use_node() { in_node ci/node-zookeeper "$members"; }

HOSTS=()
if [ -n "$REAL" ]; then start_real; else serve --coordinator zookeeper --servers "$MEMBERS"; fi
until is_serving; do kill -0 "${SERVERS[@]}"; sleep 0.1; done
members=$(IFS=,; echo "${HOSTS[*]}")
for language in "${languages[@]}"; do check "$language"; done
exit "$failed"
